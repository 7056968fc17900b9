#include "libsync/git/transfer_watch.hpp"

#define CAF_SUITE git_transfer_watch

#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::git;
using namespace std::chrono_literals;
using phase = purgatory::git::transfer_phase;

namespace {

const time_point start{1h};
constexpr auto instant = duration{1};

struct fixture {
  transfer_limits limits;
  transfer_watch watch{limits, start, start + 10min};

  std::optional<fetch_class> at(duration after) const {
    return watch.verdict(start + after);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(transfer_watch_tests, fixture)

CAF_TEST(each phase has its own limit and class) {
  CAF_CHECK(!at(5s - instant));
  CAF_CHECK(at(5s) == fetch_class::dns);
  watch.observe(phase::connecting, 0, start + 1s);
  CAF_CHECK(!at(11s - instant));
  CAF_CHECK(at(11s) == fetch_class::refused);
  watch.observe(phase::securing, 0, start + 2s);
  CAF_CHECK(!at(12s - instant));
  CAF_CHECK(at(12s) == fetch_class::tls);
  watch.observe(phase::waiting, 0, start + 3s);
  CAF_CHECK(!at(93s - instant));
  CAF_CHECK(at(93s) == fetch_class::timeout);
}

CAF_TEST(a phase never turns back) {
  watch.observe(phase::waiting, 0, start + 1s);
  watch.observe(phase::resolving, 0, start + 2s);
  CAF_CHECK(!at(60s));
}

CAF_TEST(a steady trickle above the rate is fine until the deadline) {
  for (int second = 0; second < 600; ++second)
    watch.observe(phase::receiving,
                  static_cast<std::uint64_t>(second + 1) * 1100,
                  start + std::chrono::seconds{second});
  CAF_CHECK(!at(10min - instant));
  CAF_CHECK(at(10min) == fetch_class::timeout);
}

CAF_TEST(a stall after the first byte is seen one window later) {
  watch.observe(phase::receiving, 1'000'000, start + 5s);
  for (int second = 6; second < 34; ++second)
    watch.observe(phase::receiving, 1'000'000,
                  start + std::chrono::seconds{second});
  CAF_CHECK(!at(34s));
  for (int second = 34; second < 40; ++second)
    watch.observe(phase::receiving, 1'000'000,
                  start + std::chrono::seconds{second});
  CAF_CHECK(at(40s) == fetch_class::timeout);
}

CAF_TEST(one byte per second is too slow) {
  std::optional<fetch_class> seen;
  int second = 0;
  for (; second < 60 && !seen; ++second) {
    const auto now = start + std::chrono::seconds{second};
    watch.observe(phase::receiving, static_cast<std::uint64_t>(second), now);
    seen = watch.verdict(now);
  }
  CAF_CHECK(seen == fetch_class::timeout);
  CAF_CHECK(second <= 34);
}

CAF_TEST(time that we held up the transfer does not count) {
  watch.observe(phase::waiting, 0, start);
  watch.excuse(60s);
  CAF_CHECK(!at(149s));
  CAF_CHECK(at(150s) == fetch_class::timeout);
}

CAF_TEST_FIXTURE_SCOPE_END()
