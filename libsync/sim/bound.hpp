#pragma once

#include "libsync/sim/claims.hpp"
#include "libsync/sim/scene.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace purgatory::sim {

/// What the world allows for one state or pull request (rules §13.3).
struct possibility {
  event_id id;
  unit_key unit;            ///< Author or first owner concerned.
  time_point arrived;       ///< First offer.
  time_point available;     ///< Debounced, and its data up for the first time.
  time_point earliest;      ///< Release by the clairvoyant bound.
  std::uint32_t starts = 0; ///< Of a scheduler that knows host up-times.
  bool is_reachable = false;
  host_key where; ///< Host that alone has what it needs, if there is one.
};

/// Judges a world after it has run.
///
/// *Reachable*: for each object there is a URL at which it can be got: its host
/// is up at the end, or was up for one stretch of at least 45 minutes (probe
/// cap and a quarter of an hour in the queue) after object and event were
/// there; or somebody pushed it.
///
/// *Bound*: each event needs one start at a host; at each host they are served
/// in order of `available`, the k-th not before
///   start(k) = max(available(k), start(k - limit) + 60.2 s,
///                  start(k - slots) + shortest job),
/// moved out of the host's outages; released one shortest job later. Events
/// that several hosts could help count at none of them. `limit` is the smaller
/// of ours and the hidden one. No scheduler can do better.
///
/// *Starts*: the URLs in order of tags, hosts that are down left out, until all
/// objects are found.
std::vector<possibility> judge(scene& after,
                               const std::map<event_id, time_point>& offered,
                               const std::map<event_id, provenance>& from);

/// What a bound says, for people.
extern const char* const bound_formula;

} // namespace purgatory::sim
