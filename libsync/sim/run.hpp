#pragma once

#include "libsync/git/effects.hpp"
#include "libsync/sim/summary.hpp"
#include "libsync/sim/world.hpp"

#include <functional>

namespace purgatory::sim {

struct run_options {
  /// All invariants are checked every so many steps, or as many as there are
  /// identifiers, if they are more; those that concern what changed always.
  std::uint64_t check_every = 100;
  /// Gets what the daemon would log, with the time since the begin.
  std::function<void(duration, const git::fact&)> log = {};
};

/// Runs a world to its end. Nothing but the world decides what happens.
summary run(const world& what, const run_options& options = {});

} // namespace purgatory::sim
