#include "libsync/git/address_prefix.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>

// inet_pton and inet_ntop only turn text into bytes and back.
namespace purgatory::git {

namespace {

constexpr std::size_t v4_kept = 3;
constexpr std::size_t v6_kept = 6;
constexpr std::array<std::uint8_t, 12> mapped
  = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

template <std::size_t N>
std::string block(int family, std::array<std::uint8_t, N> bytes,
                  std::size_t kept) {
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(kept), bytes.end(),
            std::uint8_t{0});
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(family, bytes.data(), text.data(), text.size());
  return std::string{text.data()} + '/' + std::to_string(kept * 8);
}

} // namespace

std::string address_prefix(std::string_view address) {
  // A longer text, or one with a NUL inside, is none.
  if (address.size() >= INET6_ADDRSTRLEN
      || address.find('\0') != std::string_view::npos)
    return {};
  const std::string text{address};
  std::array<std::uint8_t, 4> v4{};
  if (inet_pton(AF_INET, text.c_str(), v4.data()) == 1)
    return block(AF_INET, v4, v4_kept);
  std::array<std::uint8_t, 16> v6{};
  if (inet_pton(AF_INET6, text.c_str(), v6.data()) != 1)
    return {};
  if (!std::equal(mapped.begin(), mapped.end(), v6.begin()))
    return block(AF_INET6, v6, v6_kept);
  std::copy(v6.begin() + mapped.size(), v6.end(), v4.begin());
  return block(AF_INET, v4, v4_kept);
}

} // namespace purgatory::git
