#define CAF_SUITE timer_wheel
#include "actors/timer_wheel.hpp"
#include "tests/support/deterministic.hpp"

#include <vector>

using namespace purgatory;
using namespace std::chrono_literals;

namespace {

struct sleeper_state {
  explicit sleeper_state(tick_sink::stateful_pointer<sleeper_state>) {}
};

tick_sink::behavior_type sleeper(tick_sink::stateful_pointer<sleeper_state>,
                                 std::vector<std::uint64_t>* heard) {
  return {
    [heard](const backoff_tick& tick) { heard->push_back(tick.generation); }};
}

struct world : purgatory::test::deterministic {
  std::vector<std::uint64_t> heard;
  timer_wheel_actor wheel;

  world() {
    wheel = track(sys.spawn(timer_wheel));
    settle();
  }

  tick_sink new_sleeper() { return sys.spawn(sleeper, &heard); }

  void arm(const tick_sink& whom, caf::timespan after,
           std::uint64_t generation) {
    caf::anon_send(wheel, arm_tick{now() + after, generation}, whom);
    settle();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(timer_wheel_tests, world)

CAF_TEST(backoff_tick comes at the due time and never early) {
  const auto one = new_sleeper();
  arm(one, 20s, 7);
  advance(20s - 1us);
  CAF_CHECK_EQUAL(heard.size(), 0u);
  advance(1us);
  CAF_CHECK_EQUAL(heard, std::vector<std::uint64_t>{7});
}

CAF_TEST(ticks come in order of due time) {
  const auto one = new_sleeper();
  const auto two = new_sleeper();
  const auto three = new_sleeper();
  arm(one, 3min, 1);
  arm(two, 1min, 2);
  arm(three, 2min, 3);
  advance(1h);
  CAF_CHECK_EQUAL(heard, (std::vector<std::uint64_t>{2, 3, 1}));
}

CAF_TEST(arming again replaces the older time) {
  const auto one = new_sleeper();
  arm(one, 10s, 1);
  arm(one, 60s, 2);
  advance(59s);
  CAF_CHECK_EQUAL(heard.size(), 0u);
  arm(one, 100ms, 3);
  advance(1h);
  CAF_CHECK_EQUAL(heard, std::vector<std::uint64_t>{3});
}

CAF_TEST(a time in the past fires at once) {
  const auto one = new_sleeper();
  arm(one, -1s, 1);
  advance(0s);
  CAF_CHECK_EQUAL(heard.size(), 1u);
}

CAF_TEST(any number of waits costs one timer and an idle wheel none) {
  CAF_CHECK_EQUAL(pending_timers(), 0u);
  std::vector<tick_sink> many;
  for (int i = 0; i < 100; ++i) {
    many.push_back(new_sleeper());
    arm(many.back(), 10s + i * 1s, 1);
  }
  CAF_CHECK_EQUAL(pending_timers(), 1u);
  advance(1h);
  CAF_CHECK_EQUAL(heard.size(), 100u);
  CAF_CHECK_EQUAL(pending_timers(), 0u);
}

CAF_TEST(the wheel keeps nobody alive and ticks for the dead go nowhere) {
  auto mortal = new_sleeper();
  const caf::actor_addr address = mortal.address();
  const auto other = new_sleeper();
  arm(mortal, 10s, 1);
  arm(other, 10s, 2);
  mortal = nullptr;
  settle();
  CAF_CHECK(caf::actor_cast<caf::strong_actor_ptr>(address) == nullptr);
  advance(10s);
  CAF_CHECK_EQUAL(heard, std::vector<std::uint64_t>{2});
}

CAF_TEST(of who died nothing is kept until its time) {
  auto mortal = track(new_sleeper());
  arm(mortal, 24h, 1);
  auto& inside = state_of<timer_wheel_state>(wheel);
  CAF_CHECK_EQUAL(inside.waits(), 1u);
  CAF_CHECK_EQUAL(inside.remembered(), 1u);
  kill(mortal);
  CAF_CHECK_EQUAL(inside.waits(), 0u);
  CAF_CHECK_EQUAL(inside.remembered(), 0u);
}

CAF_TEST(who lives is watched once however often it arms) {
  const auto one = track(new_sleeper());
  for (int i = 0; i < 3; ++i) {
    arm(one, 1s, 1);
    advance(1s);
  }
  auto& inside = state_of<timer_wheel_state>(wheel);
  CAF_CHECK_EQUAL(heard.size(), 3u);
  CAF_CHECK_EQUAL(inside.waits(), 0u);
  CAF_CHECK_EQUAL(inside.remembered(), 1u);
  kill(one);
  CAF_CHECK_EQUAL(inside.remembered(), 0u);
}

CAF_TEST(who was dead when it armed leaves nothing either) {
  const auto late = track(new_sleeper());
  kill(late);
  arm(late, 24h, 1);
  CAF_CHECK_EQUAL(state_of<timer_wheel_state>(wheel).remembered(), 0u);
}

CAF_TEST_FIXTURE_SCOPE_END()
