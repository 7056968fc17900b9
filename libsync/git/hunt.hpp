#pragma once

#include "libsync/git/clone_url.hpp"
#include "libsync/types.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace purgatory::git {

/// Whose objects a job brings. Pull request wants travel in a job of their
/// own (rules §3): a stranger's PR must not slow or spoil a state's fetch.
enum class wish : std::uint8_t { states, pull_requests };

/// One URL that may be asked in this round, and for what.
struct task {
  clone_url url;
  remote_url listed; ///< As announced; `url` may be where that redirects to.
  wish kind = wish::states;
  pubkey target;          ///< Owner of the tenant that gets the objects.
  std::vector<oid> wants; ///< Not empty; newest event first.
  bool own = false;       ///< Of the announcement of an author of these events.
};

/// A fetch under a lease.
struct running_job {
  host_key host;
  remote_url url;
  remote_url listed;
  wish kind = wish::states;
  pubkey target;
  std::vector<oid> wants;
  bool own = false;
  unit_key subject; ///< The name under which the lease was granted.
};

/// What to answer to a grant, and with what to start.
struct turn {
  bool start = false;
  bool defer = false; ///< Neither: withdraw.
  running_job job;    ///< Meaningful with start.
};

struct hunt_limits {
  std::size_t max_jobs = 3; ///< Of this unit at once, at least 1.
  duration hedge_delay = std::chrono::seconds(10);
};

/// A place in the queue of a host, under the name that it was asked for.
struct queue_place {
  unit_key subject;
  host_key host;
};

/// The bookkeeping of one unit's round (design.md §4.1): which URLs were
/// tried, where we wait, what runs. Which tasks are open is the caller's to
/// say, anew each time; nothing needed is ever remembered here.
///
/// - Domains are asked one after another, in the order of the tasks; the next
///   one only when all before said *queued* or cannot serve us now.
/// - A place is kept at every throttle that said *queued*; at a blocked host
///   also from one round to the next.
/// - One place and one job per host. An object is in flight twice only as a
///   hedge: the first job has had no pack byte for `hedge_delay`.
/// - What was asked once is not asked again in the same round, whatever came.
/// - The last of `max_jobs` is for a URL of an author's own announcement while
///   one of those is open and none runs (rules §4.2).
class hunt {
public:
  hunt(unit_key name, hunt_limits limits)
    : name_(std::move(name)), limits_(limits) {}

  // -- observers --------------------------------------------------------------

  [[nodiscard]] const unit_key& name() const { return name_; }
  [[nodiscard]] bool in_round() const { return in_round_; }

  /// Rounds that ended with something still missing, since the last reset.
  [[nodiscard]] std::uint32_t attempts() const { return attempts_; }

  /// True while a place, a question or a job is out.
  [[nodiscard]] bool busy() const { return !places_.empty() || !jobs_.empty(); }

  [[nodiscard]] bool has_jobs() const { return !jobs_.empty(); }

  /// True while a job runs that may still end within its round: rounds do not
  /// wait for jobs older than a minute (rules §1).
  [[nodiscard]] bool has_young_job(time_point now) const;

  /// True if something in this round was tried, by us or by a host's probe.
  [[nodiscard]] bool tried_any() const { return tried_any_; }

  /// `open` without what was tried in this round, redirects applied.
  [[nodiscard]] std::vector<task> untried(std::vector<task> open) const;

  /// True when nothing can be tried at `host` for a minute at least.
  [[nodiscard]] bool is_blocked(const host_key& host, time_point now) const;

  [[nodiscard]] bool has_place(const host_key& host) const {
    return places_.contains(host);
  }

  /// True when the answer of a throttle is outstanding.
  [[nodiscard]] bool is_asking() const;

  /// The job under `lease`, or null.
  [[nodiscard]] const running_job* job(lease_id lease) const;

  /// True when a job fetches `id`.
  [[nodiscard]] bool is_in_flight(const oid& id) const;

  /// When a job wants a hedge or stops to hold its round up, by time alone;
  /// only what lies ahead.
  [[nodiscard]] std::optional<time_point> next_due(time_point now) const;

  /// True while the round has to wait for `work`.
  [[nodiscard]] bool waits_for(const task& work, const std::vector<task>& open,
                               time_point now) const;

  // -- modifiers --------------------------------------------------------------

  void begin_round();

  /// Ends the round; counts an attempt if something is `still_missing`.
  void end_round(bool still_missing);

  /// Restores the count after a restart, or takes over a smaller one.
  void restore_attempts(std::uint32_t attempts) { attempts_ = attempts; }

  /// New information came: backoff starts afresh (rules §7).
  void reset_attempts() { attempts_ = 0; }

  /// A URL of this round had a real outcome.
  void note_tried() { tried_any_ = true; }

  /// Hedges that are due let deferred places ask again.
  void tick(time_point now);

  /// The task whose host is to be asked for a turn now, if any.
  std::optional<task> next_to_ask(const std::vector<task>& open,
                                  time_point now);

  /// Takes a place at `host` outside of any round. False if there is one, or
  /// a job.
  bool ask(const host_key& host);

  /// That host said *queued* and how it stands.
  void queued(const host_key& host, const host_view& view);

  /// That host could not be asked, or forgot us.
  void lost_place(const host_key& host);

  /// A lease was granted to `subject`: start, defer or withdraw.
  turn granted(const unit_key& subject, const host_key& host, lease_id lease,
               const std::vector<task>& open, time_point now);

  /// The job has had its first pack byte.
  void moving(lease_id lease);

  /// The job's server has answered. `tried` marks its URL for this round. The
  /// job still covers its objects until settled.
  void answered(lease_id lease, bool tried);

  /// What `from` redirects to takes its place for this round; false when the
  /// chain is too long.
  bool redirect(const remote_url& from, const clone_url& to);

  /// All consequences of the job are known.
  void settle(lease_id lease);

  /// Places that none of `useful` needs any more; they are forgotten.
  std::vector<queue_place> take_useless_places(const std::vector<task>& useful);

  /// Takes over jobs and places of a unit that became part of this one; what
  /// it has itself already is returned, to be given up.
  std::vector<queue_place> adopt(hunt& other);

private:
  enum class standing : std::uint8_t {
    asking,
    queued,
    deferred,
    may_ask_again
  };

  struct place {
    standing where = standing::asking;
    unit_key subject;
    host_view view;
  };

  struct job_state {
    running_job job;
    time_point since;
    bool moving = false;
    bool hedged = false; ///< Another job fetches the same objects.
    bool answered = false;
  };

  struct detour {
    clone_url to;
    int hops = 1;
  };

  using try_key = std::tuple<std::string, wish, pubkey>;
  static try_key key_of(const task& work);

  bool may_hedge(const job_state& running, const host_key& host,
                 time_point now) const;
  std::vector<oid> startable(const task& work, time_point now) const;
  bool has_room_for(const task& work, const std::vector<task>& open) const;
  bool job_at(const host_key& host) const;
  void note_hedges(const running_job& started, time_point now);

  unit_key name_;
  hunt_limits limits_;
  bool in_round_ = false;
  bool tried_any_ = false;
  std::uint32_t attempts_ = 0;
  std::set<try_key> tried_;
  std::map<remote_url, detour> detours_;
  std::map<host_key, place> places_;
  std::map<lease_id, job_state> jobs_;
};

} // namespace purgatory::git
