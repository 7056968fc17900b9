#include "actors/file_sink.hpp"

#include "actors/harden.hpp"
#include "actors/log.hpp"

#include <caf/sec.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <exception>
#include <utility>

namespace purgatory {

relay_link_actor::behavior_type
file_sink(relay_link_actor::stateful_pointer<file_sink_state> self,
          std::shared_ptr<release_log> log) {
  harden(self);
  return {
    [log = std::move(log)](const publish& wanted) -> caf::result<published> {
      const auto& id = wanted.event.id;
      try {
        if (!log->contains(id))
          log->append(id, nostr::to_json(wanted.event));
      } catch (const std::exception& problem) {
        log::error("Release failed",
                   {{"event_id", id}, {"error", problem.what()}});
        return caf::make_error(caf::sec::runtime_error,
                               std::string{problem.what()});
      }
      return published{id, publish_outcome::released, ""};
    },
  };
}

} // namespace purgatory
