#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace purgatory {

/// `text` in lower case if it consists of exactly `digits` hex digits.
std::optional<std::string> lower_hex(std::string_view text, std::size_t digits);

/// The bytes as lower-case hex.
std::string to_hex(std::span<const std::uint8_t> bytes);

/// Fills `bytes` from exactly twice as many hex digits, of any case. False,
/// with `bytes` unspecified, for any other text.
bool from_hex(std::string_view text, std::span<std::uint8_t> bytes);

} // namespace purgatory
