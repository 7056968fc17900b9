#pragma once

#include "libsync/git/alignment.hpp"
#include "libsync/nostr/event.hpp"

#include <string>
#include <string_view>
#include <vector>

/// How the store writes down what has structure.
namespace purgatory {

/// The seven NIP-01 fields as compact JSON.
std::string encode_event(const nostr::event& ev);

/// The reverse of `encode_event`; nothing is checked again. Throws
/// std::runtime_error when the text was not written by it.
nostr::event decode_event(std::string_view text);

/// Ref changes as a JSON list of [name, before, after], null for nothing.
std::string encode_changes(const std::vector<git::ref_change>& changes);

} // namespace purgatory
