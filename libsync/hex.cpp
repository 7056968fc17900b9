#include "libsync/hex.hpp"

namespace purgatory {

namespace {

int digit_value(char digit) {
  if (digit >= '0' && digit <= '9')
    return digit - '0';
  if (digit >= 'a' && digit <= 'f')
    return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F')
    return digit - 'A' + 10;
  return -1;
}

constexpr std::string_view hex_digits = "0123456789abcdef";

} // namespace

std::optional<std::string> lower_hex(std::string_view text,
                                     std::size_t digits) {
  if (text.size() != digits)
    return std::nullopt;
  std::string lower(digits, '0');
  for (std::size_t i = 0; i < digits; ++i) {
    const auto value = digit_value(text[i]);
    if (value < 0)
      return std::nullopt;
    lower[i] = hex_digits[static_cast<std::size_t>(value)];
  }
  return lower;
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const auto byte : bytes) {
    text += hex_digits[byte >> 4U];
    text += hex_digits[byte & 15U];
  }
  return text;
}

bool from_hex(std::string_view text, std::span<std::uint8_t> bytes) {
  if (text.size() != 2 * bytes.size())
    return false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto high = digit_value(text[2 * i]);
    const auto low = digit_value(text[2 * i + 1]);
    if (high < 0 || low < 0)
      return false;
    bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return true;
}

} // namespace purgatory
