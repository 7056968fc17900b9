#pragma once

#include "libsync/types.hpp"

#include <cstdint>

namespace purgatory::engine {

/// How long to wait after the nth failure in a row (rules §7): doubling from
/// `base` up to `cap`, then spread so that many waiters do not return at once.
struct backoff {
  duration base = std::chrono::seconds{20};
  duration cap = std::chrono::seconds{120};
  /// The wait is multiplied by U(1 - jitter, 1 + jitter); 0 to 1.
  double jitter = 0.1;

  /// The wait after failure `n`, counted from 1 (0 means no wait). `draw` is
  /// a uniform random number in [0, 1) from the caller's generator.
  [[nodiscard]] duration after(std::uint32_t n, double draw) const;
};

/// `due`, moved up to the next multiple of `interval` on the clock, so that
/// waits end together and cost one wake-up. An interval of 0 changes nothing.
[[nodiscard]] time_point round_up(time_point due, duration interval);

} // namespace purgatory::engine
