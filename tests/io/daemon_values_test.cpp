// Values of a state event that are no plain commit of a branch.
#include "tests/support/daemon_process.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/git_server.hpp"
#include "tests/support/repo_events.hpp"

#include <algorithm>
#include <cctype>

#define CAF_SUITE daemon_values
#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::test;

namespace {

using ref_map = std::map<std::string, std::string>;

std::string upper(std::string text) {
  for (auto& c : text)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

struct fixture {
  fixture() {
    tip = source.commit("README", "hello");
    next = source.commit("README", "again", {tip});
    source.set_ref("refs/heads/main", next);
    tag = source.annotated_tag("v1", tip);
    const auto announcement = owner.announces("demo", {server.url("demo.git")});
    CAF_REQUIRE_EQUAL(daemon.offer(announcement), held);
  }

  /// Offers a state and waits until it is released.
  void release(const person::refs& values, const std::string& head = {}) {
    const auto state = owner.states("demo", values, head);
    CAF_REQUIRE_EQUAL(daemon.offer(state), held);
    CAF_REQUIRE(daemon.releases({state}));
  }

  ref_map refs() { return daemon.refs(owner.key(), "demo"); }

  git_server server;
  git_repo source = git_repo::init(server.root() / "demo.git");
  daemon_process daemon{{server.port()}};
  person owner;
  std::string tip;
  std::string next;
  std::string tag;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(daemon_values_tests, fixture)

CAF_TEST(
  an annotated tag is kept as tag object and its peeled name is nothing) {
  release({{"refs/heads/main", next},
           {"refs/tags/v1", tag},
           {"refs/tags/v1^{}", tip}});
  const ref_map expected{{"refs/heads/main", next}, {"refs/tags/v1", tag}};
  CAF_CHECK_EQUAL(refs(), expected);
  const auto kept = daemon.repository(owner.key(), "demo");
  CAF_CHECK_EQUAL(kept.git({"cat-file", "-t", "refs/tags/v1"}), "tag");
  CAF_CHECK_EQUAL(kept.id("refs/tags/v1^{}"), tip);
  CAF_CHECK(kept.is_sound());
}

CAF_TEST(a symbolic value leaves the ref of that name alone) {
  release({{"refs/heads/main", tip}, {"refs/heads/dev", tip}});
  release({{"refs/heads/main", next}, {"refs/heads/dev", "ref: refs/heads/x"}});
  const ref_map expected{{"refs/heads/main", next}, {"refs/heads/dev", tip}};
  CAF_CHECK_EQUAL(refs(), expected);
}

CAF_TEST(a ref that the newest state lacks goes and HEAD follows) {
  release({{"refs/heads/main", tip}, {"refs/heads/old", tip}},
          "refs/heads/old");
  CAF_CHECK_EQUAL(daemon.head(owner.key(), "demo"), "refs/heads/old");
  release({{"refs/heads/main", next}}, "refs/heads/main");
  const ref_map expected{{"refs/heads/main", next}};
  CAF_CHECK_EQUAL(refs(), expected);
  CAF_CHECK_EQUAL(daemon.head(owner.key(), "demo"), "refs/heads/main");
}

CAF_TEST(a state without refs is released and touches nothing) {
  release({{"refs/heads/main", tip}}, "refs/heads/main");
  release({});
  const ref_map expected{{"refs/heads/main", tip}};
  CAF_CHECK_EQUAL(refs(), expected);
  CAF_CHECK_EQUAL(daemon.head(owner.key(), "demo"), "refs/heads/main");
}

CAF_TEST(an object id in upper case is the same object id) {
  release({{"refs/heads/main", upper(next)}});
  const ref_map expected{{"refs/heads/main", next}};
  CAF_CHECK_EQUAL(refs(), expected);
}

CAF_TEST(an invalid object id is held and disturbs nobody) {
  const auto bad = owner.states("demo", {{"refs/heads/main", "abc123"}});
  CAF_CHECK_EQUAL(daemon.offer(bad), held);
  person other;
  const auto announcement = other.announces("other", {server.url("demo.git")});
  const auto good = other.states("other", {{"refs/heads/main", tip}});
  CAF_CHECK_EQUAL(daemon.offer(announcement), held);
  CAF_CHECK_EQUAL(daemon.offer(good), held);
  CAF_CHECK(daemon.releases({announcement, good}));
  CAF_CHECK_EQUAL(daemon.offer(bad), still_held);
  CAF_CHECK_EQUAL(daemon.times_released(bad), 0u);
}

CAF_TEST(what its author takes back is not released) {
  const auto missing = std::string(40, 'd');
  const auto state = owner.states("demo", {{"refs/heads/main", missing}});
  CAF_CHECK_EQUAL(daemon.offer(state), held);
  const auto deletion = owner.takes_back(state);
  CAF_CHECK_EQUAL(daemon.offer(deletion), "accept");
  CAF_CHECK_EQUAL(daemon.offer(state), "reject blocked: deleted by its author");
  CAF_CHECK_EQUAL(daemon.times_released(state), 0u);
}

CAF_TEST_FIXTURE_SCOPE_END()
