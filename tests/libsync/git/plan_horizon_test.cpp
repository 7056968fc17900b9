// Held for days: windows, parked rounds, verdicts, revival (rules §7).

#include "tests/support/plan_driver.hpp"

#define CAF_SUITE plan_horizon
#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::test;
using namespace std::chrono_literals;

namespace {

const std::string main_ref = "refs/heads/main";
const std::string url_a = "https://a.example/r.git";
const std::string url_b = "https://b.example/r.git";

git::plan_settings exact() {
  auto settings = plan_driver::default_settings();
  settings.life.jitter = 0;
  return settings;
}

struct fixture : plan_driver {
  fixture() : plan_driver(exact()) {}

  tenant home{key(1), identifier{"r"}};
  std::size_t tries = 0;

  void hold(const std::vector<std::string>& urls = {url_a}) {
    offer(announcement(1, key(1), "r", urls));
    offer(state(2, key(1), "r", {{main_ref, object(1).value}}));
  }

  /// Time passes; every question is granted and every job ends like this.
  void pass(duration length, fetch_class how = fetch_class::not_here) {
    const auto end = at().now + length;
    while (at().now < end) {
      advance(std::min<duration>(10s, end - at().now));
      while (!questions.empty() || !jobs.empty()) {
        if (!questions.empty())
          grant();
        while (!jobs.empty()) {
          ++tries;
          fail(how);
        }
      }
    }
  }

  std::size_t tries_in(duration length,
                       fetch_class how = fetch_class::not_here) {
    const auto before = tries;
    pass(length, how);
    return tries - before;
  }

