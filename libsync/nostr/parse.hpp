#pragma once

#include "libsync/nostr/event.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace purgatory {
class signature_verifier;
} // namespace purgatory

namespace purgatory::nostr {

/// Limits on one event (rules §2.1).
struct event_limits {
  std::size_t max_bytes = 256 * 1024; ///< Of its text, before it is parsed.
  std::size_t max_refs = 10'000;      ///< Of a state: for `read_git_event`.
};

/// Why an event was refused. `reason` follows `invalid: ` in the answer.
struct parse_failure {
  std::string reason;
  std::string raw_id;     ///< The `id` text as sent, empty if there was none.
  std::uint32_t kind = 0; ///< 0 if unknown.
};

/// An event with its id checked but not its signature.
struct parsed_event {
  event value;
  std::string raw_id; ///< The id exactly as sent: strfry wants it echoed.
  std::size_t bytes = 0;
};

/// Parses one event from JSON and checks its id against both serialisations
/// in use (DEL verbatim, DEL escaped). Refuses: text over `max_bytes`,
/// nesting over 4, duplicate keys, wrong types, a `created_at` that is no
/// unsigned integer, invalid UTF-8, lone surrogates, wrong hex, a wrong id.
std::variant<parsed_event, parse_failure>
parse_event(std::string_view json, const event_limits& limits);

/// The NIP-01 serialisation that is hashed. With `escape_del`, U+007F is
/// written as `\u007f`, as one relay family does.
std::string id_preimage(const event& ev, bool escape_del);

/// SHA-256 of the preimage as 64 lower-case hex digits.
event_id compute_id(const event& ev, bool escape_del = false);

/// True when the BIP-340 signature of `ev` over its id verifies.
bool has_valid_signature(const event& ev, const signature_verifier& verifier);

} // namespace purgatory::nostr
