#include "libsync/engine/adaptive_rate.hpp"

#include <algorithm>
#include <limits>

namespace purgatory::engine {

namespace {

using minutes = std::chrono::duration<double, std::ratio<60>>;

constexpr double lowest = 1;
constexpr double decrease = 0.95;
constexpr double quantum = 1.5;
/// After a complaint the rate goes back to what was borne before, and a part
/// of the way up again.
constexpr double way_up = 0.25;
/// A complaint comes when the host's reserve is used up, so a rate that rose
/// may have been too high for a while: by so much at most.
constexpr double overshoot = 0.75;
/// So many complaints about a rate that was held, without a rise between, and
/// caution comes first: the host's blocks cost more than a low rate.
constexpr std::uint32_t lost_after = 2;
/// Of a block so much counts as time that the host needed.
constexpr duration counted_block = std::chrono::minutes{1};
/// Minutes.
constexpr double shortest_look = 0.1;
constexpr duration hold = std::chrono::minutes{15};
constexpr std::size_t served_to_rise = 40;
/// Added for each served start, so per minute that share of the rate.
constexpr double search_step = 0.25;
constexpr double largest_step = 0.05;
constexpr double step_per_minute = 0.005;
constexpr duration forget_after = std::chrono::hours{24};

double in_minutes(duration d) {
  return minutes{d}.count();
}

} // namespace

adaptive_rate::adaptive_rate(std::uint32_t ceiling, duration minute)
  : ceiling_(0), minute_(minute) {
  set_ceiling(ceiling);
}

void adaptive_rate::set_ceiling(std::uint32_t starts) {
  ceiling_ = starts == 0 ? std::numeric_limits<double>::max() : starts;
  rate_ = std::min(rate_, ceiling_);
}

duration adaptive_rate::interval() const {
  // Rounded up, so that rounding never lets a start through too early.
  const auto exact = static_cast<double>(minute_.count()) / rate_;
  return duration{static_cast<duration::rep>(exact) + 1};
}

/// A second's worth, so that fast hosts are not slowed down by our own delays.
std::size_t adaptive_rate::burst() const {
  return 1 + static_cast<std::size_t>(rate_ / 60);
}

time_point adaptive_rate::not_before(time_point now) {
  if (phase_ == phase::free)
    return now;
  if (now - failed_at_ > forget_after) {
    phase_ = phase::free;
    sustained_ = 0;
    return now;
  }
  const auto tokens = burst();
  if (unsent_ >= tokens)
    return never;
  if (full_at_ <= now)
    return now;
  const auto spare = static_cast<duration::rep>(tokens - unsent_ - 1);
  return std::max(now, full_at_ - spare * interval());
}

void adaptive_rate::confirm(time_point at) {
  --unsent_;
  if (phase_ == phase::free)
    return;
  const auto could = std::max(full_at_, resume_);
  if (at > could)
    unused_ += at - could;
  full_at_ = std::max(full_at_, at) + interval();
}

void adaptive_rate::served(time_point now) {
  if (phase_ == phase::free)
    return;
  ++served_;
  switch (phase_) {
  case phase::free:
    return;
  case phase::search:
    return set_rate(rate_ + search_step);
  case phase::held:
    if (served_ < served_to_rise || now - failed_at_ < hold)
      return;
    phase_ = phase::rising;
    sustained_ = rate_;
    rising_since_ = now;
    return;
  case phase::rising:
    return set_rate(
      rate_
      + std::min(largest_step,
                 step_per_minute * in_minutes(now - rising_since_)));
  }
}

void adaptive_rate::limited(const limited_start& start, time_point now) {
  const auto failing = failing_rate(start.recent);
  if (phase_ != phase::free && start.sent <= failed_at_) {
    // It left before the complaint that we know: the same story, but its
    // rate may be nearer to the truth.
    set_rate(std::min(rate_, decrease * failing));
    resume_ = std::max(resume_, start.resume);
    return;
  }
  if (phase_ != phase::free && served_ == 0) {
    // We came back too early. That says nothing about the rate.
    failed_at_ = now;
    resume_ = start.resume;
    return;
  }
  const auto lower = lower_bound(failing, now);
  if (failing <= sustained_)
    sustained_ = 0; // It is borne no longer.
  in_a_row_ = phase_ == phase::held ? in_a_row_ + 1 : 0;
  phase_ = phase_ == phase::free ? phase::search : phase::held;
  const bool lost = in_a_row_ >= lost_after;
  const auto up = lost ? 0 : way_up;
  set_rate(std::min(decrease * failing, lower + (failing - lower) * up));
  failed_at_ = now;
  served_ = 0;
  resume_ = start.resume;
  unused_ = lost
              ? duration::zero()
              : std::max(duration::zero(), start.resume - now - counted_block);
}

/// What was counted in the last minute. A steady rate counts as up to one and
/// a half less there, since a minute holds whole starts only.
double adaptive_rate::failing_rate(std::size_t recent) const {
  const auto counted = static_cast<double>(recent);
  const bool same = (phase_ == phase::held || phase_ == phase::rising)
                    && counted <= rate_ && rate_ < counted + quantum;
  return std::clamp(same ? rate_ : counted, lowest, ceiling_);
}

/// A rate that the host seems to bear.
double adaptive_rate::lower_bound(double failing, time_point now) const {
  if (sustained_ > 0 && sustained_ < failing)
    return std::max(sustained_, overshoot * failing);
  switch (phase_) {
  case phase::free:
    return failing;
  case phase::search:
    return overshoot * failing;
  default: {
    const auto used = in_minutes(now - failed_at_ - unused_);
    const auto borne
      = static_cast<double>(served_) / std::max(used, shortest_look);
    return std::min(borne, failing);
  }
  }
}

void adaptive_rate::set_rate(double per_minute) {
  rate_ = std::clamp(per_minute, lowest, ceiling_);
}

std::optional<double> adaptive_rate::learned() const {
  if (phase_ == phase::free)
    return std::nullopt;
  return rate_;
}

void adaptive_rate::restore(std::uint32_t per_minute, time_point now) {
  if (per_minute == 0)
    return;
  phase_ = phase::held;
  set_rate(per_minute);
  failed_at_ = now;
  resume_ = now;
}

} // namespace purgatory::engine
