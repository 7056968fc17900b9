#include "libsync/git/canonical_host.hpp"

#include "libsync/hex.hpp"

#include <arpa/inet.h>
#include <idn2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <vector>

// inet_pton and inet_ntop only turn text into bytes and back.
namespace purgatory::git {

namespace {

constexpr std::size_t max_name_bytes = 253;
constexpr std::size_t max_label_bytes = 63;

bool is_ascii(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char byte) { return (byte & 0x80) != 0; });
}

std::string ascii_lower(std::string_view text) {
  std::string lower{text};
  for (auto& letter : lower)
    if (letter >= 'A' && letter <= 'Z')
      letter = static_cast<char>(letter - 'A' + 'a');
  return lower;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  while (!text.empty()) {
    if (text.front() != '%') {
      decoded += text.front();
      text.remove_prefix(1);
      continue;
    }
    std::array<std::uint8_t, 1> byte{};
    if (text.size() < 3 || !from_hex(text.substr(1, 2), byte) || byte[0] == 0)
      return std::nullopt;
    decoded += static_cast<char>(byte[0]);
    text.remove_prefix(3);
  }
  return decoded;
}

std::optional<std::string> to_punycode(const std::string& name) {
  std::uint8_t* mapped = nullptr;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(name.c_str());
  if (idn2_lookup_u8(bytes, &mapped, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL)
      != IDN2_OK)
    return std::nullopt;
  const std::unique_ptr<std::uint8_t, decltype(&idn2_free)> owner{mapped,
                                                                  &idn2_free};
  return std::string{reinterpret_cast<const char*>(mapped)};
}

std::vector<std::string_view> labels_of(std::string_view name) {
  std::vector<std::string_view> labels;
  for (std::size_t begin = 0; begin <= name.size();) {
    const auto end = std::min(name.find('.', begin), name.size());
    labels.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return labels;
}

bool is_label(std::string_view label) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyz0123456789-_";
  return !label.empty() && label.size() <= max_label_bytes
         && label.find_first_not_of(allowed) == std::string_view::npos;
}

bool is_numeric(std::string_view label) {
  if (label.starts_with("0x"))
    return label.find_first_not_of("0123456789abcdef", 2)
           == std::string_view::npos;
  return label.find_first_not_of("0123456789") == std::string_view::npos;
}

/// One part of an IPv4 address: decimal, octal with `0`, hex with `0x`.
std::optional<std::uint32_t> ipv4_part(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text.starts_with('0')) {
    base = 8;
    text.remove_prefix(1);
  }
  std::uint32_t value = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc{} || stop != end)
    return std::nullopt;
  return value;
}

std::string dotted(std::uint32_t address) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) {
    if (!text.empty())
      text += '.';
    text += std::to_string((address >> static_cast<unsigned>(shift)) & 255U);
  }
  return text;
}

/// As inet_aton: up to four parts, the last one fills what is left.
std::optional<host_key> ipv4_host(const std::vector<std::string_view>& parts) {
  if (parts.size() > 4)
    return std::nullopt;
  std::uint64_t address = 0;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const auto part = ipv4_part(parts[i]);
    if (!part || *part > 255)
      return std::nullopt;
    address |= std::uint64_t{*part} << (24 - 8 * i);
  }
  const auto last = ipv4_part(parts.back());
  if (!last || *last >= std::uint64_t{1} << (8 * (5 - parts.size())))
    return std::nullopt;
  return host_key{dotted(static_cast<std::uint32_t>(address | *last))};
}

std::optional<host_key> ipv6_host(std::string_view text) {
  std::array<std::uint8_t, 16> bytes{};
  if (inet_pton(AF_INET6, std::string{text}.c_str(), bytes.data()) != 1)
    return std::nullopt;
  constexpr std::array<std::uint8_t, 12> mapped
    = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  std::array<char, INET6_ADDRSTRLEN> out{};
  const bool is_mapped
    = std::equal(mapped.begin(), mapped.end(), bytes.begin());
  const auto* result
    = is_mapped ? inet_ntop(AF_INET, bytes.data() + mapped.size(), out.data(),
                            static_cast<socklen_t>(out.size()))
                : inet_ntop(AF_INET6, bytes.data(), out.data(),
                            static_cast<socklen_t>(out.size()));
  return host_key{result};
}

std::optional<host_key> named_host(std::string_view text) {
  auto name = percent_decoded(text);
  if (!name || name->size() > 4 * max_name_bytes)
    return std::nullopt;
  if (!is_ascii(*name))
    name = to_punycode(*name);
  if (!name)
    return std::nullopt;
  *name = ascii_lower(*name);
  if (name->ends_with('.'))
    name->pop_back();
  const auto labels = labels_of(*name);
  if (name->size() > max_name_bytes
      || !std::all_of(labels.begin(), labels.end(), is_label))
    return std::nullopt;
  if (is_numeric(labels.back()))
    return ipv4_host(labels);
  return host_key{*name};
}

} // namespace

std::optional<host_key> canonical_host(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']'))
    return ipv6_host(text.substr(1, text.size() - 2));
  return named_host(text);
}

std::string bracketed(const host_key& host) {
  const bool is_ipv6 = host.value.find(':') != std::string::npos;
  return is_ipv6 ? '[' + host.value + ']' : host.value;
}

} // namespace purgatory::git
