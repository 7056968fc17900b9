// What a user of the daemon wants: events go in, git data is found where it
// is, refs move, events come out. Real binary, real git servers.
#include "tests/support/daemon_process.hpp"
#include "tests/support/git_server.hpp"
#include "tests/support/repo_events.hpp"

#define CAF_SUITE daemon_release
#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::test;

namespace {

using ids = std::vector<std::string>;
using ref_map = std::map<std::string, std::string>;

/// Two servers; the repository of each has commits that the other lacks.
struct fixture {
  fixture() {
    main_tip = left.commit("README", "hello", {left.commit("README", "first")});
    left.set_ref("refs/heads/main", main_tip);
    dev_tip = right.commit("PLAN", "next");
    right.set_ref("refs/heads/dev", dev_tip);
    pr_tip = fork.commit("FEATURE", "one");
    fork.set_ref("refs/heads/feature", pr_tip);
  }

  void announce() {
    announcement = owner.announces(
      "demo", {first.url("demo.git"), second.url("demo.git")});
    CAF_REQUIRE_EQUAL(daemon.offer(announcement), held);
  }

  /// Announcement and one branch, released.
  void serve_main() {
    announce();
    const auto state = owner.states("demo", {{"refs/heads/main", main_tip}},
                                    "refs/heads/main");
    CAF_REQUIRE_EQUAL(daemon.offer(state), held);
    CAF_REQUIRE(daemon.releases({announcement, state}));
  }

  git_repo kept() { return daemon.repository(owner.key(), "demo"); }
  ref_map refs() { return daemon.refs(owner.key(), "demo"); }

  git_server first;
  git_server second;
  git_repo left = git_repo::init(first.root() / "demo.git");
  git_repo right = git_repo::init(second.root() / "demo.git");
  git_repo fork = git_repo::init(second.root() / "fork.git");
  daemon_process daemon{{first.port(), second.port()}};
  person owner;
  person contributor;
  std::string main_tip;
  std::string dev_tip;
  std::string pr_tip;
  nostr::event announcement;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(daemon_release_tests, fixture)

CAF_TEST(a state whose commits lie on two servers is released once) {
  announce();
  const auto state = owner.states(
    "demo", {{"refs/heads/main", main_tip}, {"refs/heads/dev", dev_tip}},
    "refs/heads/dev");
  CAF_CHECK_EQUAL(daemon.offer(state), held);
  CAF_REQUIRE(daemon.releases({announcement, state}));
  const ids expected{announcement.id.value, state.id.value};
  CAF_CHECK_EQUAL(daemon.released(), expected);
  const ref_map both{{"refs/heads/main", main_tip},
                     {"refs/heads/dev", dev_tip}};
  CAF_CHECK_EQUAL(refs(), both);
  CAF_CHECK_EQUAL(daemon.head(owner.key(), "demo"), "refs/heads/dev");
  CAF_CHECK(kept().is_sound());
  CAF_CHECK_EQUAL(daemon.quarantines(), 0u);
  CAF_CHECK_EQUAL(daemon.offer(state), "accept");
  CAF_CHECK_EQUAL(daemon.released().size(), 2u);
}

CAF_TEST(a pull request is fetched from its own clone URL alone) {
  announce();
  const auto state = owner.states("demo", {{"refs/heads/main", main_tip}});
  const auto pr = contributor.proposes(owner.key(), "demo", pr_tip,
                                       {second.url("fork.git")});
  CAF_CHECK_EQUAL(daemon.offer(pr), held);
  CAF_CHECK_EQUAL(daemon.offer(state), held);
  CAF_REQUIRE(daemon.releases({announcement, state, pr}));
  const auto now = refs();
  CAF_CHECK_EQUAL(now.at("refs/nostr/" + pr.id.value), pr_tip);
  CAF_CHECK_EQUAL(daemon.times_released(pr), 1u);
  CAF_CHECK(kept().is_sound());
}

CAF_TEST(updates of a pull request are found by repository and by event) {
  serve_main();
  const auto pr = contributor.proposes(owner.key(), "demo", pr_tip,
                                       {second.url("fork.git")});
  CAF_CHECK_EQUAL(daemon.offer(pr), held);
  CAF_REQUIRE(daemon.releases({pr}));
  const auto second_tip = fork.commit("FEATURE", "two", {pr_tip});
  const auto third_tip = fork.commit("FEATURE", "three", {second_tip});
  fork.set_ref("refs/heads/feature", third_tip);
  const auto named
    = contributor.updates(pr, second_tip, {second.url("fork.git")},
                          "30617:" + owner.key().value + ":demo");
  const auto bare
    = contributor.updates(pr, third_tip, {second.url("fork.git")});
  CAF_CHECK_EQUAL(daemon.offer(named), held);
  CAF_CHECK_EQUAL(daemon.offer(bare), held);
  CAF_REQUIRE(daemon.releases({named, bare}));
  const auto now = refs();
  CAF_CHECK_EQUAL(now.at("refs/nostr/" + pr.id.value), pr_tip);
  CAF_CHECK_EQUAL(now.at("refs/nostr/" + named.id.value), second_tip);
  CAF_CHECK_EQUAL(now.at("refs/nostr/" + bare.id.value), third_tip);
}

CAF_TEST_FIXTURE_SCOPE_END()
