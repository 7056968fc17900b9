#pragma once

#include "libsync/sim/observer.hpp"
#include "libsync/types.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace purgatory::sim {

/// Percentiles of a set of times.
struct spread {
  std::size_t count = 0;
  duration p50 = duration::zero();
  duration p90 = duration::zero();
  duration p99 = duration::zero();
  duration max = duration::zero();
};

spread spread_of(std::vector<duration> values);

/// One host in a summary.
struct host_summary {
  std::string name;
  host_tally seen;
  /// Ideal time of its starts by the time in which somebody waited; nothing
  /// when nobody had to wait for long (T2).
  std::optional<double> utilisation;
};

/// How a simulation went; the formulas are in docs/simulation.md.
struct summary {
  std::uint64_t seed = 0;
  duration simulated = duration::zero();
  std::uint64_t steps = 0;
  std::uint64_t trace = 0; ///< Equal runs have equal traces.
  std::uint64_t crashes = 0;

  std::size_t events = 0;        ///< States and pull requests offered.
  std::size_t released = 0;      ///< Of them, at the relay.
  std::size_t reachable = 0;     ///< Of them, and not taken back or outdone.
  std::size_t reached = 0;       ///< Reachable and released.
  std::size_t announcements = 0; ///< Released.
  std::uint64_t verdicts = 0;
  std::vector<std::string> missed; ///< Reachable, not released; at most 20.

  spread lag;    ///< Release after the clairvoyant bound.
  spread waited; ///< Release after the data was available.
  duration makespan = duration::zero(); ///< Longest `waited`.
  duration bound = duration::zero();    ///< The same for the bound (T5).

  std::uint64_t starts = 0;
  std::uint64_t limited = 0;          ///< Answered 429.
  std::uint64_t starts_reachable = 0; ///< For units with reachable data.
  std::uint64_t starts_useless = 0;   ///< Of them (T6).
  std::uint64_t starts_clairvoyant = 0;
  std::uint32_t starts_absent = 0; ///< Most at one URL of a unit without data.

  std::size_t awake = 0; ///< Identifiers, at the end.
  std::size_t asleep = 0;
  std::vector<host_summary> hosts;
  std::map<std::string, std::uint64_t> facts;
  std::uint64_t violation_count = 0;
  std::vector<violation> violations;

  /// When each event was at the relay, since the begin; for comparisons.
  std::map<std::string, duration> released_at;
  /// Not released because a newer one was, or taken back.
  std::set<std::string> outdone;
};

/// For people, a page; with the formulas.
std::string to_text(const summary& of);
/// The same facts as JSON.
std::string to_json(const summary& of);

} // namespace purgatory::sim
