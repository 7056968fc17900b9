#pragma once

#include "libsync/types.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace purgatory::nostr {

/// One tag: its name and its values, in order. May be empty.
using tag = std::vector<std::string>;

/// A nostr event (NIP-01) whose id and signature have been checked, or that
/// was read back from our own journal. Hex fields are lower-case.
struct event {
  event_id id;
  pubkey author;
  unix_seconds created_at = 0;
  std::uint32_t kind = 0;
  std::vector<tag> tags;
  std::string content;
  std::string sig; ///< 128 lower-case hex digits.
};

/// Kinds that wait in purgatory until their git data is here (NIP-34).
inline constexpr std::uint32_t kind_announcement = 30617;
inline constexpr std::uint32_t kind_state = 30618;
inline constexpr std::uint32_t kind_pull_request = 1618;
inline constexpr std::uint32_t kind_pull_request_update = 1619;
/// Deletion request (NIP-09).
inline constexpr std::uint32_t kind_deletion = 5;
/// Request to vanish (NIP-62).
inline constexpr std::uint32_t kind_vanish = 62;

/// True for the four kinds that purgatory holds.
bool is_held_kind(std::uint32_t kind);

/// NIP-01's order for replaceable events: larger `created_at` is newer; on a
/// tie the lowest id wins.
bool is_newer(const event& left, const event& right);

/// The first value of the first tag called `name`, or an empty view.
std::string_view first_value(const event& ev, std::string_view name);

/// The event as compact JSON: exactly the seven NIP-01 fields, forwarded as
/// the signer wrote them (hex fields lower-case).
std::string to_json(const event& ev);

} // namespace purgatory::nostr
