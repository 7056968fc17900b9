#define CAF_SUITE timer_queue
#include "libsync/engine/timer_queue.hpp"
#include "tests/support/seed.hpp"

#include <caf/test/dsl.hpp>

#include <map>
#include <random>

using namespace purgatory;
using namespace std::chrono_literals;

namespace {

const time_point start{1h};
using expired = std::vector<engine::expired_timer>;

} // namespace

CAF_TEST(an empty queue has nothing due) {
  engine::timer_queue waits;
  CAF_CHECK(!waits.next_due());
  CAF_CHECK(waits.take_due(time_point::max()).empty());
}

CAF_TEST(what is due comes in order of time and nothing comes early) {
  engine::timer_queue waits;
  waits.arm(1, start + 3s, 10);
  waits.arm(2, start + 1s, 20);
  waits.arm(3, start + 2s, 30);
  CAF_CHECK(*waits.next_due() == start + 1s);
  CAF_CHECK(waits.take_due(start + 1s - 1ns).empty());
  CAF_CHECK(waits.take_due(start + 2s) == (expired{{2, 20}, {3, 30}}));
  CAF_CHECK(*waits.next_due() == start + 3s);
}

CAF_TEST(arming again replaces the older time be it sooner or later) {
  engine::timer_queue waits;
  waits.arm(1, start + 1s, 1);
  waits.arm(1, start + 5s, 2);
  CAF_CHECK_EQUAL(waits.size(), 1u);
  CAF_CHECK(waits.take_due(start + 4s).empty());
  waits.arm(1, start + 2s, 3);
  CAF_CHECK(waits.take_due(start + 4s) == (expired{{1, 3}}));
  CAF_CHECK(waits.take_due(start + 9s).empty());
}

CAF_TEST(a disarmed key never fires) {
  engine::timer_queue waits;
  waits.arm(1, start, 1);
  CAF_CHECK(waits.disarm(1));
  CAF_CHECK(!waits.disarm(1));
  CAF_CHECK(!waits.next_due());
}

CAF_TEST(random arming agrees with a plain map) {
  const auto seed = test::first_seed();
  CAF_MESSAGE("seed " << seed);
  std::mt19937_64 rng{seed};
  engine::timer_queue waits;
  std::map<engine::timer_key, std::pair<time_point, std::uint64_t>> plain;
  auto now = start;
  for (std::uint64_t step = 0; step < 20'000; ++step) {
    const auto key = rng() % 50;
    if (rng() % 4 != 0) {
      const auto due = now + std::chrono::seconds{rng() % 100};
      waits.arm(key, due, step);
      plain[key] = {due, step};
      continue;
    }
    now += std::chrono::seconds{rng() % 20};
    for (const auto& due : waits.take_due(now)) {
      CAF_REQUIRE(plain.contains(due.key));
      CAF_REQUIRE(plain[due.key].first <= now);
      CAF_REQUIRE_EQUAL(plain[due.key].second, due.generation);
      plain.erase(due.key);
    }
    for (const auto& [waiting, entry] : plain)
      CAF_REQUIRE(entry.first > now);
    CAF_REQUIRE_EQUAL(waits.size(), plain.size());
  }
}
