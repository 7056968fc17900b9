// The daemon beside a relay that we did not write.
#include "tests/support/daemon_process.hpp"
#include "tests/support/git_server.hpp"
#include "tests/support/relay_client.hpp"
#include "tests/support/relay_process.hpp"
#include "tests/support/repo_events.hpp"

#define CAF_SUITE daemon_relay
#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::test;
using namespace std::chrono_literals;

namespace {

struct fixture {
  fixture() { repo.set_ref("refs/heads/main", tip); }

  std::size_t stored(const nostr::event& ev) {
    return relay.count("stored " + ev.id.value);
  }

  /// The relay has the event and the daemon knows it.
  bool is_out(const daemon_process& daemon, const nostr::event& ev) {
    return daemon.logs({"Event released", ev.id.value}, 40s) && stored(ev) == 1;
  }

  nostr::event state() {
    return owner.states("demo", {{"refs/heads/main", tip}});
  }

  git_server server;
  git_repo repo = git_repo::init(server.root() / "demo.git");
  std::string tip = repo.commit("README", "hello");
  relay_process relay{{"relay.mjs"}};
  person owner;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(daemon_relay_tests, fixture)

CAF_TEST(announcement and state are published and can be read back) {
  daemon_process daemon{{server.port()}, {"--relay-url=" + relay.url()}};
  const auto announcement = owner.announces("demo", {server.url("demo.git")});
  const auto wanted = state();
  CAF_CHECK_EQUAL(daemon.offer(announcement), held);
  CAF_CHECK_EQUAL(relay_client{relay.url()}.count("[\"EVENT\""), 0u);
  CAF_CHECK_EQUAL(daemon.offer(wanted), held);
  CAF_CHECK(is_out(daemon, announcement));
  CAF_CHECK(is_out(daemon, wanted));
  const auto order = relay.output();
  CAF_CHECK(order.find(announcement.id.value) < order.find(wanted.id.value));
  const relay_client reader{relay.url()};
  CAF_CHECK_EQUAL(reader.count(announcement.id.value), 1u);
  CAF_CHECK_EQUAL(reader.count(wanted.id.value), 1u);
  CAF_CHECK(daemon.released().empty());
}

CAF_TEST(what could not be published is when the relay is back) {
  const auto url = relay.url();
  relay.kill();
  daemon_process daemon{{server.port()}, {"--relay-url=" + url}};
  const auto announcement = owner.announces("demo", {server.url("demo.git")});
  const auto wanted = state();
  CAF_CHECK_EQUAL(daemon.offer(announcement), held);
  CAF_CHECK_EQUAL(daemon.offer(wanted), held);
  CAF_CHECK(daemon.logs({"Refs aligned"}));
  CAF_CHECK(daemon.logged({"Event released"}).empty());
  // Its refs are right already; only the relay lacks the events.
  CAF_CHECK_EQUAL(daemon.refs(owner.key(), "demo").count("refs/heads/main"),
                  1u);
  relay.restart();
  CAF_CHECK(is_out(daemon, announcement));
  CAF_CHECK(is_out(daemon, wanted));
}

CAF_TEST(announcements that the relay serves are known) {
  const auto announcement = owner.announces("demo", {server.url("demo.git")});
  CAF_REQUIRE(relay_client{relay.url()}.publish(announcement));
  daemon_process daemon{{server.port()}, {"--relay-url=" + relay.url()}};
  const auto wanted = state();
  // It is read from the relay meanwhile, so the state may be an orphan first.
  const auto answer = daemon.offer(wanted);
  CAF_CHECK(answer.starts_with("shadowReject purgatory: won't be served"));
  CAF_CHECK(is_out(daemon, wanted));
  CAF_CHECK_EQUAL(stored(announcement), 1u);
  const auto next = owner.states("demo", {{"refs/heads/dev", tip}});
  CAF_CHECK_EQUAL(daemon.offer(next), held);
  CAF_CHECK(is_out(daemon, next));
}

CAF_TEST_FIXTURE_SCOPE_END()
