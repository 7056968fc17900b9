#pragma once

#include "libsync/types.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// What client and relay say to each other over a WebSocket (NIP-01): text in,
/// values out, and back. Nothing here checks ids or signatures.
namespace purgatory::nostr {

/// Longer messages of a relay are not parsed.
inline constexpr std::size_t max_relay_message_bytes = 1024 * 1024;

/// `["EVENT", sub, event]`. `id` to `kind` are claims of the relay; `json` is
/// the event exactly as it was sent.
struct served_event {
  std::string subscription;
  std::string json;
  event_id id;
  pubkey author;
  unix_seconds created_at = 0;
  std::uint32_t kind = 0;
};

/// `["OK", id, accepted, message]`; `id` in lower case.
struct ok_answer {
  event_id id;
  bool accepted = false;
  std::string message;
};

/// `["EOSE", sub]`: what was stored has been sent.
struct end_of_stored {
  std::string subscription;
};

/// `["CLOSED", sub, message]`: the relay ends a subscription.
struct subscription_closed {
  std::string subscription;
  std::string message;
};

/// `["NOTICE", message]`, for people.
struct notice {
  std::string message;
};

/// `["AUTH", challenge]` (NIP-42).
struct auth_challenge {
  std::string challenge;
};

using relay_message = std::variant<served_event, ok_answer, end_of_stored,
                                   subscription_closed, notice, auth_challenge>;

/// Reads one message of a relay. Nothing for other message types and for
/// anything malformed: too long, nested over 16 levels, more than 8 elements,
/// wrong types, a `created_at` or `kind` out of range.
std::optional<relay_message> parse_relay_message(std::string_view text);

/// One filter of a REQ; empty parts do not filter.
struct filter {
  std::vector<event_id> ids{};
  std::vector<std::uint32_t> kinds{};
  std::vector<pubkey> authors{};
  std::optional<std::string> d{};       ///< Value of the `d` tag.
  std::optional<std::uint32_t> limit{}; ///< Of stored events, newest first.
};

/// `["EVENT", <event>]`; `event_json` is taken as it is.
std::string event_message(std::string_view event_json);

/// `["REQ", sub, filter...]`. A subscription id has 1 to 64 characters.
std::string request_message(std::string_view subscription,
                            const std::vector<filter>& filters);

/// `["CLOSE", sub]`.
std::string close_message(std::string_view subscription);

} // namespace purgatory::nostr
