#pragma once

#include "libsync/engine/host_schedule.hpp"
#include "libsync/types.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace purgatory::sim {

/// A server that bears so many requests a minute and tells nobody.
struct light_limit {
  std::uint32_t per_minute = 20;
  bool tells = false;              ///< 429 comes with Retry-After.
  std::optional<duration> doubles; ///< When it bears twice as much.
};

struct light_options {
  std::uint64_t seed = 1;
  std::size_t hosts = 10;
  std::size_t owners = 100;
  std::size_t units_per_owner = 5; ///< Each wants all hosts, for ever.
  engine::start_limits limits;
  duration latency_min = std::chrono::milliseconds{200};
  duration latency_max = std::chrono::seconds{3};
  std::optional<light_limit> hidden;
  std::uint64_t starts = 100'000; ///< Ends with so many, or
  duration length = std::chrono::hours{24 * 365 * 100}; ///< at this time.
  bool changes = false; ///< Limits change now and then, throttles restart.
};

/// What an observer saw at the sockets of the hosts.
struct light_summary {
  std::uint64_t starts = 0;
  duration simulated = duration::zero();
  std::uint64_t violations = 0; ///< T1.
  std::string first_violation;
  std::uint64_t trace = 0;
  double utilisation = 0; ///< T2: ideal by real time for as many starts.
  double jain = 0;        ///< T11: over units, at the first host.
  /// T14, of what was sent after the first ten minutes.
  double limited = 0;               ///< Share answered 429.
  double goodput = 0;               ///< By what the host bears.
  std::optional<duration> recovery; ///< Until 80 % of the doubled limit.
};

/// Subjects without git: only who waits where for whom. The same schedules of
/// hosts as in the daemon, nothing else; for the figures of design.md §11 that
/// concern starts alone, and for speed.
light_summary run_light(const light_options& options);

} // namespace purgatory::sim
