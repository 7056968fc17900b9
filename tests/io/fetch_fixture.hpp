#pragma once

#include "app/io/git/fetch_client.hpp"
#include "app/io/git/tenant_path.hpp"
#include "libsync/ports.hpp"
#include "tests/support/git_repo.hpp"
#include "tests/support/temp_dir.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace purgatory::test {

/// An empty tenant and a client that may ask loopback servers. Time limits
/// are short: nothing in these tests is slow but on purpose.
struct fetch_fixture {
  temp_dir files;
  std::filesystem::path git_root = files / "git";
  tenant target{pubkey{std::string(64, 'a')}, identifier{"demo"}};
  git_repo repository = git_repo::init(*io::tenant_path(git_root, target));
  io::fetch_settings settings;
  std::atomic<bool> cancel{false};
  int sends = 0;  ///< Calls of first_send by the last fetch.
  int moving = 0; ///< And of first_pack_byte.
  std::unique_ptr<git_transport> client;

  fetch_fixture() {
    using namespace std::chrono_literals;
    settings.allow_private = true;
    settings.timeouts.connect = 2s;
    settings.timeouts.first_byte = 10s;
    settings.job_timeout = 60s;
  }

  void allow_port(std::uint16_t port) { settings.allowed_ports.insert(port); }

  fetch_outcome fetch(const std::string& url,
                      const std::vector<std::string>& wants) {
    if (!client)
      client = io::make_fetch_client(settings, git_root);
    fetch_order order{remote_url{url}, {}, target};
    for (const auto& want : wants)
      order.wants.emplace_back(want);
    sends = 0;
    moving = 0;
    return client->fetch(order, cancel,
                         {[this] { ++sends; }, [this] { ++moving; }});
  }

  /// Moves a quarantined pack into the repository, as its actor would.
  void promote(const fetch_outcome& outcome) const {
    namespace fs = std::filesystem;
    const auto pack = repository.path() / "objects/pack";
    for (const auto& entry :
         fs::directory_iterator(fs::path{outcome.pack->directory()} / "pack"))
      fs::rename(entry.path(), pack / entry.path().filename());
  }

  /// Quarantines in the repository.
  std::size_t quarantines() const {
    std::size_t count = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(repository.path() / "objects"))
      count
        += entry.path().filename().string().starts_with("tmp_fetch-") ? 1 : 0;
    return count;
  }
};

inline std::vector<std::string> texts(const std::vector<oid>& ids) {
  std::vector<std::string> result;
  for (const auto& id : ids)
    result.push_back(id.value);
  std::sort(result.begin(), result.end());
  return result;
}

inline std::vector<std::string> sorted(std::vector<std::string> ids) {
  std::sort(ids.begin(), ids.end());
  return ids;
}

/// For readable failures.
inline std::string describe(const fetch_outcome& outcome) {
  return std::string{to_string(outcome.outcome)} + " (" + outcome.detail + ")";
}

} // namespace purgatory::test
