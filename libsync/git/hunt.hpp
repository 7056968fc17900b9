#pragma once

#include "libsync/git/clone_url.hpp"
#include "libsync/types.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace purgatory::git {

/// Whose objects a job brings. Pull request wants travel in a job of their
/// own (rules §3): a stranger's PR must not slow or spoil a state's fetch.
enum class wish : std::uint8_t { states, pull_requests };

/// One URL that may be asked in this round, and for what.
struct task {
  clone_url url;
  wish kind = wish::states;
  std::vector<oid> wants; ///< Not empty; newest event first.
};

/// A fetch under a lease.
struct running_job {
  host_key host;
  remote_url url;
  wish kind = wish::states;
  std::vector<oid> wants;
};

/// What to answer to a grant, and with what to start.
struct turn {
  bool start = false;
  bool defer = false; ///< Neither: withdraw.
  running_job job;    ///< Meaningful with start.
};

/// The bookkeeping of one unit's round (design.md §4.1): which URLs were
/// tried, where we wait, what runs. Which tasks are open is the caller's to
/// say, anew each time; nothing needed is ever remembered here.
///
/// - Domains are asked one after another, in the order of the tasks; the next
///   one only when all before said *queued* or cannot serve us now.
/// - A place is kept at every throttle that said *queued*.
/// - One place and one job per host; never the same object twice in flight.
/// - What was asked once is not asked again in the same round, whatever came.
class hunt {
public:
  /// `max_jobs`: jobs of this unit at once, at least 1.
  explicit hunt(std::size_t max_jobs) : max_jobs_(max_jobs) {}

  // -- observers --------------------------------------------------------------

  [[nodiscard]] bool in_round() const { return in_round_; }

  /// Rounds that ended with something still missing, since the last reset.
  [[nodiscard]] std::uint32_t attempts() const { return attempts_; }

  /// True while a place, a question or a job is out.
  [[nodiscard]] bool busy() const { return !places_.empty() || !jobs_.empty(); }

  /// `open` without what was tried in this round, redirects applied.
  [[nodiscard]] std::vector<task> untried(std::vector<task> open) const;

  /// The job under `lease`, or null.
  [[nodiscard]] const running_job* job(lease_id lease) const;

  // -- modifiers --------------------------------------------------------------

  void begin_round();

  /// Ends the round; counts an attempt if something is `still_missing`.
  void end_round(bool still_missing);

  /// Restores the count after a restart.
  void restore_attempts(std::uint32_t attempts) { attempts_ = attempts; }

  /// New information came: backoff starts afresh (rules §7).
  void reset_attempts() { attempts_ = 0; }

  /// The task whose host is to be asked for a turn now, if any.
  std::optional<task> next_to_ask(const std::vector<task>& open);

  /// That host said *queued*.
  void queued(const host_key& host);

  /// That host could not be asked, or forgot us.
  void lost_place(const host_key& host);

  /// A lease was granted: start, defer or withdraw.
  turn granted(const host_key& host, lease_id lease,
               const std::vector<task>& open);

  /// The job's server has answered. `tried` marks its URL for this round. The
  /// job still covers its objects until settled.
  void answered(lease_id lease, bool tried);

  /// What `from` redirects to takes its place for this round; false when the
  /// chain is too long.
  bool redirect(const remote_url& from, const clone_url& to);

  /// All consequences of the job are known.
  void settle(lease_id lease);

  /// Hosts whose place is not needed any more; they are forgotten.
  std::vector<host_key> take_useless_places(const std::vector<task>& open);

private:
  enum class place : std::uint8_t { asking, queued, deferred, may_ask_again };

  struct job_state {
    running_job job;
    bool answered = false;
  };

  struct detour {
    clone_url to;
    int hops = 1;
  };

  std::vector<oid> not_in_flight(const std::vector<oid>& wants) const;
  bool job_at(const host_key& host) const;

  std::size_t max_jobs_;
  bool in_round_ = false;
  std::uint32_t attempts_ = 0;
  std::set<std::pair<std::string, wish>> tried_;
  std::map<remote_url, detour> detours_;
  std::map<host_key, place> places_;
  std::map<lease_id, job_state> jobs_;
};

} // namespace purgatory::git
