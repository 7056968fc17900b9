#define CAF_SUITE rate_policy
#include "libsync/engine/rate_set.hpp"
#include "libsync/engine/sliding_window.hpp"
#include "libsync/engine/token_bucket.hpp"
#include "tests/support/seed.hpp"

#include <caf/test/dsl.hpp>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

using namespace purgatory;
using namespace std::chrono_literals;

namespace {

const time_point start{1h};

/// Starts whenever the policy lets it, with random delays between permission
/// and first send, for `steps` permissions. Returns the moments of the sends.
std::vector<time_point> greedy_run(engine::rate_policy& policy,
                                   std::mt19937_64& rng, int steps) {
  std::vector<time_point> sends;
  std::size_t reserved = 0;
  auto now = start;
  for (int granted = 0; granted < steps;) {
    const auto next = policy.not_before(now);
    if (next <= now) {
      policy.reserve();
      ++reserved;
      ++granted;
    }
    if (reserved > 0
        && (next == engine::rate_policy::never || rng() % 2 == 0)) {
      --reserved;
      if (rng() % 8 == 0) {
        policy.refund();
      } else {
        policy.confirm(now);
        sends.push_back(now);
      }
    }
    now += std::chrono::milliseconds{rng() % 700};
  }
  return sends;
}

std::ptrdiff_t most_in_any(const std::vector<time_point>& sends,
                           duration span) {
  std::ptrdiff_t most = 0;
  for (auto from = sends.begin(); from != sends.end(); ++from)
    most = std::max(most,
                    std::lower_bound(from, sends.end(), *from + span) - from);
  return most;
}

} // namespace

CAF_TEST(a window blocks when full and opens exactly one span later) {
  engine::sliding_window window{3, 60s};
  for (int i = 0; i < 3; ++i) {
    CAF_CHECK(window.not_before(start + i * 1s) <= start + i * 1s);
    window.record(start + i * 1s);
  }
  CAF_CHECK(window.not_before(start + 3s) == start + 60s);
  CAF_CHECK(window.not_before(start + 60s - 1ns) == start + 60s);
  CAF_CHECK(window.not_before(start + 60s) <= start + 60s);
}

CAF_TEST(an unsent start always counts and a refunded one does not ) {
  engine::sliding_window window{2, 60s};
  window.reserve();
  window.reserve();
  CAF_CHECK(window.not_before(start + 24h) == engine::rate_policy::never);
  window.refund();
  CAF_CHECK(window.not_before(start) <= start);
  window.reserve();
  window.confirm(start + 10s);
  CAF_CHECK(window.not_before(start + 11s) == start + 70s);
  CAF_CHECK_EQUAL(window.unsent(), 1u);
}

CAF_TEST(starts confirmed out of order leave in order of time) {
  engine::sliding_window window{3, 60s};
  for (const auto at : {start + 5s, start + 1s, start + 3s})
    window.record(at);
  CAF_CHECK(window.not_before(start + 6s) == start + 61s);
  window.reserve();
  CAF_CHECK(window.not_before(start + 61s) == start + 63s);
}

CAF_TEST(a lowered ceiling waits for as many starts as are too many) {
  engine::sliding_window window{5, 60s};
  for (int i = 0; i < 5; ++i)
    window.record(start + i * 1s);
  window.set_ceiling(2);
  CAF_CHECK(window.not_before(start + 5s) == start + 63s);
  window.set_ceiling(6);
  CAF_CHECK(window.not_before(start + 5s) <= start + 5s);
}

CAF_TEST(no span of a window ever holds more starts than the ceiling) {
  const auto seed = test::first_seed();
  CAF_MESSAGE("seed " << seed);
  std::mt19937_64 rng{seed};
  for (int round = 0; round < 200; ++round) {
    engine::sliding_window window{7, 20s};
    const auto sends = greedy_run(window, rng, 200);
    CAF_CHECK(most_in_any(sends, 20s) <= 7);
  }
}

