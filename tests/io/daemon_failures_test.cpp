// Servers that fail: the next URL is used, and when all are down the rounds
// follow the back-off until one is up.
#include "tests/support/daemon_process.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/git_server.hpp"
#include "tests/support/loopback.hpp"
#include "tests/support/repo_events.hpp"
#include "tests/support/scripted_git.hpp"

#include <atomic>
#include <memory>
#include <mutex>

#define CAF_SUITE daemon_failures
#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::test;
using namespace std::chrono_literals;

namespace {

using clock_type = std::chrono::steady_clock;
using milliseconds = std::chrono::milliseconds;
using ref_map = std::map<std::string, std::string>;

std::string url_of(const std::string& address, std::uint16_t port) {
  return "http://" + address + ":" + std::to_string(port) + "/demo.git";
}

/// Back-off of 300, 600, 1200, 2000, 2000 ms.
const std::vector<std::string> short_rounds
  = {"--backoff-base=300ms", "--backoff-cap=2s", "--jitter=0",
     "--sync-loop-interval-ms=1", "--timeout-first-byte=500ms"};

/// Fails with 500 until it is told to work; writes down when it was asked.
class recovering_server {
public:
  explicit recovering_server(const git_repo& repo, const std::string& tip)
    : works_(speaks_git(
      {{tip},
       [reply = v0_reply(repo.pack({tip}))](const auto&) { return reply; }})),
      server_([this](scripted_connection& client) { serve(client); }) {}

  void recover() { up_ = true; }
  const scripted_server& server() const { return server_; }

  /// From each attempt to the next.
  std::vector<milliseconds> gaps() {
    const std::lock_guard lock{mutex_};
    std::vector<milliseconds> result;
    for (std::size_t n = 1; n < asked_.size(); ++n)
      result.push_back(
        std::chrono::duration_cast<milliseconds>(asked_[n] - asked_[n - 1]));
    return result;
  }

private:
  void serve(scripted_connection& client) {
    if (up_)
      return works_(client);
    scripted_request request;
    while (!up_ && client.read(request)) {
      {
        const std::lock_guard lock{mutex_};
        asked_.push_back(clock_type::now());
      }
      if (!client.answer(500, "down", {"Connection: close"}))
        return;
      return;
    }
  }

  std::mutex mutex_;
  std::vector<clock_type::time_point> asked_; ///< Guarded by `mutex_`.
  std::atomic<bool> up_{false};
  scripted_server::script works_;
  scripted_server server_;
};

struct fixture {
  fixture() { repo.set_ref("refs/heads/main", tip); }

  /// True when a state is released whose first URL is `bad`.
  bool released_despite(const std::string& bad, std::uint16_t port) {
    daemon_process daemon{{port, good.port()}, short_rounds};
    const auto announcement
      = owner.announces("demo", {bad, good.url("demo.git")});
    const auto state = owner.states("demo", {{"refs/heads/main", tip}});
    const auto before = clock_type::now();
    daemon.offer(std::vector{announcement, state});
    if (!daemon.releases({announcement, state}))
      return false;
    spent = clock_type::now() - before;
    rounds = daemon.logged({"Backoff applied"}).size();
    failure = daemon.logged({"Fetch failed", bad}).size();
    const ref_map expected{{"refs/heads/main", tip}};
    return daemon.refs(owner.key(), "demo") == expected;
  }

  /// The bad URL was asked, and the good one in the same round.
  void check(const std::string& bad, std::uint16_t port) {
    CAF_CHECK(released_despite(bad, port));
    CAF_CHECK_EQUAL(failure, 1u);
    CAF_CHECK_EQUAL(rounds, 0u);
    CAF_CHECK(spent < 5s);
  }

  git_server good;
  git_repo repo = git_repo::init(good.root() / "demo.git");
  std::string tip = repo.commit("README", "hello");
  person owner;
  clock_type::duration spent{};
  std::size_t rounds = 0;
  std::size_t failure = 0;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(daemon_failures_tests, fixture)

CAF_TEST(the second URL is used when nobody listens at the first) {
  const auto address = own_loopback_address();
  const auto port = free_port(address);
  check(url_of(address, port), port);
}

CAF_TEST(the second URL is used when the first has no such repository) {
  const git_server other;
  check(other.url("demo.git"), other.port());
}

CAF_TEST(the second URL is used when the first fails) {
  const scripted_server other{always(500, "oops")};
  check(other.url("demo.git"), other.port());
}

CAF_TEST(the second URL is used when the first never answers) {
  const scripted_server other{never_answers()};
  check(other.url("demo.git"), other.port());
}

CAF_TEST(rounds double and the event is released when the server is up) {
  recovering_server only{repo, tip};
  daemon_process daemon{{only.server().port()}, short_rounds};
  const auto announcement
    = owner.announces("demo", {only.server().url("demo.git")});
  const auto state = owner.states("demo", {{"refs/heads/main", tip}});
  daemon.offer(std::vector{announcement, state});
  // After the fourth failure of its only unit the host is left alone.
  CAF_REQUIRE(eventually([&] { return only.gaps().size() >= 2; }));
  only.recover();
  const auto gaps = only.gaps();
  const std::vector<milliseconds> expected{300ms, 600ms};
  for (std::size_t n = 0; n < expected.size(); ++n) {
    CAF_MESSAGE("gap " << n + 1 << ": " << gaps[n].count() << " ms");
    CAF_CHECK(gaps[n] >= expected[n]);
    CAF_CHECK(gaps[n] < expected[n] + 250ms + expected[n] / 4);
  }
  CAF_CHECK(daemon.releases({announcement, state}));
  CAF_CHECK_EQUAL(daemon.times_released(state), 1u);
}

CAF_TEST(a server that comes up where nobody listened is used) {
  const auto address = own_loopback_address();
  const auto port = free_port(address);
  daemon_process daemon{{port}, short_rounds};
  const auto announcement = owner.announces("demo", {url_of(address, port)});
  const auto state = owner.states("demo", {{"refs/heads/main", tip}});
  daemon.offer(std::vector{announcement, state});
  CAF_REQUIRE(eventually([&] {
    return daemon.logged({"Fetch failed", "refused"}).size() >= 2;
  }));
  git_server_options here;
  here.address = address;
  here.port = port;
  const git_server late{here};
  std::filesystem::copy(repo.path(), late.root() / "demo.git",
                        std::filesystem::copy_options::recursive);
  CAF_CHECK(daemon.releases({announcement, state}));
}

CAF_TEST_FIXTURE_SCOPE_END()
