#pragma once

#include "libsync/config.hpp"
#include "libsync/git/horizon.hpp"
#include "libsync/types.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace purgatory::git {

/// What the plan of an identifier has to know of the configuration. Times in
/// parentheses are the defaults of rules §11.1.
struct plan_settings {
  duration direct_delay = std::chrono::seconds(180);
  duration sync_delay = std::chrono::milliseconds(500);
  duration backoff_base = std::chrono::seconds(20);
  duration backoff_cap = std::chrono::seconds(120);
  double jitter = 0.1;                              ///< 0 to 1.
  duration loop_interval = std::chrono::seconds(1); ///< Rounds backoff up.
  unix_seconds max_future_skew = 15 * 60;
  std::size_t max_refs = 10'000;   ///< Of one state.
  std::size_t unit_concurrent = 3; ///< Jobs of one unit at once.
  listing require_listing = listing::none;
  std::set<std::string> own_origins; ///< Canonical `host[:port]`.
  std::set<std::string> deny_hosts;  ///< Canonical; never asked.
  duration hedge_delay = std::chrono::seconds(10);
  horizon_rules life;
  bool initial_sync = false; ///< New entries get the long window.
  duration announcement_retention = std::chrono::hours(24);
  duration orphan_ttl = std::chrono::hours(7 * 24);
  duration verdict_ttl = std::chrono::hours(7 * 24);
  unix_seconds tombstone_ttl = 30 * 24 * 60 * 60;
};

/// Caps of rules §4.2; beyond them the new event is refused.
inline constexpr std::size_t max_urls_event = 16;
inline constexpr std::size_t max_urls_unit = 32;
inline constexpr std::size_t max_hosts_unit = 8;
inline constexpr std::size_t max_states_author = 8;
inline constexpr std::size_t max_entries_identifier = 500;
inline constexpr std::size_t max_orphans_key = 4;
inline constexpr std::size_t max_pull_requests_author = 50;

} // namespace purgatory::git