  bool stands(entry_state state, std::uint64_t id = 2) {
    return plan().where(id_of(id)) == state;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(plan_horizon_tests, fixture)

CAF_TEST(after half an hour it is parked and tried again after an hour) {
  hold();
  pass(29min);
  CAF_CHECK(stands(entry_state::hunting));
  pass(6min);
  CAF_CHECK(stands(entry_state::parked));
  CAF_CHECK_EQUAL(tries_in(50min), 0u);
  CAF_CHECK_EQUAL(tries_in(15min), 1u);
  CAF_CHECK_EQUAL(tries_in(2h), 0u);
  CAF_CHECK_EQUAL(tries_in(1h + 10min), 1u);
}

CAF_TEST(a week of failures costs ten parked rounds and then it is given up) {
  hold();
  pass(40min);
  CAF_REQUIRE(stands(entry_state::parked));
  CAF_CHECK_EQUAL(tries_in(167h), 9u);
  CAF_CHECK(stands(entry_state::parked));
  pass(2h);
  CAF_CHECK(stands(entry_state::verdict));
  CAF_CHECK_EQUAL(plan().waiting(), 0u);
  CAF_CHECK_EQUAL(plan().verdicts(), 1u);
}

CAF_TEST(what comes while it is parked releases it) {
  hold();
  pass(26h);
  CAF_REQUIRE(stands(entry_state::parked));
  for (int i = 0; i < 400 && questions.empty(); ++i)
    advance(10min);
  CAF_REQUIRE_EQUAL(questions.size(), 1u);
  grant();
  deliver({object(1)});
  CAF_CHECK(stands(entry_state::served));
  CAF_CHECK_EQUAL(released_times(id_of(2)), 1u);
}

CAF_TEST(a direct copy revives what is parked and what was given up) {
  hold();
  pass(40min);
  CAF_REQUIRE(stands(entry_state::parked));
  const auto again = state(2, key(1), "r", {{main_ref, object(1).value}});
  offer(again, provenance::sync);
  CAF_CHECK(stands(entry_state::parked));
  offer(again, provenance::direct);
  CAF_CHECK(stands(entry_state::hunting));
  // The URL is still left alone for longer and longer: three rounds take hours.
  pass(40min);
  CAF_CHECK(stands(entry_state::hunting));
  pass(8h);
  CAF_REQUIRE(stands(entry_state::parked));
  pass(170h);
  CAF_REQUIRE(stands(entry_state::verdict));
  const auto refused = offer(again, provenance::sync);
  CAF_CHECK_EQUAL(refused->message, answer_text::previously_expired);
  offer(again, provenance::direct);
  CAF_CHECK(stands(entry_state::hunting));
  CAF_CHECK_EQUAL(plan().verdicts(), 0u);
}

CAF_TEST(a new clone url revives) {
  hold();
  pass(40min);
  CAF_REQUIRE(stands(entry_state::parked));
  offer(announcement(3, key(1), "r", {url_a, url_b}, {}, 1001));
  CAF_CHECK(stands(entry_state::hunting));
}

CAF_TEST(a host that recovers revives what is parked there) {
  hold();
  pass(40min, fetch_class::refused);
  CAF_REQUIRE(stands(entry_state::parked));
  perform(plan().on_host_recovered(host_key{"b.example"}, at()));
  CAF_CHECK(stands(entry_state::parked));
  perform(plan().on_host_recovered(host_key{"a.example"}, at()));
  CAF_CHECK(stands(entry_state::hunting));
}

CAF_TEST(an operator and a change of the configuration revive) {
  hold();
  pass(40min);
  perform(plan().on_retry(at()));
  CAF_CHECK(stands(entry_state::hunting));
  pass(40min);
  CAF_REQUIRE(stands(entry_state::parked));
  perform(plan().on_settings(exact(), false, at()));
  CAF_CHECK(stands(entry_state::parked));
  perform(plan().on_settings(exact(), true, at()));
  CAF_CHECK(stands(entry_state::hunting));
}

CAF_TEST(without parked rounds the window ends it) {
  auto settings = exact();
  settings.life.retry_enabled = false;
  perform(plan().on_settings(settings, false, at()));
  hold();
  pass(40min);
  CAF_CHECK(stands(entry_state::verdict));
}

CAF_TEST(an initial sync hunts for four hours) {
  auto settings = exact();
  settings.initial_sync = true;
  perform(plan().on_settings(settings, false, at()));
  hold();
  pass(3h + 50min);
  CAF_CHECK(stands(entry_state::hunting));
  pass(2h);
  CAF_CHECK(stands(entry_state::parked));
}

CAF_TEST(without a url it is parked by time alone and a url revives it) {
  hold({});
  pass(29min);
  CAF_CHECK(stands(entry_state::hunting));
  pass(2min);
  CAF_CHECK(stands(entry_state::parked));
  offer(announcement(3, key(1), "r", {url_a}, {}, 1001));
  CAF_CHECK(stands(entry_state::hunting));
}

CAF_TEST(a verdict is forgotten after a week and heard as if new) {
  hold({});
  pass(31min);
  pass(168h + 10min);
  CAF_REQUIRE(stands(entry_state::verdict));
  pass(168h + 10min);
  CAF_CHECK(stands(entry_state::dropped));
  CAF_CHECK_EQUAL(plan().verdicts(), 0u);
}

CAF_TEST(an announcement without data fades and its urls stay for a day) {
  offer(announcement(1, key(1), "r", {url_a}));
  pass(31min);
  CAF_CHECK(stands(entry_state::soft_expired, 1));
  offer(state(2, key(1), "r", {{main_ref, object(1).value}}));
  CAF_CHECK(tries_in(1min) > 0);
  pass(23h);
  CAF_CHECK(plan().where(id_of(1)) != entry_state::dropped);
}

CAF_TEST(an announcement that nobody follows is dropped after a day) {
  offer(announcement(1, key(1), "r", {url_a}));
  pass(24h + 29min);
  CAF_CHECK(stands(entry_state::soft_expired, 1));
  pass(2min);
  CAF_CHECK(stands(entry_state::dropped, 1));
  CAF_CHECK_EQUAL(plan().waiting(), 0u);
}

CAF_TEST_FIXTURE_SCOPE_END()
