#include "libsync/hex.hpp"
#include "libsync/nostr/git_events.hpp"

namespace purgatory::nostr {

std::optional<oid> parse_oid(std::string_view text) {
  auto lower = lower_hex(text, text.size() == 64 ? 64 : 40);
  if (!lower || lower->find_first_not_of('0') == std::string::npos)
    return std::nullopt;
  return oid{std::move(*lower)};
}

std::optional<identifier> parse_identifier(std::string_view text) {
  // With `.git` appended it has to fit a file name of 255 bytes.
  constexpr std::size_t max_bytes = 251;
  constexpr std::string_view forbidden{"/\\\0", 3};
  if (text.empty() || text == "." || text == ".." || text.size() > max_bytes)
    return std::nullopt;
  if (text.find_first_of(forbidden) != std::string_view::npos)
    return std::nullopt;
  return identifier{std::string{text}};
}

std::optional<pubkey> parse_pubkey(std::string_view text) {
  auto lower = lower_hex(text, 64);
  if (!lower)
    return std::nullopt;
  return pubkey{std::move(*lower)};
}

std::optional<event_id> parse_event_id(std::string_view text) {
  auto lower = lower_hex(text, 64);
  if (!lower)
    return std::nullopt;
  return event_id{std::move(*lower)};
}

} // namespace purgatory::nostr
