#include "libsync/engine/host_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace purgatory::engine {

namespace {

/// So long a host without block and work is kept (rules §8.3).
constexpr duration idle_time = std::chrono::minutes{10};

using standing = host_health::standing;

} // namespace

host_schedule::host_schedule(const schedule_settings& settings,
                             const start_limits& limits)
  : limits_(limits),
    minute_(limits.per_minute, settings.minute + settings.guard),
    hour_(limits.per_hour, std::chrono::hours{1} + settings.guard),
    day_(limits.per_day, std::chrono::hours{24} + settings.guard),
    pace_(limits.per_minute, settings.minute + settings.guard),
    health_(settings.caps), slots_(settings.serial, limits.concurrent,
                                   std::make_unique<rate_set>(rate_set::members{
                                     minute_, hour_, day_, pace_})) {}

host_view host_schedule::view(time_point now) const {
  host_view result;
  if (health_.stands(now) == standing::blocked)
    result.blocked_until = health_.blocked_until();
  result.failed_probes = health_.failed_probes();
  return result;
}

std::optional<time_point> host_schedule::wake_at(time_point now) {
  std::optional<time_point> at;
  switch (health_.stands(now)) {
  case standing::blocked:
    at = health_.blocked_until();
    break;
  case standing::probation:
    if (!probe_)
      at = slots_.wake_at(now);
    break;
  case standing::open:
    at = slots_.wake_at(now);
    break;
  }
  if (at && quiet_until_)
    at = std::max(*at, *quiet_until_);
  return at;
}

std::optional<time_point> host_schedule::idle_at() const {
  if (!idle_since_ || idle_told_)
    return std::nullopt;
  // Nobody else remembers what hour and day windows count.
  return std::max(
    {*idle_since_ + idle_time, hour_.empty_at(), day_.empty_at()});
}

// -- places and leases -------------------------------------------------------

void host_schedule::enqueue(const subject& who, const subject_owner& owner,
                            lane turn) {
  slots_.enqueue(who, owner, turn);
  health_.awaited();
}

bool host_schedule::defer(lease_id lease) {
  if (!slots_.defer(lease))
    return false;
  forget(lease);
  return true;
}

bool host_schedule::withdraw(lease_id lease) {
  if (!slots_.withdraw(lease))
    return false;
  forget(lease);
  return true;
}

bool host_schedule::reclaim(lease_id lease) {
  if (!slots_.reclaim(lease))
    return false;
  forget(lease);
  return true;
}

bool host_schedule::started(lease_id lease, time_point at) {
  static_cast<void>(minute_.not_before(at)); // Forgets what is older.
  const auto recent = minute_.sent();
  if (!slots_.started(lease, at))
    return false;
  requests_[lease] = {at, recent};
  return true;
}

bool host_schedule::completed(lease_id lease, host_signal signal,
                              std::optional<std::chrono::seconds> retry_after,
                              time_point now) {
  const auto* holder = slots_.holder_of(lease);
  if (holder == nullptr)
    return false;
  const std::string who = *holder;
  const auto ended = requests_[lease];
  const host_outcome outcome{signal, retry_after, who, probe_ == lease,
                             ended.sent.value_or(now)};
  forget(lease);
  slots_.completed(lease);
  learn(ended, outcome, now);
  return true;
}

void host_schedule::learn(const request& ended, const host_outcome& outcome,
                          time_point now) {
  if (const auto news = health_.ended(outcome, company_of(outcome), now)) {
    news_.push_back(*news);
    unblocked_told_ = false;
  }
  if (outcome.signal == host_signal::good)
    pace_.served(now);
  if (outcome.signal == host_signal::limited)
    pace_.limited(
      {outcome.sent, ended.recent, health_.blocked_until().value_or(now)}, now);
}

host_company host_schedule::company_of(const host_outcome& outcome) const {
  auto others = slots_.subjects() - (slots_.knows(outcome.who) ? 1 : 0);
  for (const auto failing : health_.failing(outcome.signal))
    if (failing != outcome.who && slots_.knows(failing))
      --others;
  return {others, slots_.waiting() > 0};
}

void host_schedule::forget(lease_id lease) {
  requests_.erase(lease);
  if (probe_ == lease)
    probe_.reset();
}

// -- limits and the past -----------------------------------------------------

void host_schedule::set_limits(const start_limits& limits) {
  limits_ = limits;
  slots_.set_limits(limits.concurrent, limits.per_minute);
  hour_.set_ceiling(limits.per_hour);
  day_.set_ceiling(limits.per_day);
  pace_.set_ceiling(limits.per_minute);
}

void host_schedule::seed(std::vector<inherited_lease> inherited) {
  for (const auto& old : inherited)
    if (old.running)
      requests_[old.lease] = {old.started, 0};
  slots_.seed(std::move(inherited));
}

host_image host_schedule::image() const {
  const auto learned = pace_.learned().value_or(0);
  return {health_.image(), static_cast<std::uint32_t>(std::floor(learned))};
}

void host_schedule::restore(const host_image& image, time_point now) {
  health_.restore(image.health, now);
  pace_.restore(image.learned_per_minute, now);
}

// -- turns and news ----------------------------------------------------------

std::vector<grant> host_schedule::pump(time_point now) {
  std::vector<grant> grants;
  const auto stands = health_.stands(now);
  if (stands == standing::open)
    probe_.reset();
  if (!quiet_until_ || now >= *quiet_until_) {
    if (stands == standing::open)
      grants = slots_.pump(now);
    else if (stands == standing::probation && !probe_)
      grants = slots_.pump(now, 1);
  }
  for (const auto& each : grants)
    requests_.try_emplace(each.lease);
  if (stands == standing::probation && !grants.empty())
    probe_ = grants.front().lease;
  look_for_news(now);
  return grants;
}

void host_schedule::look_for_news(time_point now) {
  const auto stands = health_.stands(now);
  const bool nobody = slots_.ready() == 0 && slots_.leases() == 0;
  if (stands == standing::probation && nobody
      && !std::exchange(unblocked_told_, true))
    news_.push_back(host_event::unblocked);

  if (stands == standing::blocked || slots_.subjects() > 0) {
    idle_since_.reset();
    idle_told_ = false;
    return;
  }
  if (!idle_since_)
    idle_since_ = now;
  if (const auto at = idle_at(); at && *at <= now) {
    idle_told_ = true;
    news_.push_back(host_event::idle);
  }
}

std::vector<host_event> host_schedule::take_news() {
  return std::exchange(news_, {});
}

std::string host_schedule::check_invariants() const {
  if (requests_.size() != slots_.leases())
    return "a request for each lease";
  for (const auto& [lease, what] : requests_)
    if (!slots_.has_lease(lease))
      return "a request without lease";
  if (probe_ && !slots_.has_lease(*probe_))
    return "a probe without lease";
  if (minute_.unsent() != hour_.unsent() || minute_.unsent() != day_.unsent()
      || minute_.unsent() != pace_.unsent())
    return "a start is booked everywhere";
  if (auto problem = health_.check_invariants(); !problem.empty())
    return problem;
  return slots_.check_invariants();
}

} // namespace purgatory::engine
