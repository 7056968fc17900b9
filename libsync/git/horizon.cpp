#include "libsync/git/horizon.hpp"

#include <algorithm>

namespace purgatory::git {

namespace {

constexpr duration day = std::chrono::hours(24);

duration scaled(duration length, double factor) {
  return std::chrono::duration_cast<duration>(
    std::chrono::duration<double>(length) * factor);
}

} // namespace

duration parked_offset(std::uint32_t number, bool initial,
                       const horizon_rules& rules) {
  auto at = duration::zero();
  for (std::uint32_t i = 0; i <= number; ++i) {
    if (i < rules.schedule.size())
      at = i == 0 && initial ? rules.initial_first_round : rules.schedule[i];
    else if (at >= rules.horizon)
      return at + day * (number + 1 - i);
    else
      at = std::min(
        {std::max(scaled(at, rules.multiplier), at + std::chrono::minutes(1)),
         at + day, std::max(rules.horizon, at)});
  }
  return at;
}

horizon::horizon(time_point arrived, std::uint32_t unit_rounds, duration window)
  : arrived_(arrived), rounds_at_arrival_(unit_rounds), window_(window) {}

bool horizon::is_initial(const horizon_rules& rules) const {
  return window_ > rules.window && window_ >= rules.initial_window;
}

bool horizon::window_is_over(std::uint32_t unit_rounds, bool has_urls,
                             time_point now, const horizon_rules& rules) const {
  if (now < window_end())
    return false;
  const auto wanted
    = is_initial(rules) ? rules.initial_window_rounds : rules.window_rounds;
  return !has_urls || unit_rounds >= rounds_at_arrival_ + wanted;
}

time_point horizon::next_round(const horizon_rules& rules, double share) const {
  if (!parked_at_)
    return time_point::max();
  const auto offset = parked_offset(parked_round_, is_initial(rules), rules);
  const auto before
    = parked_round_ == 0
        ? duration::zero()
        : parked_offset(parked_round_ - 1, is_initial(rules), rules);
  // The jitter of one distance is never more than a tenth of the gap, so that
  // rounds stay in order.
  const auto factor = rules.jitter * (2.0 * share - 1.0);
  return *parked_at_ + offset + scaled(offset - before, factor);
}

std::uint32_t horizon::needed_attempts(const horizon_rules& rules) const {
  return is_initial(rules) ? 2 * rules.max_attempts : rules.max_attempts;
}

time_point horizon::verdict_after(const horizon_rules& rules) const {
  return parked_at_.value_or(arrived_) + rules.horizon;
}

bool horizon::is_over(std::optional<std::size_t> outcomes, time_point now,
                      const horizon_rules& rules) const {
  if (!parked_at_ || now < verdict_after(rules))
    return false;
  if (!outcomes)
    return true;
  const auto wanted = needed_attempts(rules);
  return parked_round_ >= wanted
         && *outcomes >= std::min<std::size_t>(wanted, url_memory::max_recent);
}

void horizon::park(time_point now) {
  parked_at_ = now;
  parked_round_ = 0;
}

void horizon::extend(time_point now, duration rest) {
  arrived_ = std::max(arrived_, now + rest - window_);
}

entry_horizon horizon::image(live_clock at) const {
  entry_horizon result;
  result.arrived = at.stored(arrived_);
  result.rounds_at_arrival = rounds_at_arrival_;
  result.window
    = std::chrono::duration_cast<std::chrono::seconds>(window_).count();
  if (parked_at_)
    result.parked_at = at.stored(*parked_at_);
  result.parked_round = parked_round_;
  return result;
}

horizon horizon::from(const entry_horizon& image, live_clock at) {
  horizon result{at.moment_of(image.arrived), image.rounds_at_arrival,
                 std::chrono::seconds(image.window)};
  if (image.parked_at)
    result.parked_at_ = at.moment_of(*image.parked_at);
  result.parked_round_ = image.parked_round;
  return result;
}

} // namespace purgatory::git
