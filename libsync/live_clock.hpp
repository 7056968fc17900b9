#pragma once

#include "libsync/types.hpp"

namespace purgatory {

/// Translates between the monotonic clock of this run and live time, which
/// goes on over all runs and stands still while the daemon is down (rules §7).
/// Any moment of which both times are known will do for its start.
struct live_clock {
  time_point start;          ///< Of this run, or a later moment.
  live_seconds at_start = 0; ///< Live time by then.

  [[nodiscard]] live_seconds at(time_point now) const {
    return at_start
           + std::chrono::floor<std::chrono::seconds>(now - start).count();
  }

  /// What is stored of a due time: rounded up, so that nothing is early.
  [[nodiscard]] live_seconds stored(time_point due) const {
    return at_start
           + std::chrono::ceil<std::chrono::seconds>(due - start).count();
  }

  [[nodiscard]] time_point moment_of(live_seconds live) const {
    return start + std::chrono::seconds(live - at_start);
  }
};

} // namespace purgatory
