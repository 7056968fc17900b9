#pragma once

#include "libsync/types.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace purgatory::git {

/// A clone URL that we may ask, taken apart and put into canonical form:
/// scheme and host in lower case, userinfo and fragment stripped, dot
/// segments resolved, default port removed (RFC 3986, rules §4.2). Spaces and
/// non-ASCII characters, as people write them, are percent-encoded (RFC 3987).
struct clone_url {
  remote_url text;    ///< The canonical text; equal texts, equal places.
  std::string scheme; ///< `http` or `https`.
  host_key host;      ///< Punycode, RFC 5952 IPv6 without brackets, no port, no
                      ///< trailing dot; v4-mapped as IPv4.
  std::uint16_t port = 0; ///< Effective port, the scheme's default included.
  std::string path;       ///< With query, if any; starts with `/`.
  /// `host` or `host:port`, port only if not the scheme's default: what
  /// own_origins are compared with.
  std::string origin() const;
};

/// Why a text is no URL that we may ask.
enum class url_refusal : std::uint8_t {
  malformed, ///< Not RFC 3986, empty host, control characters, over 2048 bytes.
  unsupported, ///< Another scheme (ssh, git, file, nostr) or scp-like.
};

/// Parses the value of a `clone` tag.
std::variant<clone_url, url_refusal> parse_clone_url(std::string_view text);

/// Canonical `host[:port]` of an own origin as an operator writes it:
/// `example.org`, `example.org:8443` or a full URL of any scheme.
std::optional<std::string> parse_origin(std::string_view text);

/// Resolves a Location header against `base` (RFC 3986 §5).
std::variant<clone_url, url_refusal>
resolve_redirect(const clone_url& base, std::string_view location);

} // namespace purgatory::git
