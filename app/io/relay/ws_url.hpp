#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace purgatory::io {

/// Where a WebSocket without TLS is reached.
struct ws_target {
  std::string host; ///< Name or address, without brackets.
  std::uint16_t port = 80;
  std::string path;   ///< With query; at least `/`.
  std::string header; ///< For the Host header (RFC 9110 §7.2).
};

/// Reads `ws://host[:port][/path][?query]` (RFC 6455 §3); the scheme in any
/// case, an IPv6 address in brackets. Nothing for user names, fragments, other
/// schemes, blanks and control characters.
std::optional<ws_target> parse_ws_url(std::string_view url);

} // namespace purgatory::io
