#pragma once

#include "libsync/journal.hpp"
#include "libsync/live_clock.hpp"
#include "libsync/ports.hpp"
#include "libsync/types.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace purgatory::git {

/// What a unit remembers of one of its URLs and how long it leaves it alone
/// (rules §8.4). Classes without a real outcome change nothing.
///
/// - The first 4 refused, timeout, server and dns outcomes and not_here of one
///   object, and the first 2 of no_repo, are retried with the unit's rounds;
///   then the pair has a back-off of its own. Other classes have it at once.
/// - A missing object blocks that object only; a URL answers for the others.
/// - A success forgets all failures. Its worth halves every 24 hours.
class url_memory {
public:
  static constexpr std::size_t max_absent = 2000; ///< Objects remembered.
  static constexpr std::size_t max_recent = 16;   ///< Outcomes remembered.

  // -- observers --------------------------------------------------------------

  /// Not asked before, whatever is wanted. `waived`: in a parked round the
  /// back-off of not_here, no_repo, server and timeout does not count.
  [[nodiscard]] time_point allowed_at(bool waived) const;

  /// Not asked for this object before.
  [[nodiscard]] time_point allowed_at(const oid& id, bool waived) const;

  /// Successes, each halved every 24 hours since.
  [[nodiscard]] double score(time_point now) const;

  [[nodiscard]] std::uint32_t failures() const { return failures_; }
  [[nodiscard]] fetch_class last() const { return last_; }
  [[nodiscard]] std::optional<time_point> last_ok() const { return last_ok_; }

  /// Real outcomes at or after `since`; counts up to `max_recent`.
  [[nodiscard]] std::size_t outcomes_since(time_point since) const;

  // -- modifiers --------------------------------------------------------------

  /// A job at this URL ended. `share` in [0, 1) moves back-off by up to ± 10 %.
  void ended(const fetch_outcome& result, time_point now, double share);

  /// The host failed `probes` tries of others, ever. Each new one is an
  /// outcome of this URL, too. True if there was one.
  bool saw_probes(std::uint64_t probes, time_point now);

  /// The host answers again: waits that were its fault are over.
  void host_recovered();

  /// Everything may be asked at once; what is known stays.
  void forgive();

  /// Forgets objects that are not in `needed`.
  void keep_only(const std::set<oid>& needed);

  /// The unit of `other` has become ours: the longer wait wins.
  void unite(const url_memory& other);

  // -- storing ----------------------------------------------------------------

  [[nodiscard]] pair_memory image(live_clock at) const;
  static url_memory from(const pair_memory& image, live_clock at);

private:
  struct absence {
    std::uint32_t failures = 0;
    time_point next_allowed;
  };

  void note_outcome(time_point now);
  void miss(const oid& id, time_point now, double share);

  fetch_class last_ = fetch_class::ok;
  std::uint32_t failures_ = 0;
  time_point next_allowed_;
  double score_ = 0;
  time_point scored_at_;
  std::optional<time_point> last_ok_;
  std::uint64_t host_probes_ = 0;
  std::deque<time_point> recent_; ///< Of real outcomes, oldest first.
  std::map<oid, absence> absent_;
};

} // namespace purgatory::git
