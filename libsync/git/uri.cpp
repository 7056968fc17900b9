#include "libsync/git/uri.hpp"

#include "libsync/hex.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace purgatory::git {

namespace {

bool is_alpha(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

bool is_alphanumeric(char byte) {
  return is_alpha(byte) || (byte >= '0' && byte <= '9');
}

bool is_unreserved(char byte) {
  constexpr std::string_view marks = "-._~";
  return is_alphanumeric(byte) || marks.find(byte) != std::string_view::npos;
}

/// May stand raw in a path or a query.
bool is_plain(char byte) {
  constexpr std::string_view marks = "!$&'()*+,;=:@/?";
  return is_unreserved(byte) || marks.find(byte) != std::string_view::npos;
}

bool is_scheme(std::string_view text) {
  constexpr std::string_view marks = "+-.";
  return !text.empty() && is_alpha(text.front())
         && std::all_of(text.begin(), text.end(), [&](char byte) {
              return is_alphanumeric(byte)
                     || marks.find(byte) != std::string_view::npos;
            });
}

void append_encoded(std::string& out, std::uint8_t byte) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  out += '%';
  out += digits[byte >> 4U];
  out += digits[byte & 15U];
}

/// Takes from `text` what follows `mark`, mark included.
std::optional<std::string_view> cut_after(std::string_view& text, char mark) {
  const auto at = text.find(mark);
  if (at == std::string_view::npos)
    return std::nullopt;
  const auto tail = text.substr(at + 1);
  text = text.substr(0, at);
  return tail;
}

} // namespace

uri_parts split_uri(std::string_view text) {
  uri_parts parts;
  parts.fragment = cut_after(text, '#');
  parts.query = cut_after(text, '?');
  const auto colon = text.find(':');
  if (colon != std::string_view::npos && is_scheme(text.substr(0, colon))) {
    parts.scheme = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    const auto end = std::min(text.find('/'), text.size());
    parts.authority = text.substr(0, end);
    text.remove_prefix(end);
  }
  parts.path = text;
  return parts;
}

std::string remove_dot_segments(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const auto next = std::min(path.find('/', 1), path.size());
    const auto segment = path.substr(0, next);
    const bool is_last = next == path.size();
    if (segment == "/..")
      out.erase(std::min(out.rfind('/'), out.size()));
    else if (segment != "/.")
      out += segment;
    if (is_last && (segment == "/." || segment == "/.."))
      out += '/';
    path.remove_prefix(next);
  }
  return out;
}

std::optional<std::string> canonical_encoding(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\')
      return std::nullopt;
    if (text[i] != '%') {
      if (is_plain(text[i]))
        out += text[i];
      else
        append_encoded(out, static_cast<std::uint8_t>(text[i]));
      continue;
    }
    std::array<std::uint8_t, 1> byte{};
    if (!from_hex(text.substr(i + 1, 2), byte))
      return std::nullopt;
    if (is_unreserved(static_cast<char>(byte[0])))
      out += static_cast<char>(byte[0]);
    else
      append_encoded(out, byte[0]);
    i += 2;
  }
  return out;
}

} // namespace purgatory::git
