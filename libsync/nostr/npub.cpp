#include "libsync/nostr/npub.hpp"

#include "libsync/hex.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace purgatory::nostr {

namespace {

// BIP-173: a text is <prefix> 1 <data in base 32> <6 digits of checksum>.
constexpr std::string_view prefix = "npub";
constexpr std::string_view alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
constexpr std::size_t key_bytes = 32;
constexpr std::size_t data_digits = 52; ///< 256 bits and 4 of padding.
constexpr std::size_t checksum_digits = 6;

/// Digits of base 32, each 0..31.
using digits = std::vector<std::uint8_t>;

std::uint32_t polymod(const digits& values) {
  constexpr std::array<std::uint32_t, 5> generator
    = {0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3};
  std::uint32_t remainder = 1;
  for (const auto value : values) {
    const auto top = remainder >> 25U;
    remainder = ((remainder & 0x1ffffffU) << 5U) ^ value;
    for (std::size_t i = 0; i < generator.size(); ++i)
      if ((top >> i) & 1U)
        remainder ^= generator.at(i);
  }
  return remainder;
}

/// The prefix as the checksum sees it, followed by `data`.
digits with_prefix(const digits& data) {
  digits result;
  for (const auto letter : prefix)
    result.push_back(static_cast<std::uint8_t>(letter) >> 5U);
  result.push_back(0);
  for (const auto letter : prefix)
    result.push_back(static_cast<std::uint8_t>(letter) & 31U);
  result.insert(result.end(), data.begin(), data.end());
  return result;
}

void append_checksum(digits& data) {
  auto values = with_prefix(data);
  values.resize(values.size() + checksum_digits);
  const auto checksum = polymod(values) ^ 1U;
  for (std::size_t i = 0; i < checksum_digits; ++i)
    data.push_back(
      static_cast<std::uint8_t>((checksum >> (5 * (5 - i))) & 31U));
}

/// Regroups bits, most significant first; what does not fill a group stays
/// in `rest`.
digits regroup(const digits& from, unsigned from_bits, unsigned to_bits,
               std::uint32_t& rest, unsigned& rest_bits) {
  digits result;
  rest = 0;
  rest_bits = 0;
  for (const auto value : from) {
    rest = (rest << from_bits) | value;
    rest_bits += from_bits;
    while (rest_bits >= to_bits) {
      rest_bits -= to_bits;
      result.push_back(static_cast<std::uint8_t>(rest >> rest_bits));
      rest &= (1U << rest_bits) - 1U;
    }
  }
  return result;
}

/// `text` in lower case; nothing when it mixes cases.
std::optional<std::string> unify_case(std::string_view text) {
  bool has_upper = false;
  bool has_lower = false;
  std::string lower{text};
  for (auto& letter : lower) {
    has_lower |= letter >= 'a' && letter <= 'z';
    if (letter < 'A' || letter > 'Z')
      continue;
    has_upper = true;
    letter = static_cast<char>(letter - 'A' + 'a');
  }
  if (has_upper && has_lower)
    return std::nullopt;
  return lower;
}

std::optional<digits> parse_digits(std::string_view text) {
  digits result;
  for (const auto letter : text) {
    const auto value = alphabet.find(letter);
    if (value == std::string_view::npos)
      return std::nullopt;
    result.push_back(static_cast<std::uint8_t>(value));
  }
  return result;
}

} // namespace

std::string to_npub(const pubkey& key) {
  digits bytes(key_bytes);
  if (!from_hex(key.value, bytes))
    return {};
  std::uint32_t rest = 0;
  unsigned rest_bits = 0;
  auto data = regroup(bytes, 8, 5, rest, rest_bits);
  data.push_back(static_cast<std::uint8_t>(rest << (5 - rest_bits)));
  append_checksum(data);
  std::string text{prefix};
  text += '1';
  for (const auto digit : data)
    text += alphabet[digit];
  return text;
}

std::optional<pubkey> parse_npub(std::string_view text) {
  if (text.size() != prefix.size() + 1 + data_digits + checksum_digits)
    return std::nullopt;
  const auto lower = unify_case(text);
  if (!lower || !lower->starts_with("npub1"))
    return std::nullopt;
  auto data = parse_digits(std::string_view{*lower}.substr(prefix.size() + 1));
  if (!data || polymod(with_prefix(*data)) != 1)
    return std::nullopt;
  data->resize(data_digits);
  std::uint32_t rest = 0;
  unsigned rest_bits = 0;
  const auto bytes = regroup(*data, 5, 8, rest, rest_bits);
  if (rest != 0) // padding must be zero
    return std::nullopt;
  return pubkey{to_hex(bytes)};
}

} // namespace purgatory::nostr
