#include "actors/fetch_worker.hpp"

#include "actors/harden.hpp"

#include <caf/actor_system.hpp>

namespace purgatory {

fetch_worker_actor::behavior_type
fetch_worker(fetch_worker_actor::stateful_pointer<fetch_worker_state> self,
             std::shared_ptr<git_transport> transport, started_sink pool) {
  harden(self);
  return {
    [=](const fetch_job& job) {
      fetch_watch watch;
      watch.first_send = [&] {
        self->send(pool, fetch_started{job.lease, self->clock().now()});
      };
      watch.first_pack_byte
        = [&] { self->send(pool, fetch_moving{job.lease}); };
      return transport->fetch(job.order, *job.cancel, watch);
    },
  };
}

} // namespace purgatory
