// CPU time of our fetch client against `git fetch`, from the same server in
// the same run. Both trees are counted whole: this process and the children it
// has waited for. The server is a child, too, but ends after the measurement.
#include "app/io/git/fetch_client.hpp"
#include "app/io/git/tenant_path.hpp"
#include "tests/support/git_server.hpp"

#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

using namespace purgatory;

namespace {

double seconds(const rusage& use) {
  const auto one = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return one(use.ru_utime) + one(use.ru_stime);
}

double cpu(int who) {
  rusage use{};
  ::getrusage(who, &use);
  return seconds(use);
}

struct figures {
  double ours = 0;
  double git = 0;
};

class contest {
public:
  contest(int commits)
    : remote_(
      test::git_repo::with_commits(server_.root() / "demo.git", commits)) {
    remote_.git({"repack", "-a", "-d", "-q"});
    settings_.allow_private = true;
    settings_.allowed_ports.insert(server_.port());
    client_ = io::make_fetch_client(settings_, files_.path());
  }

  /// One fetch into a fresh target by each, in turn.
  void round(figures& sum) {
    const auto mine = fresh_target();
    const auto before = cpu(RUSAGE_SELF) + cpu(RUSAGE_CHILDREN);
    fetch(mine);
    sum.ours += cpu(RUSAGE_SELF) + cpu(RUSAGE_CHILDREN) - before;

    const auto theirs
      = test::git_repo::init(*io::tenant_path(files_.path(), fresh_target()));
    const auto children = cpu(RUSAGE_CHILDREN);
    theirs.git({"fetch", "--quiet", server_.url("demo.git"),
                "+refs/heads/*:refs/heads/*"});
    sum.git += cpu(RUSAGE_CHILDREN) - children;
  }

private:
  tenant fresh_target() {
    tenant target{pubkey{std::string(64, 'a')},
                  identifier{std::to_string(++targets_)}};
    test::git_repo::init(*io::tenant_path(files_.path(), target));
    return target;
  }

  void fetch(const tenant& target) {
    const fetch_order order{
      remote_url{server_.url("demo.git")}, {tip_}, target};
    const auto result = client_->fetch(order, cancel_, {});
    if (result.outcome != fetch_class::ok || result.got.size() != 1)
      throw std::runtime_error("fetch failed: " + result.detail);
  }

  test::temp_dir files_;
  test::git_server server_;
  test::git_repo remote_;
  oid tip_{remote_.id("main")};
  io::fetch_settings settings_;
  std::unique_ptr<git_transport> client_;
  std::atomic<bool> cancel_{false};
  int targets_ = 0;
};

bool compare(int commits, int fetches, double ceiling) {
  contest both{commits};
  figures warm_up;
  both.round(warm_up);
  figures sum;
  for (int n = 0; n < fetches; ++n)
    both.round(sum);
  const auto ratio = sum.ours / sum.git;
  std::printf("fetch %5d commits, %2d times: ours %6.1f ms, git fetch %6.1f ms "
              "CPU each, ratio %.2f (at most %.1f)%s\n",
              commits, fetches, sum.ours * 1000 / fetches,
              sum.git * 1000 / fetches, ratio, ceiling,
              ratio <= ceiling ? "" : "  MISSED");
  return ratio <= ceiling;
}

} // namespace

int main() {
  const bool small = compare(20, 20, 0.5);
  const bool medium = compare(5000, 5, 1.0);
  return small && medium ? EXIT_SUCCESS : EXIT_FAILURE;
}
