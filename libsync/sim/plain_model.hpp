#pragma once

#include "libsync/sim/summary.hpp"
#include "libsync/sim/world.hpp"

#include <string>

namespace purgatory::sim {

/// How the algorithm of the user's notes, taken literally, fares in a world
/// (requirements P1 to P14): one queue of identifiers polled every second, a
/// throttle per domain that is checked and then used, a queue per domain that
/// only a new place or a completion sets going, 30 minutes to live, seven days
/// refused after that. Crashes are not played: it keeps nothing.
summary run_plain(const world& what);

/// Both figures side by side, and what the plain model does better.
struct comparison {
  summary ours;
  summary plain;
  /// Released by the plain model and not by ours; should be empty.
  std::vector<std::string> lost;
  /// Released by both: the latest of ours after the plain model's.
  duration latest_after = duration::zero();
  std::string latest;
  duration bound = duration::zero(); ///< That `latest_after` may not exceed.
};

/// Ours may be later than the plain model by what politeness costs: the longest
/// block of a host for which somebody waits (30 minutes; 2 hours where names or
/// certificates fail), the longest pause of a unit (2 minutes, a tenth more),
/// and the time that the starts of ours need under the limits at the fullest
/// host.
comparison compare(const world& what);

std::string to_text(const comparison& of);
std::string to_json(const comparison& of);

} // namespace purgatory::sim
