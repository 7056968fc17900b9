#pragma once

#include <cstdint>

namespace purgatory::engine {

/// Ceilings of one host (rules §8.2). A host of its own limits, or one that is
/// denied, is told here by whoever knows the configuration.
struct start_limits {
  std::uint32_t concurrent = 5;  ///< Leases at once; 0: nothing starts.
  std::uint32_t per_minute = 30; ///< Starts in any minute; 0: no limit.
  std::uint32_t per_hour = 0;    ///< Likewise.
  std::uint32_t per_day = 0;     ///< Likewise.
  friend bool operator==(const start_limits&, const start_limits&) = default;
};

} // namespace purgatory::engine
