#define CAF_SUITE deterministic
#include "messages/actors.hpp"
#include "tests/support/deterministic.hpp"

using namespace purgatory;
using namespace std::chrono_literals;

namespace {

struct ticker_state {
  explicit ticker_state(tick_sink::stateful_pointer<ticker_state>) {}
  std::vector<std::uint64_t> heard;
};

/// Each tick arms the next one, a second later.
tick_sink::behavior_type
ticker(tick_sink::stateful_pointer<ticker_state> self) {
  self->delayed_send(self, 1s, backoff_tick{1});
  return {[self](const backoff_tick& tick) {
    self->state.heard.push_back(tick.generation);
    self->delayed_send(self, 1s, backoff_tick{tick.generation + 1});
  }};
}

struct listener_state {
  explicit listener_state(tick_sink::stateful_pointer<listener_state>) {}
};

tick_sink::behavior_type listener(tick_sink::stateful_pointer<listener_state>,
                                  std::vector<std::uint64_t>* heard) {
  return {
    [heard](const backoff_tick& tick) { heard->push_back(tick.generation); }};
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(deterministic_tests, purgatory::test::deterministic)

CAF_TEST(advance fires every timer at its own due time) {
  const auto clock = track(sys.spawn(ticker));
  settle();
  advance(3s - 1us);
  CAF_CHECK_EQUAL(state_of<ticker_state>(clock).heard.size(), 2u);
  advance(1us);
  CAF_CHECK_EQUAL(state_of<ticker_state>(clock).heard.size(), 3u);
  CAF_CHECK_EQUAL(pending_timers(), 1u);
}

CAF_TEST(settle lets no time pass) {
  const auto start = now();
  track(sys.spawn(ticker));
  settle();
  CAF_CHECK(now() == start);
}

CAF_TEST_FIXTURE_SCOPE_END()

CAF_TEST(a seed is one order and seeds differ) {
  const auto order = [](std::uint64_t seed) {
    std::vector<std::uint64_t> heard;
    purgatory::test::random_schedule world{seed};
    for (std::uint64_t n = 0; n < 8; ++n)
      caf::anon_send(world.track(world.sys.spawn(listener, &heard)),
                     backoff_tick{n});
    world.settle();
    return heard;
  };
  CAF_CHECK_EQUAL(order(1).size(), 8u);
  CAF_CHECK_EQUAL(order(1), order(1));
  CAF_CHECK_NOT_EQUAL(order(1), order(2));
}

CAF_TEST(exploring lets time pass between messages) {
  purgatory::test::random_schedule world{1};
  const auto clock = world.track(world.sys.spawn(ticker));
  std::size_t steps = 0;
  world.explore(
    10s, [] {}, [&steps] { ++steps; });
  CAF_CHECK_EQUAL(world.state_of<ticker_state>(clock).heard.size(), 10u);
  CAF_CHECK_GREATER(steps, 19u);
}
