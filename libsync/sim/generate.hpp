#pragma once

#include "libsync/sim/world.hpp"

#include <cstddef>
#include <cstdint>

/// Makers of worlds. The same arguments give the same world everywhere.
namespace purgatory::sim {

/// Integers and shares from a seed, the same with every library.
class dice {
public:
  explicit dice(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();
  /// From `least` to `most`, both included.
  std::uint64_t between(std::uint64_t least, std::uint64_t most);
  bool chance(double share);
  milliseconds time(milliseconds least, milliseconds most);

private:
  std::uint64_t state_;
};

struct random_options {
  std::uint64_t seed = 1;
  std::size_t units = 10; ///< From 1.
  std::size_t hosts = 4;  ///< From 1.
  std::size_t days = 7;   ///< From 1.
  bool faults = true;     ///< Outages, lies, crashes; else a calm world.
  /// Faults end after four sevenths of the time; then nothing reachable may
  /// stay behind. What happens is such that it can be judged.
  bool liveness = false;
  /// Nothing that the plain model does not know: other owners of the same
  /// name, restarts, changes of limits.
  bool plain = false;
};

/// Anything may happen.
world generate_random(const random_options& options);

struct migration_options {
  std::uint64_t seed = 1;
  std::size_t repositories = 1858;
  std::size_t hosts = 11;
  std::size_t days = 7;
};

/// A relay moves to a new home: the population of rules §14 scaled to any
/// size, one bulk host that throttles, two hosts down for 6 h, one for 2 days.
world generate_migration(const migration_options& options);

} // namespace purgatory::sim
