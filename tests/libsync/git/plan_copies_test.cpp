// A state that governs several owners fills all their repositories.

#include "tests/support/plan_driver.hpp"

#define CAF_SUITE plan_copies
#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::test;
using namespace std::chrono_literals;

namespace {

const std::string main_ref = "refs/heads/main";
const std::string url_a = "https://a.example/r.git";

/// Owner 1 and owner 2 of one identifier; 2 lists 1 as a maintainer.
struct fixture : plan_driver {
  tenant first{key(1), identifier{"r"}};
  tenant second{key(2), identifier{"r"}};

  void announce_first() { offer(announcement(1, key(1), "r", {url_a})); }
  void announce_second() {
    offer(announcement(2, key(2), "r", {url_a}, {key(1)}));
  }
  void claim(std::uint64_t id, std::uint64_t commit, unix_seconds at = 1000) {
    offer(state(id, key(1), "r", {{main_ref, object(commit).value}}, at));
  }
  void fetch(std::uint64_t commit) {
    advance(500ms);
    grant();
    deliver({object(commit)});
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(plan_copies_tests, fixture)

CAF_TEST(a state reaches every owner whom it governs with one fetch) {
  announce_first();
  announce_second();
  claim(3, 7);
  fetch(7);
  CAF_CHECK(jobs.empty());
  CAF_CHECK(copies == std::vector{second});
  CAF_CHECK(refs_of[first][main_ref] == object(7));
  CAF_CHECK(refs_of[second][main_ref] == object(7));
  CAF_CHECK_EQUAL(released_times(id_of(1)), 1u);
  CAF_CHECK_EQUAL(released_times(id_of(2)), 1u);
  CAF_CHECK_EQUAL(released_times(id_of(3)), 1u);
  CAF_CHECK_EQUAL(plan().waiting(), 0u);
}

CAF_TEST(a copy that fails costs its owner only) {
  announce_first();
  announce_second();
  copies_fail = true;
  claim(3, 7);
  fetch(7);
  // Once with the state, once more for the announcement after it.
  CAF_CHECK_EQUAL(copies.size(), 2u);
  CAF_CHECK_EQUAL(released_times(id_of(1)), 1u);
  CAF_CHECK_EQUAL(released_times(id_of(3)), 1u);
  CAF_CHECK_EQUAL(released_times(id_of(2)), 0u);
  CAF_CHECK(!refs_of[second].contains(main_ref));
}

CAF_TEST(an owner who announces after the state was served is filled too) {
  announce_first();
  claim(3, 7);
  fetch(7);
  CAF_REQUIRE_EQUAL(released_times(id_of(3)), 1u);
  announce_second();
  CAF_CHECK(copies == std::vector{second});
  CAF_CHECK(questions.empty());
  CAF_CHECK(refs_of[second][main_ref] == object(7));
  CAF_CHECK_EQUAL(released_times(id_of(2)), 1u);
  CAF_CHECK_EQUAL(plan().waiting(), 0u);
}

CAF_TEST(who has the objects already needs no copy) {
  announce_first();
  claim(3, 7);
  fetch(7);
  objects[second][object(7)] = object_kind::commit;
  announce_second();
  CAF_CHECK(copies.empty());
  CAF_CHECK(refs_of[second][main_ref] == object(7));
  CAF_CHECK_EQUAL(released_times(id_of(2)), 1u);
}

CAF_TEST(an author whose data lies with another owner gets it without a fetch) {
  announce_first();
  announce_second();
  objects[second][object(7)] = object_kind::commit;
  claim(3, 7);
  CAF_CHECK(jobs.empty());
  CAF_CHECK(copies == std::vector{first});
  CAF_CHECK_EQUAL(released_times(id_of(3)), 1u);
  CAF_CHECK(refs_of[first][main_ref] == object(7));
  CAF_CHECK(refs_of[second][main_ref] == object(7));
}

CAF_TEST(a pull request gets its ref in every repository that it concerns) {
  announce_first();
  announce_second();
  claim(3, 7);
  fetch(7);
  offer(pull_request(4, key(9), key(1), "r", object(8).value));
  fetch(8);
  const auto ref = "refs/nostr/" + id_of(4).value;
  CAF_CHECK(refs_of[first][ref] == object(8));
  CAF_CHECK(refs_of[second][ref] == object(8));
  CAF_CHECK_EQUAL(released_times(id_of(4)), 1u);
}

CAF_TEST(a served state fills nobody while a newer one is on its way) {
  announce_first();
  claim(3, 7);
  fetch(7);
  relay_answers = false;
  claim(4, 8, 1001);
  fetch(8);
  CAF_REQUIRE(plan().where(id_of(4)) == entry_state::publishing);
  announce_second();
  CAF_CHECK(copies.empty());
  CAF_CHECK_EQUAL(released_times(id_of(2)), 0u);
  publish_all();
  CAF_CHECK(refs_of[second][main_ref] == object(8));
  CAF_CHECK_EQUAL(released_times(id_of(2)), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()
