#pragma once

#include "libsync/engine/host_schedule.hpp"
#include "libsync/git/admission.hpp"
#include "libsync/nostr/event.hpp"
#include "libsync/sim/remote_host.hpp"
#include "libsync/types.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace purgatory::sim {

/// Something that must never happen, did.
struct violation {
  duration at; ///< Since the begin of the simulation.
  std::string what;
};

/// What one host saw, counted at its socket.
struct host_tally {
  std::uint64_t starts = 0;
  std::array<std::uint64_t, fetch_class_count> by_class{};
  std::uint32_t in_flight = 0;
  std::uint32_t max_in_flight = 0;
  std::uint32_t max_in_minute = 0;
  duration busy = duration::zero();    ///< Sum over jobs.
  duration backlog = duration::zero(); ///< In which somebody had to wait.
  duration ideal = duration::zero();   ///< That the same starts need at least.
};

/// Starts of one unit, told apart by their use (T6).
struct unit_tally {
  std::uint32_t starts = 0;
  std::uint32_t useless = 0; ///< Neither an object nor new knowledge.
  std::uint32_t most_at_one_url = 0;
};

/// Stands outside the process at the sockets of the hosts: counts, and checks
/// what can be seen there, whatever dies (rules §15.1, §15.8).
class observer {
public:
  explicit observer(time_point begin) : begin_(begin) {}

  // -- what is seen -----------------------------------------------------------

  /// Limits of `host` from now on.
  void limits(const host_key& host, const engine::start_limits& now_in_force,
              time_point now);
  void started(const host_key& host, const unit_key& who, const remote_url& url,
               time_point now);
  /// And how it went.
  void ended(const host_key& host, const unit_key& who, const remote_url& url,
             const job_course& course, time_point now);
  /// The process died with the job.
  void aborted(const host_key& host, const unit_key& who, time_point started,
               time_point now);
  /// Somebody has to wait for a turn there, or nobody any more.
  void backlog(const host_key& host, bool is_there, time_point now);

  void check(bool good, const std::string& what, time_point now);

  /// Part of the trace: equal runs have equal hashes.
  void note(std::string_view what, time_point now);

  // -- what is known ----------------------------------------------------------

  [[nodiscard]] const std::map<host_key, host_tally>& hosts() const {
    return tallies_;
  }
  [[nodiscard]] const std::map<unit_key, unit_tally>& units() const {
    return units_;
  }
  [[nodiscard]] const std::vector<violation>& violations() const {
    return violations_;
  }
  [[nodiscard]] std::uint64_t violation_count() const { return violated_; }
  /// Real outcomes that this URL had, for whomever of `repo`.
  [[nodiscard]] std::uint64_t outcomes(const identifier& repo,
                                       const remote_url& url) const;
  [[nodiscard]] std::uint64_t trace() const { return trace_; }
  [[nodiscard]] std::uint64_t starts() const { return starts_; }

  /// Ends what is still open.
  void close(time_point now);

private:
  struct limit_change {
    time_point from;
    engine::start_limits limits;
  };
  struct watched {
    std::deque<time_point> minute;
    std::deque<time_point> hour;
    std::deque<time_point> day;
    std::deque<limit_change> limits;
    std::map<unit_key, int> running;
    fetch_class last = fetch_class::ok;
    std::optional<time_point> waiting_since;
    std::uint64_t starts_when_waiting = 0;
  };
  struct pair_knowledge {
    fetch_class last = fetch_class::ok;
    std::uint32_t starts = 0;
    bool known = false;
    std::set<oid> absent;
  };

  void check_windows(const host_key& host, watched& seen, const host_tally& t,
                     time_point now);
  void end_backlog(const host_key& host, watched& seen, time_point now);
  bool brings_news(watched& seen, pair_knowledge& pair,
                   const job_course& course);

  time_point begin_;
  std::map<host_key, watched> seen_;
  std::map<host_key, host_tally> tallies_;
  std::map<unit_key, unit_tally> units_;
  std::map<identifier, std::map<remote_url, std::uint64_t>> outcomes_;
  std::map<unit_key, std::map<remote_url, pair_knowledge>> pairs_;
  std::vector<violation> violations_;
  std::uint64_t violated_ = 0;
  std::uint64_t starts_ = 0;
  std::uint64_t trace_ = 14695981039346656037ULL;
};

} // namespace purgatory::sim
