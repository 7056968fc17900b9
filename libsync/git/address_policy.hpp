#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace purgatory::git {

/// True when an IPv4 address (network byte order) is one that strangers may
/// make us connect to: public unicast, nothing else (libgit2.md §2.3).
bool is_public_address(const std::array<std::uint8_t, 4>& v4);

/// The same for IPv6: only 2000::/3 less Teredo and documentation; mapped,
/// NAT64 and 6to4 addresses are judged by the IPv4 address inside.
bool is_public_address(const std::array<std::uint8_t, 16>& v6);

} // namespace purgatory::git
