#include "actors/door.hpp"

#include "actors/harden.hpp"

#include <caf/actor_system.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

namespace purgatory {

door_actor::behavior_type door(door_actor::stateful_pointer<door_state> self,
                               intake_actor intake) {
  harden(self);
  return {[self, intake](foreign_offer& asked) {
    self->request(intake, caf::infinite, std::move(asked.what))
      .then([answer = asked.answer](
              offer_answer& m) { answer(std::move(m.decision)); },
            // Destroyed uncalled: the socket knows what to say then.
            [](caf::error&) {});
  }};
}

} // namespace purgatory
