#pragma once

#include "libsync/nostr/event.hpp"
#include "libsync/sim/world.hpp"
#include "libsync/types.hpp"

#include <map>
#include <string>
#include <string_view>

/// Names of a world file as the values that the core works with.
namespace purgatory::sim {

/// 64 hex digits stand for themselves; any other name for a key of its own.
pubkey key_of(std::string_view name);

/// 40 hex digits stand for themselves; any other name for an id of its own.
oid object_of(std::string_view name);

/// The host of a clone URL; empty when it can't be asked.
host_key host_of(std::string_view url);

/// The canonical form of a clone URL; as it is when it can't be asked.
remote_url url_of(std::string_view text);

/// Unsigned events with right ids, as if offered at wall time `now`.
nostr::event to_event(const announce& what, unix_seconds now);
nostr::event to_event(const push_state& what, unix_seconds now);
nostr::event to_event(const propose& what, unix_seconds now);
nostr::event to_event(const take_back& what, unix_seconds now,
                      const std::map<std::string, nostr::event>& known);

} // namespace purgatory::sim
