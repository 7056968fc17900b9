#pragma once

#include "libsync/nostr/git_events.hpp"

/// Shared by the readers of the single kinds.
namespace purgatory::nostr {

/// The repository's name: the first `d` tag with a value. Nothing when there
/// is none or no repository may be called so.
std::optional<identifier> read_identifier(const event& ev);

/// The values of all tags called `name`, in order; empty texts are left out.
std::vector<std::string> all_values(const event& ev, std::string_view name);

/// Rules §2.3.
git_event read_state(const event& ev, std::size_t max_refs);

} // namespace purgatory::nostr
