#include "libsync/git/horizon.hpp"

#define CAF_SUITE horizon
#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace std::chrono_literals;
using git::horizon;
using git::horizon_rules;
using git::parked_offset;

namespace {

constexpr time_point begin = time_point{} + 100h;

} // namespace

CAF_TEST(parked rounds are due after 1 4 12 24 hours and on to seven days) {
  const std::vector<duration> wanted
    = {1h, 4h, 12h, 24h, 48h, 72h, 96h, 120h, 144h, 168h, 192h, 216h};
  for (std::uint32_t i = 0; i < wanted.size(); ++i)
    CAF_CHECK(parked_offset(i, false, {}) == wanted[i]);
}

CAF_TEST(an initial sync parks for half an hour first) {
  CAF_CHECK(parked_offset(0, true, {}) == duration{30min});
  CAF_CHECK(parked_offset(1, true, {}) == duration{4h});
}

CAF_TEST(a multiplier of one still moves on) {
  horizon_rules rules;
  rules.multiplier = 1;
  for (std::uint32_t i = 4; i < 8; ++i)
    CAF_CHECK(parked_offset(i, false, rules)
              > parked_offset(i - 1, false, rules));
}

CAF_TEST(a window needs its time and three full rounds) {
  const horizon life{begin, 5, 30min};
  CAF_CHECK(!life.window_is_over(8, true, begin + 30min - 1ns, {}));
  CAF_CHECK(!life.window_is_over(7, true, begin + 10h, {}));
  CAF_CHECK(life.window_is_over(8, true, begin + 30min, {}));
  CAF_CHECK(life.window_is_over(5, false, begin + 30min, {}));
}

CAF_TEST(the window of an initial sync needs five rounds) {
  const horizon life{begin, 0, 4h};
  CAF_CHECK(!life.window_is_over(4, true, begin + 4h, {}));
  CAF_CHECK(life.window_is_over(5, true, begin + 4h, {}));
}

CAF_TEST(jitter moves a round by at most a tenth of its distance) {
  horizon life{begin, 0, 30min};
  CAF_CHECK(life.next_round({}, 0.5) == time_point::max());
  life.park(begin);
  CAF_CHECK(life.next_round({}, 0.0) == begin + 54min);
  CAF_CHECK(life.next_round({}, 0.5) == begin + 1h);
  CAF_CHECK(life.next_round({}, 0.75) == begin + 63min);
  life.round_consumed();
  CAF_CHECK(life.next_round({}, 0.0) == begin + 4h - 18min);
}

CAF_TEST(a verdict needs seven days and five rounds and five outcomes) {
  horizon life{begin, 0, 30min};
  CAF_CHECK(!life.is_over(99, begin + 1000h, {}));
  life.park(begin);
  for (int i = 0; i < 4; ++i)
    life.round_consumed();
  CAF_CHECK(!life.is_over(5, begin + 168h, {}));
  life.round_consumed();
  CAF_CHECK(!life.is_over(4, begin + 168h, {}));
  CAF_CHECK(!life.is_over(5, begin + 168h - 1ns, {}));
  CAF_CHECK(life.is_over(5, begin + 168h, {}));
}

CAF_TEST(without any url time alone decides) {
  horizon life{begin, 0, 30min};
  life.park(begin);
  CAF_CHECK(!life.is_over(std::nullopt, begin + 168h - 1ns, {}));
  CAF_CHECK(life.is_over(std::nullopt, begin + 168h, {}));
}

CAF_TEST(an entry of an initial sync needs twice the attempts) {
  horizon life{begin, 0, 4h};
  life.park(begin);
  for (int i = 0; i < 9; ++i)
    life.round_consumed();
  CAF_CHECK(!life.is_over(10, begin + 168h, {}));
  life.round_consumed();
  CAF_CHECK(!life.is_over(9, begin + 168h, {}));
  CAF_CHECK(life.is_over(10, begin + 168h, {}));
}

CAF_TEST(an extension lengthens and never shortens) {
  horizon life{begin, 0, 30min};
  life.extend(begin + 10min, 30min);
  CAF_CHECK(life.window_end() == begin + 40min);
  life.extend(begin + 10min, 5min);
  CAF_CHECK(life.window_end() == begin + 40min);
}

CAF_TEST(downtime does not count) {
  horizon life{begin, 2, 30min};
  life.park(begin + 1h);
  life.round_consumed();
  const live_clock before{begin + 2h, 7200};
  // A day later by the clock, ten seconds later by what we lived.
  const auto later = begin + 26h;
  const live_clock after{later, 7210};
  const auto back = horizon::from(life.image(before), after);
  CAF_CHECK(back.is_parked());
  CAF_CHECK_EQUAL(back.parked_rounds(), 1u);
  CAF_CHECK(later - *back.parked_at() == duration{1h + 10s});
  CAF_CHECK(back.verdict_after({}) - later == duration{167h - 10s});
}
