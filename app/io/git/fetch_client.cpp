#include "app/io/git/fetch_client.hpp"

#include "app/io/git/curl_session.hpp"
#include "app/io/git/fetch_job.hpp"
#include "app/io/git/tenant_path.hpp"

#include <chrono>

namespace purgatory::io {

namespace {

class fetch_client final : public git_transport {
public:
  fetch_client(const fetch_settings& settings, std::filesystem::path git_root)
    : settings_(settings), git_root_(std::filesystem::absolute(git_root)),
      http_(settings_), v0_only_(settings.v0_only_memory) {}

  fetch_outcome fetch(const fetch_order& order, const std::atomic<bool>& cancel,
                      const fetch_watch& watch) override {
    if (!tenant_exists(git_root_, order.target)) {
      fetch_outcome refused;
      refused.detail = "no repository for " + to_string(order.target);
      return refused;
    }
    const job_guard guard{cancel, std::chrono::steady_clock::now()
                                    + settings_.job_timeout};
    fetch_job job{
      settings_, http_, v0_only_, *tenant_path(git_root_, order.target),
      order,     guard, watch};
    return job.run();
  }

private:
  fetch_settings settings_;
  std::filesystem::path git_root_;
  curl_session http_;
  v0_hosts v0_only_;
};

} // namespace

std::unique_ptr<git_transport>
make_fetch_client(const fetch_settings& settings,
                  std::filesystem::path git_root) {
  return std::make_unique<fetch_client>(settings, std::move(git_root));
}

} // namespace purgatory::io
