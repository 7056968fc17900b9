#pragma once

#include "libsync/ports.hpp"
#include "messages/actors.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <memory>

namespace purgatory {

struct fetch_worker_state {
  static inline const char* name = "fetch_worker";
  explicit fetch_worker_state(fetch_worker_actor::pointer) {}
};

/// Runs one job after another, blocking in `transport`: to be spawned detached.
/// `transport` is its own alone. Tells `pool` at which moment the first request
/// of a job leaves, and when its pack begins to come. An exception ends the
/// actor.
fetch_worker_actor::behavior_type
fetch_worker(fetch_worker_actor::stateful_pointer<fetch_worker_state> self,
             std::shared_ptr<git_transport> transport, started_sink pool);

} // namespace purgatory
