#pragma once

#include "libsync/types.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

/// The lines of strfry's write-policy protocol (JSONL), also spoken on our own
/// socket: one request, one answer with the same id.
namespace purgatory::nostr {

/// A relay asks about one event. Nothing in here has been verified.
struct strfry_request {
  std::string raw_id;     ///< The event's `id` as sent: the answer echoes it.
  std::string event_json; ///< The event's text as sent, for `parse_event`.
  /// Nothing when it is no such number: then it may be any kind.
  std::optional<std::uint32_t> kind;
  std::string type;        ///< `new`.
  std::string source_type; ///< `IP4`, `IP6`, `Import`, `Stream`, `Sync` or
                           ///< `Stored`; empty if not sent.
  std::string source_info; ///< An IP address or a URL; empty if not sent.
};

/// Why a line is no request. It must be answered all the same.
struct strfry_failure {
  std::string reason;
  std::string raw_id; ///< As much as could be read; empty if nothing.
  std::optional<std::uint32_t> kind;
};

/// Reads one request line, with or without its line end. Unknown members are
/// ignored, members that occur twice refused.
std::variant<strfry_request, strfry_failure>
parse_strfry_request(std::string_view line);

/// The request line about `event_json`, without line end. Line breaks between
/// the event's tokens become spaces.
std::string format_strfry_request(std::string_view event_json,
                                  std::string_view source_type,
                                  std::string_view source_info,
                                  unix_seconds received_at);

enum class strfry_action : std::uint8_t {
  accept,
  reject,        ///< The client is told OK false and the message.
  shadow_reject, ///< The client is told OK true and the message: a hold.
};

/// `accept`, `reject` or `shadowReject`.
const char* to_string(strfry_action action);

struct strfry_answer {
  std::string raw_id;
  strfry_action action = strfry_action::accept;
  std::string message;
  friend bool operator==(const strfry_answer&, const strfry_answer&) = default;
};

/// The longest answer that a relay takes, line end included.
inline constexpr std::size_t max_strfry_answer_bytes = 8191;

/// The answer line, without line end, below the limit: a message that is too
/// long is cut at a character, an id that cannot fit (so never one of an
/// event) is answered as empty. An empty message is left out.
std::string format_strfry_answer(const strfry_answer& answer);

/// Reads an answer line; nothing when it is none.
std::optional<strfry_answer> parse_strfry_answer(std::string_view line);

} // namespace purgatory::nostr
