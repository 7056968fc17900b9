#pragma once

#include "libsync/types.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace purgatory::git {

/// The host key of a URL's host as written (rules §4.2): what would be dialled
/// decides, so that one server has one budget. IPv6 stands in brackets.
///
/// Percent-encoding is undone, names are mapped to Punycode (UTS #46,
/// non-transitional) and lower case, one trailing dot goes; a name whose last
/// label is numeric must be an IPv4 address in any form that resolvers take
/// (`127.1`, `0x7f000001`, `2130706433`). Nothing when it is no host.
std::optional<host_key> canonical_host(std::string_view text);

/// The host as it stands in a URL: IPv6 in brackets.
std::string bracketed(const host_key& host);

} // namespace purgatory::git
