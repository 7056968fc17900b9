#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Texts of options into values. Nothing means: not of that form.
namespace purgatory {

/// Decimal digits only, without sign or blanks.
std::optional<std::uint64_t> parse_whole(std::string_view text);

/// A number and its unit, ms, s, min, h or d: `500ms`, `20s`, `30min`.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

/// Bytes, or a number with KiB, MiB or GiB: `1024`, `512MiB`.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// A decimal fraction such as `0.1`, not negative.
std::optional<double> parse_fraction(std::string_view text);

/// `true` or `false`.
std::optional<bool> parse_switch(std::string_view text);

/// The parts between commas, without blanks around them; an empty text has
/// none. Empty parts are kept.
std::vector<std::string> split_list(std::string_view text);

/// The shortest text that `parse_duration` reads as `value`.
std::string to_text(std::chrono::milliseconds value);

/// The shortest text that `parse_size` reads as `bytes`.
std::string size_text(std::uint64_t bytes);

} // namespace purgatory
