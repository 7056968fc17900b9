// How the daemon ends, and when it does not even start.
#include "tests/support/daemon_process.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/repo_events.hpp"
#include "tests/support/scripted_git.hpp"

#define CAF_SUITE daemon_stop
#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::test;
using namespace std::chrono_literals;

namespace {

finished purgatoryd(std::vector<std::string> words) {
  words.insert(words.begin(), daemon_binary());
  return run({std::move(words), std::nullopt, {}, {}}, 20s);
}

bool says(const finished& what, const std::string& text) {
  return what.errors.find(text) != std::string::npos;
}

std::vector<nostr::event> some_repositories(person& owner,
                                            const std::string& url) {
  std::vector<nostr::event> events;
  for (const auto* d : {"a", "b", "c", "d", "e", "f"}) {
    events.push_back(owner.announces(d, {url + d}));
    events.push_back(
      owner.states(d, {{"refs/heads/main", std::string(40, 'd')}}));
  }
  return events;
}

} // namespace

CAF_TEST(SIGTERM ends it within five seconds while servers are silent) {
  const scripted_server mute{never_answers()};
  daemon_process daemon{{mute.port()}};
  person owner;
  const auto events = some_repositories(owner, mute.url(""));
  daemon.offer(events);
  CAF_REQUIRE(eventually([&] { return mute.connections() == 5; }));
  const auto end = daemon.stop();
  CAF_MESSAGE("took " << end.took.count() << " ms");
  CAF_CHECK_EQUAL(end.status, 0);
  CAF_CHECK(end.took < 5s);
  CAF_CHECK(daemon.logs({"Stopped"}, 0ms));
  CAF_CHECK(!std::filesystem::exists(daemon.socket()));
  CAF_CHECK_EQUAL(daemon.quarantines(), 0u);
  daemon.start();
  for (const auto& answer : daemon.offer(events))
    CAF_CHECK_EQUAL(answer, still_held);
}

CAF_TEST(SIGTERM ends an idle one at once) {
  daemon_process daemon{{}};
  const auto end = daemon.stop();
  CAF_MESSAGE("took " << end.took.count() << " ms");
  CAF_CHECK_EQUAL(end.status, 0);
  CAF_CHECK(end.took < 1s);
}

CAF_TEST(a second one on the same folder does not start) {
  daemon_process daemon{{}};
  const auto second
    = purgatoryd({"serve", "--data-dir=" + daemon.folder().string()});
  CAF_CHECK_EQUAL(second.status, 1);
  CAF_CHECK(says(second, "another purgatoryd works in this folder"));
  person owner;
  CAF_CHECK_EQUAL(daemon.offer(owner.announces("demo", {})), held);
  CAF_CHECK_EQUAL(daemon.stop().status, 0);
}

CAF_TEST(bad options are told all at once) {
  const auto end
    = purgatoryd({"serve", "--sync-domain-concurrent=0", "--jitter=7",
                  "--backoff-base=soon", "--no-such-option=1"});
  CAF_CHECK_EQUAL(end.status, 2);
  for (const auto* name :
       {"sync-domain-concurrent", "jitter", "backoff-base", "no-such-option"}) {
    CAF_MESSAGE(name);
    CAF_CHECK(says(end, name));
  }
}

CAF_TEST(an unknown command is a usage error and a dead socket another one) {
  CAF_CHECK_EQUAL(purgatoryd({"sevre"}).status, 2);
  CAF_CHECK_EQUAL(purgatoryd({}).status, 2);
  CAF_CHECK_EQUAL(purgatoryd({"--version"}).status, 0);
  CAF_CHECK_EQUAL(purgatoryd({"submit", "--socket=/nonexistent/s"}).status, 3);
}
