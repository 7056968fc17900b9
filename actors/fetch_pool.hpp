#pragma once

#include "actors/spent_leases.hpp"
#include "actors/worker_crew.hpp"
#include "libsync/engine/job_board.hpp"
#include "messages/actors.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace purgatory {

/// Makes one more worker that reports the start of its jobs to the given sink.
using fetch_worker_factory = std::function<fetch_worker_actor(started_sink)>;

struct fetch_pool_state {
  struct job {
    fetch_request request;
    completion_sink sink;
    cancel_flag cancel;
    std::optional<fetch_worker_actor> worker = {}; ///< Nothing: queued.
    std::optional<time_point> started = {};        ///< Nothing: not sent yet.
  };
  struct known_throttle {
    std::uint32_t serial = 0;
    throttle_actor handle;
  };
  struct recent_start {
    host_key host;
    seeded_lease lease;
  };

  static inline const char* name = "fetch_pool";
  explicit fetch_pool_state(fetch_pool_actor::pointer) {}

  worker_crew<fetch_worker_actor> crew;
  std::unordered_map<lease_id, job> jobs; ///< Queued and running.
  /// The same jobs: who waits, who is slow. Set when the actor starts.
  std::optional<engine::job_board> board;
  std::uint64_t next_timer = 1;
  std::optional<std::uint64_t> look; ///< The timer for `board`, if it runs.
  std::unordered_map<host_key, known_throttle> throttles;
  /// In order of arrival; as many as the throttles grant within the window.
  std::deque<recent_start> recent_starts;
  spent_leases spent;

  bool draining = false;
  std::vector<caf::typed_response_promise<drained>> drains;
  std::optional<std::uint64_t> grace; ///< The timer that ends a drain.
  std::size_t cancelled = 0;
};

/// Shell of a job_board: runs at most `limits.workers` jobs at once, each on a
/// worker of its own; the others wait.
/// - A lease runs at most once, and only if the throttle that serves its host
///   now has granted it; any other is refused (class internal).
/// - Every accepted lease ends with exactly one `request_complete` to its sink
///   and one, without pack, to its host's throttle: also when a worker throws
///   or dies, which fails that job alone. Only a reclaimed lease ends silently.
/// - A job that had to give its worker to others ends with class timeout.
/// - A new throttle is told what counts already: jobs that have not ended, and
///   starts of the last 61 s.
/// - `drain` lets running jobs finish within the grace, then sets their cancel
///   flags, and is answered when none runs.
fetch_pool_actor::behavior_type
fetch_pool(fetch_pool_actor::stateful_pointer<fetch_pool_state> self,
           engine::board_limits limits, fetch_worker_factory make_worker);

} // namespace purgatory
