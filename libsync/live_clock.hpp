#pragma once

#include "libsync/types.hpp"

namespace purgatory {

/// Translates between the monotonic clock of this run and live time, which
/// goes on over all runs and stands still while the daemon is down (rules §7).
struct live_clock {
  time_point start;          ///< Of this run.
  live_seconds at_start = 0; ///< Live time by then: the journal's last stamp.

  [[nodiscard]] live_seconds at(time_point now) const {
    return at_start
           + std::chrono::floor<std::chrono::seconds>(now - start).count();
  }

  [[nodiscard]] time_point moment_of(live_seconds live) const {
    return start + std::chrono::seconds(live - at_start);
  }
};

} // namespace purgatory
