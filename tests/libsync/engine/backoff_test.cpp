#define CAF_SUITE backoff
#include "libsync/engine/backoff.hpp"

#include <caf/test/dsl.hpp>

#include <limits>
#include <vector>

using namespace purgatory;
using namespace std::chrono_literals;

namespace {

engine::backoff without_jitter() {
  return {20s, 120s, 0.0};
}

} // namespace

CAF_TEST(waits are 20 40 80 120 seconds and stay capped) {
  const auto schedule = without_jitter();
  const std::vector<duration> expected = {0s, 20s, 40s, 80s, 120s, 120s, 120s};
  for (std::uint32_t n = 0; n < expected.size(); ++n)
    CAF_CHECK_EQUAL(schedule.after(n, 0.5), expected[n]);
  CAF_CHECK_EQUAL(
    schedule.after(std::numeric_limits<std::uint32_t>::max(), 0.5), 120s);
}

CAF_TEST(base and cap are configurable) {
  const engine::backoff schedule{3s, 10s, 0.0};
  CAF_CHECK_EQUAL(schedule.after(1, 0.0), 3s);
  CAF_CHECK_EQUAL(schedule.after(2, 0.0), 6s);
  CAF_CHECK_EQUAL(schedule.after(3, 0.0), 10s);
  CAF_CHECK_EQUAL((engine::backoff{30s, 10s, 0.0}.after(1, 0.0)), 10s);
}

CAF_TEST(jitter spreads evenly around the wait) {
  const engine::backoff schedule{20s, 120s, 0.1};
  CAF_CHECK_EQUAL(schedule.after(1, 0.0), 18s);
  CAF_CHECK_EQUAL(schedule.after(1, 0.5), 20s);
  CAF_CHECK(schedule.after(1, 0.999999) > 21999ms);
  CAF_CHECK(schedule.after(1, 0.999999) < 22s);
  CAF_CHECK_EQUAL(schedule.after(4, 0.0), 108s);
}

CAF_TEST(a cap near the end of time does not overflow) {
  const engine::backoff schedule{1h, duration::max(), 0.0};
  CAF_CHECK(schedule.after(100, 0.0) == duration::max());
}

CAF_TEST(due times are rounded up to the interval and never down) {
  const time_point hour{1h};
  CAF_CHECK(engine::round_up(hour, 1s) == hour);
  CAF_CHECK(engine::round_up(hour + 1ns, 1s) == hour + 1s);
  CAF_CHECK(engine::round_up(hour + 999ms, 1s) == hour + 1s);
  CAF_CHECK(engine::round_up(hour + 7ms, 0s) == hour + 7ms);
}
