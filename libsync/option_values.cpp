#include "libsync/option_values.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace purgatory {

namespace {

using unit = std::pair<std::string_view, std::uint64_t>;

/// Largest first. `ms` ends like `s` does, so the whole suffix is compared.
constexpr std::array<unit, 5> time_units = {{{"d", 86'400'000},
                                             {"h", 3'600'000},
                                             {"min", 60'000},
                                             {"s", 1000},
                                             {"ms", 1}}};
constexpr std::array<unit, 4> size_units = {{{"GiB", std::uint64_t{1} << 30U},
                                             {"MiB", std::uint64_t{1} << 20U},
                                             {"KiB", std::uint64_t{1} << 10U},
                                             {"", 1}}};

template <std::size_t N>
std::optional<std::uint64_t> parse_with_unit(std::string_view text,
                                             const std::array<unit, N>& units) {
  const auto digits
    = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = parse_whole(text.substr(0, digits));
  for (const auto& [suffix, factor] : units) {
    if (!number || text.substr(digits) != suffix)
      continue;
    if (*number > std::numeric_limits<std::int64_t>::max() / factor)
      return std::nullopt;
    return *number * factor;
  }
  return std::nullopt;
}

template <std::size_t N>
std::string with_unit(std::uint64_t value, const std::array<unit, N>& units) {
  for (const auto& [suffix, factor] : units)
    if (value % factor == 0 && value != 0)
      return std::to_string(value / factor) + std::string{suffix};
  return "0" + std::string{units.back().first};
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

} // namespace

std::optional<std::uint64_t> parse_whole(std::string_view text) {
  std::uint64_t value = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc{} || stop != end)
    return std::nullopt;
  return value;
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const auto value = parse_with_unit(text, time_units);
  if (!value)
    return std::nullopt;
  return std::chrono::milliseconds{static_cast<std::int64_t>(*value)};
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  return parse_with_unit(text, size_units);
}

std::optional<double> parse_fraction(std::string_view text) {
  double value = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, problem]
    = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (problem != std::errc{} || stop != end || !std::isfinite(value)
      || std::signbit(value))
    return std::nullopt;
  return value;
}

std::optional<bool> parse_switch(std::string_view text) {
  if (text == "true")
    return true;
  if (text == "false")
    return false;
  return std::nullopt;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  if (trim(text).empty())
    return parts;
  while (true) {
    const auto comma = std::min(text.find(','), text.size());
    parts.emplace_back(trim(text.substr(0, comma)));
    if (comma == text.size())
      return parts;
    text.remove_prefix(comma + 1);
  }
}

std::string to_text(std::chrono::milliseconds value) {
  return with_unit(static_cast<std::uint64_t>(value.count()), time_units);
}

std::string size_text(std::uint64_t bytes) {
  return with_unit(bytes, size_units);
}

} // namespace purgatory
