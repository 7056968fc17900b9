#include "libsync/engine/token_bucket.hpp"

#include <algorithm>

namespace purgatory::engine {

namespace {

/// Rounded up, so that rounding never lets a start through too early.
duration interval_of(std::uint32_t per_minute) {
  const duration minute = std::chrono::minutes{1};
  return (minute + duration{per_minute - 1}) / per_minute;
}

} // namespace

token_bucket::token_bucket(std::uint32_t per_minute, std::uint32_t burst)
  : interval_(interval_of(per_minute)), burst_(burst) {}

time_point token_bucket::not_before(time_point now) {
  if (unsent_ >= burst_)
    return never;
  if (full_at_ <= now)
    return now;
  const auto spare = static_cast<duration::rep>(burst_ - unsent_ - 1);
  return full_at_ - spare * interval_;
}

void token_bucket::confirm(time_point at) {
  --unsent_;
  full_at_ = std::max(full_at_, at) + interval_;
}

void token_bucket::set_ceiling(std::uint32_t starts) {
  interval_ = interval_of(starts);
}

} // namespace purgatory::engine
