#include "libsync/git/address_policy.hpp"

#include <algorithm>

namespace purgatory::git {

namespace {

struct block {
  std::array<std::uint8_t, 4> network;
  unsigned bits;
};

/// IANA's special-purpose registry, multicast and class E.
constexpr std::array<block, 13> refused_v4 = {{
  {{0, 0, 0, 0}, 8},       // this network
  {{10, 0, 0, 0}, 8},      // private
  {{100, 64, 0, 0}, 10},   // carrier-grade NAT
  {{127, 0, 0, 0}, 8},     // loopback
  {{169, 254, 0, 0}, 16},  // link-local, cloud metadata
  {{172, 16, 0, 0}, 12},   // private
  {{192, 0, 0, 0}, 24},    // IETF protocol assignments
  {{192, 0, 2, 0}, 24},    // documentation
  {{192, 168, 0, 0}, 16},  // private
  {{198, 18, 0, 0}, 15},   // benchmarking
  {{198, 51, 100, 0}, 24}, // documentation
  {{203, 0, 113, 0}, 24},  // documentation
  {{224, 0, 0, 0}, 3},     // multicast, reserved, broadcast
}};

/// True when the first `bits` bits of both agree.
bool has_prefix(std::span<const std::uint8_t> address,
                std::span<const std::uint8_t> network, unsigned bits) {
  for (std::size_t i = 0; bits > 0; ++i) {
    const auto used = std::min(bits, 8U);
    const auto mask = static_cast<std::uint8_t>(0xff00U >> used);
    if ((address[i] & mask) != (network[i] & mask))
      return false;
    bits -= used;
  }
  return true;
}

std::array<std::uint8_t, 4> v4_at(const std::array<std::uint8_t, 16>& v6,
                                  std::size_t offset) {
  std::array<std::uint8_t, 4> v4{};
  std::copy_n(v6.begin() + static_cast<std::ptrdiff_t>(offset), v4.size(),
              v4.begin());
  return v4;
}

using prefix = std::array<std::uint8_t, 16>;

constexpr prefix mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr prefix nat64 = {0x00, 0x64, 0xff, 0x9b};
constexpr prefix six_to_four = {0x20, 0x02};
constexpr prefix global_unicast = {0x20};
constexpr prefix teredo = {0x20, 0x01};
constexpr prefix documentation = {0x20, 0x01, 0x0d, 0xb8};
constexpr prefix documentation_2024 = {0x3f, 0xff}; // RFC 9637

} // namespace

bool is_public_address(const std::array<std::uint8_t, 4>& v4) {
  return std::none_of(refused_v4.begin(), refused_v4.end(),
                      [&](const block& refused) {
                        return has_prefix(v4, refused.network, refused.bits);
                      });
}

bool is_public_address(const std::array<std::uint8_t, 16>& v6) {
  if (has_prefix(v6, mapped, 96) || has_prefix(v6, nat64, 96))
    return is_public_address(v4_at(v6, 12));
  if (has_prefix(v6, six_to_four, 16))
    return is_public_address(v4_at(v6, 2));
  return has_prefix(v6, global_unicast, 3) && !has_prefix(v6, teredo, 32)
         && !has_prefix(v6, documentation, 32)
         && !has_prefix(v6, documentation_2024, 20);
}

} // namespace purgatory::git
