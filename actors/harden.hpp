#pragma once

namespace caf {
class scheduled_actor;
} // namespace caf

namespace purgatory {

/// First line of every behaviour: an unexpected message, a dead neighbour
/// without a handler of its own and an escaped exception become log lines.
/// CAF's defaults print to stdout, which belongs to the plugin protocol. An
/// exception still ends the actor; its monitors see the reason.
void harden(caf::scheduled_actor* self);

} // namespace purgatory
