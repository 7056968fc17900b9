#include "messages/messages.hpp"

#include <array>

namespace purgatory {

namespace {

template <std::size_t N, class Enum>
const char* name_of(const std::array<const char*, N>& names, Enum value) {
  return names.at(static_cast<std::size_t>(value));
}

} // namespace

void set_limits::take_over(const set_limits& later) {
  const auto take = [](auto& value, const auto& news) {
    if (news)
      value = news;
  };
  take(concurrent, later.concurrent);
  take(per_minute, later.per_minute);
  take(per_hour, later.per_hour);
  take(per_day, later.per_day);
}

engine::start_limits applied(const set_limits& wanted,
                             engine::start_limits limits) {
  return {wanted.concurrent.value_or(limits.concurrent),
          wanted.per_minute.value_or(limits.per_minute),
          wanted.per_hour.value_or(limits.per_hour),
          wanted.per_day.value_or(limits.per_day)};
}

const char* to_string(enqueue_outcome value) {
  static constexpr std::array<const char*, 2> names = {"granted", "queued"};
  return name_of(names, value);
}

const char* to_string(grant_decision value) {
  static constexpr std::array<const char*, 3> names
    = {"start", "defer", "withdraw"};
  return name_of(names, value);
}

const char* to_string(reclaim_outcome value) {
  static constexpr std::array<const char*, 2> names = {"reclaimed", "running"};
  return name_of(names, value);
}

const char* to_string(counter value) {
  static constexpr std::array<const char*, 7> names = {
    "purgatory_sync_attempts_total",   "purgatory_sync_oids_fetched_total",
    "purgatory_domain_requests_total", "purgatoryd_wire_requests_total",
    "purgatoryd_fates_total",          "purgatoryd_refused_total",
    "purgatoryd_fetch_bytes_total",
  };
  return name_of(names, value);
}

} // namespace purgatory
