#pragma once

#include "messages/actors.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>

namespace purgatory {

/// Called once, from any thread, with the decision; never when the daemon is
/// going down, in which case it is destroyed uncalled.
using answer_function = std::function<void(admission)>;

/// An offer from a thread that is no actor. door -> door actor
struct foreign_offer {
  offer what;
  answer_function answer;
};

using door_actor = caf::typed_actor<caf::reacts_to<foreign_offer>>;

struct door_state {
  static inline const char* name = "door";
  explicit door_state(door_actor::pointer) {}
};

/// The actor side of a socket: asks intake on behalf of threads that cannot.
door_actor::behavior_type door(door_actor::stateful_pointer<door_state> self,
                               intake_actor intake);

} // namespace purgatory

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(purgatory::foreign_offer)
