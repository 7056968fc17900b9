#pragma once

#include "libsync/types.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace purgatory::nostr {

/// The key in NIP-19 form, `npub1…` (bech32, BIP-173). Empty if `key` is no
/// key.
std::string to_npub(const pubkey& key);

/// The key of an `npub1…` text; nothing unless prefix, alphabet, case and
/// checksum are right.
std::optional<pubkey> parse_npub(std::string_view text);

} // namespace purgatory::nostr
