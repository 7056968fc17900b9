// kill -9 at different moments: nothing that was acknowledged is lost, nothing
// comes out twice. After such an end the daemon asks nobody for a minute (rate
// windows count as full), so all cases wait together.
#include "tests/support/daemon_process.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/git_server.hpp"
#include "tests/support/repo_events.hpp"
#include "tests/support/scripted_git.hpp"

#include <atomic>
#include <fstream>

#define CAF_SUITE daemon_crash
#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::test;
using namespace std::chrono_literals;

namespace {

using ref_map = std::map<std::string, std::string>;

/// Sends half a pack and stops, until it is told to go on.
class stuck_server {
public:
  stuck_server(const git_repo& repo, const std::string& tip)
    : body_(v0_reply(repo.pack({tip}))), refs_(refs_body({tip})) {}

  bool is_stuck() const { return stuck_; }
  void go_on() { open_ = true; }
  const scripted_server& server() const { return server_; }

private:
  void serve(scripted_connection& client) {
    scripted_request request;
    while (client.read(request)) {
      if (request.method == "GET") {
        client.answer(200, refs_);
        continue;
      }
      if (open_) {
        client.answer(200, body_);
        continue;
      }
      client.send("HTTP/1.1 200 OK\r\nContent-Length: "
                  + std::to_string(body_.size()) + "\r\n\r\n"
                  + body_.substr(0, body_.size() / 2));
      stuck_ = true;
      client.pause(120s);
      return;
    }
  }

  std::string body_;
  std::string refs_;
  std::atomic<bool> stuck_{false};
  std::atomic<bool> open_{false};
  scripted_server server_{
    [this](scripted_connection& client) { serve(client); }};
};

/// One daemon with one repository, killed once.
struct life {
  life(std::string name, const std::string& url, std::uint16_t port,
       std::string tip_id, std::vector<std::string> flags = {})
    : what(std::move(name)), tip(std::move(tip_id)),
      daemon({port}, std::move(flags)),
      announcement(owner.announces("demo", {url})),
      state(
        owner.states("demo", {{"refs/heads/main", tip}}, "refs/heads/main")) {
    CAF_MESSAGE(what);
    CAF_REQUIRE_EQUAL(daemon.offer(announcement), held);
    CAF_REQUIRE_EQUAL(daemon.offer(state), held);
  }

  void crash_and_restart() {
    daemon.kill();
    daemon.start();
  }

  /// What an event of ours is, told to somebody who offers it again.
  std::string now() { return daemon.offer(state); }

  void check() {
    CAF_MESSAGE(what);
    CAF_CHECK(daemon.releases({announcement, state}, 90s));
    const std::vector<std::string> expected{announcement.id.value,
                                            state.id.value};
    CAF_CHECK_EQUAL(daemon.released(), expected);
    const ref_map refs{{"refs/heads/main", tip}};
    CAF_CHECK_EQUAL(daemon.refs(owner.key(), "demo"), refs);
    CAF_CHECK_EQUAL(daemon.head(owner.key(), "demo"), "refs/heads/main");
    CAF_CHECK(daemon.repository(owner.key(), "demo").is_sound());
    CAF_CHECK_EQUAL(daemon.quarantines(), 0u);
    CAF_CHECK_EQUAL(now(), "accept");
  }

  std::string what;
  std::string tip;
  daemon_process daemon;
  person owner;
  nostr::event announcement;
  nostr::event state;
};

} // namespace

CAF_TEST(what was acknowledged is held after kill - 9 and released once) {
  const git_server server;
  const auto repo = git_repo::with_commits(server.root() / "demo.git", 200);
  const auto tip = repo.id("refs/heads/main");
  const auto url = server.url("demo.git");
  stuck_server stuck{repo, tip};

  life early{"before its debounce has passed",
             url,
             server.port(),
             tip,
             {"--sync-immediate-delay-ms=5000"}};
  early.crash_and_restart();
  CAF_CHECK_EQUAL(early.now(), still_held);
  CAF_CHECK_EQUAL(early.daemon.offer(early.announcement), still_held);

  life fetching{"while its pack arrives", stuck.server().url("demo.git"),
                stuck.server().port(), tip};
  CAF_REQUIRE(eventually([&] { return stuck.is_stuck(); }));
  CAF_REQUIRE(eventually([&] { return fetching.daemon.quarantines() > 0; }));
  fetching.daemon.kill();
  CAF_CHECK_EQUAL(fetching.daemon.quarantines(), 1u);
  fetching.daemon.start();
  CAF_CHECK_EQUAL(fetching.daemon.quarantines(), 0u);
  CAF_CHECK_EQUAL(fetching.now(), still_held);
  stuck.go_on();

  life fetched{"when its objects are here", url, server.port(), tip};
  CAF_REQUIRE(fetched.daemon.logs({"Fetch succeeded"}));
  fetched.crash_and_restart();

  life aligned{"when its refs have moved", url, server.port(), tip};
  CAF_REQUIRE(aligned.daemon.logs({"Refs aligned"}));
  aligned.crash_and_restart();

  life publishing{"when the first line is out", url, server.port(), tip};
  CAF_REQUIRE(
    eventually([&] { return !publishing.daemon.released().empty(); }));
  publishing.crash_and_restart();

  // These have their data; no request is needed.
  aligned.check();
  publishing.check();
  fetched.check();
  early.check();
  fetching.check();
}