CAF_TEST(a bucket lets its burst through and then one per interval) {
  engine::token_bucket bucket{60, 5};
  for (int i = 0; i < 5; ++i) {
    CAF_CHECK(bucket.not_before(start) <= start);
    bucket.record(start);
  }
  CAF_CHECK(bucket.not_before(start) == start + 1s);
  bucket.record(start + 1s);
  CAF_CHECK(bucket.not_before(start + 1s) == start + 2s);
  CAF_CHECK(bucket.not_before(start + 10min) <= start + 10min);
}

CAF_TEST(a full bucket holds no more than its burst) {
  engine::token_bucket bucket{60, 2};
  bucket.record(start);
  const auto later = start + 1h;
  bucket.record(later);
  bucket.record(later);
  CAF_CHECK(bucket.not_before(later) == later + 1s);
}

CAF_TEST(a token set aside is not refilled until it is used or refunded) {
  engine::token_bucket bucket{60, 2};
  bucket.reserve();
  bucket.reserve();
  CAF_CHECK(bucket.not_before(start + 1h) == engine::rate_policy::never);
  bucket.refund();
  CAF_CHECK(bucket.not_before(start + 1h) <= start + 1h);
  bucket.reserve();
  bucket.confirm(start + 1h);
  CAF_CHECK(bucket.not_before(start + 1h) == start + 1h + 1s);
}

CAF_TEST(no span of a bucket holds more than burst plus refill) {
  const auto seed = test::first_seed();
  CAF_MESSAGE("seed " << seed);
  std::mt19937_64 rng{seed};
  for (int round = 0; round < 200; ++round) {
    engine::token_bucket bucket{60, 4};
    const auto sends = greedy_run(bucket, rng, 200);
    CAF_CHECK(most_in_any(sends, 1ns) <= 4);
    CAF_CHECK(most_in_any(sends, 10s) <= 14);
  }
}

CAF_TEST(a bucket may be given another rate) {
  engine::token_bucket bucket{60, 1};
  bucket.record(start);
  bucket.set_ceiling(30);
  bucket.record(start + 1s);
  CAF_CHECK(bucket.not_before(start + 1s) == start + 3s);
}

CAF_TEST(a window that is switched off blocks nothing and still counts) {
  engine::sliding_window hour{0, 1h};
  for (int i = 0; i < 1000; ++i)
    hour.record(start + i * 1s);
  CAF_CHECK(hour.not_before(start + 1000s) <= start + 1000s);
  hour.set_ceiling(600);
  const auto opens = hour.not_before(start + 1000s);
  // The 401st has to be an hour old; the steps of the count are a minute.
  CAF_CHECK(opens >= start + 400s + 1h);
  CAF_CHECK(opens <= start + 400s + 1h + 1min);
}

CAF_TEST(a window that is switched on and off never admits too many) {
  const auto seed = test::first_seed();
  CAF_MESSAGE("seed " << seed);
  std::mt19937_64 rng{seed};
  for (int round = 0; round < 100; ++round) {
    engine::sliding_window window{0, 20s};
    std::vector<time_point> all;
    auto now = start;
    for (int step = 0; step < 200; ++step) {
      now += std::chrono::milliseconds{rng() % 700};
      const bool on = step % 40 >= 20;
      window.set_ceiling(on ? 7 : 0);
      if (window.not_before(now) > now)
        continue;
      const auto recent = std::ranges::count_if(
        all, [now](time_point at) { return at + 20s > now; });
      CAF_REQUIRE(!on || recent < 7);
      window.record(now);
      all.push_back(now);
    }
  }
}

CAF_TEST(all windows of a set hold together and a refund reaches each) {
  const auto seed = test::first_seed();
  CAF_MESSAGE("seed " << seed);
  std::mt19937_64 rng{seed};
  for (int round = 0; round < 50; ++round) {
    engine::sliding_window minute{5, 10s};
    engine::sliding_window hour{12, 60s};
    engine::sliding_window day{40, 600s};
    engine::rate_set all{{minute, hour, day}};
    const auto sends = greedy_run(all, rng, 200);
    CAF_CHECK(most_in_any(sends, 10s) <= 5);
    CAF_CHECK(most_in_any(sends, 60s) <= 12);
    CAF_CHECK(most_in_any(sends, 600s) <= 40);
    CAF_CHECK(most_in_any(sends, 600s) >= 35);
  }
}
