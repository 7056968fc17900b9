#define CAF_SUITE sync_watch
#include "actors/log.hpp"
#include "actors/sync_watch.hpp"
#include "tests/support/deterministic.hpp"
#include "tests/support/idle_throttle.hpp"

#include <sstream>
#include <string>
#include <vector>

using namespace purgatory;
using namespace purgatory::test;
using namespace std::chrono_literals;

namespace {

struct fixture : deterministic {
  std::ostringstream lines;
  std::vector<throttle_actor> throttles;
  std::vector<git::plan_settings> plans;
  sync_watch_actor uut;

  fixture() {
    log::configure({log::level::info, log::format::text, &lines});
    const auto above = track(sys.spawn([this](supervisor_actor::pointer) {
      return supervisor_actor::behavior_type{
        [](const event_arrived&, const identifier&) { return admission{}; },
        [](const host_key&) { return throttle_actor{}; },
        [](const tenant&) { return git_actor{}; },
        [](const loaded&) {},
        [](const retire&) {},
        [](const host_news&) {},
        [this](const plan_changed& m) { plans.push_back(m.plan); },
        [this](const list_throttles&) { return throttles; },
        [](const set_limits&) { return limits_set{}; },
        [](const list_pending&) { return pending_identifiers{}; },
        [](const backoff_tick&) {},
        [](const stop_work&) { return work_stopped{}; },
      };
    }));
    sync_watch_config config;
    config.workers = 4;
    config.afterwards.max_refs = 77;
    uut = track(sys.spawn(sync_watch, above, config));
    settle();
  }

  ~fixture() override { log::configure({}); }

  void add_host(std::size_t waiting, std::uint32_t per_minute) {
    throttle_report stands;
    stands.waiting = waiting;
    stands.per_minute = per_minute;
    throttles.push_back(track(sys.spawn([stands](throttle_actor::pointer) {
      return idle_throttle(stands, [](const set_limits&) {});
    })));
  }

  void report(const char* who, std::size_t held, std::size_t fresh,
              std::size_t released) {
    caf::anon_send(
      uut, sync_report{identifier{who}, {held, 1, fresh}, {released, 0, {}}});
    settle();
  }

  /// What was logged since the last call.
  std::string said() {
    auto text = lines.str();
    lines.str({});
    return text;
  }

  bool has_said(const std::string& part) {
    return said().find(part) != std::string::npos;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(sync_watch_tests, fixture)

CAF_TEST(each minute has one line with what is held and how long it takes) {
  add_host(90, 30);
  add_host(10, 30);
  report("a", 4, 1, 2);
  said();
  advance(59s);
  CAF_CHECK(said().empty());
  advance(1s);
  const auto line = said();
  CAF_CHECK(line.find("Initial sync goes on") != std::string::npos);
  CAF_CHECK(line.find("held=4") != std::string::npos);
  CAF_CHECK(line.find("released=2") != std::string::npos);
  CAF_CHECK(line.find(R"(eta_seconds="180")") != std::string::npos);
  advance(1min);
  CAF_CHECK(has_said("Initial sync goes on"));
}

CAF_TEST(without hosts there is a line all the same) {
  report("a", 4, 1, 2);
  advance(1min);
  CAF_CHECK(has_said(R"(eta_seconds="0")"));
}

CAF_TEST(a throttle that left meanwhile does not hold the line up) {
  add_host(90, 30);
  kill(throttles[0]);
  advance(1min);
  CAF_CHECK(has_said("Initial sync goes on"));
}

CAF_TEST(when all had their round the settings of everyday life are in force) {
  report("a", 4, 1, 2);
  caf::anon_send(uut, history_read{});
  advance(5min);
  CAF_CHECK(plans.empty());
  report("a", 4, 0, 0);
  advance(1min);
  CAF_REQUIRE_EQUAL(plans.size(), 1u);
  CAF_CHECK_EQUAL(plans[0].max_refs, 77u);
  CAF_CHECK(has_said("Initial sync is over"));
  CAF_CHECK(!is_alive(uut));
  advance(1h);
  CAF_CHECK_EQUAL(pending_timers(), 0u);
}

CAF_TEST(after seven days it ends in any case) {
  report("a", 4, 1, 2);
  advance(7 * 24h - 1s);
  CAF_CHECK(plans.empty());
  advance(1s);
  CAF_CHECK_EQUAL(plans.size(), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()
