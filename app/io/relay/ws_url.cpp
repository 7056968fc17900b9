#include "app/io/relay/ws_url.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace purgatory::io {

namespace {

constexpr std::string_view scheme = "ws://";

bool is_plain(char c) {
  return c > ' ' && c < 0x7F && c != '#' && c != '@' && c != '\\';
}

bool has_scheme(std::string_view url) {
  return url.size() >= scheme.size()
         && std::equal(
           scheme.begin(), scheme.end(), url.begin(), [](char wanted, char c) {
             return wanted
                    == (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a')
                                             : c);
           });
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, port);
  if (error != std::errc{} || stop != end || port == 0)
    return std::nullopt;
  return port;
}

/// Splits `host[:port]`; the colons of an IPv6 address are in its brackets.
std::optional<std::pair<std::string_view, std::string_view>>
split_authority(std::string_view authority) {
  if (!authority.starts_with('[')) {
    const auto colon = authority.find(':');
    const auto port = colon == std::string_view::npos ? std::string_view{}
                                                      : authority.substr(colon);
    return std::pair{authority.substr(0, colon), port};
  }
  const auto close = authority.find(']');
  if (close == std::string_view::npos)
    return std::nullopt;
  return std::pair{authority.substr(1, close - 1), authority.substr(close + 1)};
}

} // namespace

std::optional<ws_target> parse_ws_url(std::string_view url) {
  if (!has_scheme(url) || !std::ranges::all_of(url, is_plain))
    return std::nullopt;
  url.remove_prefix(scheme.size());
  const auto end = std::min(url.find_first_of("/?"), url.size());
  const auto authority = url.substr(0, end);
  const auto parts = split_authority(authority);
  if (!parts || parts->first.empty())
    return std::nullopt;
  ws_target target;
  target.host = parts->first;
  target.header = authority;
  if (!parts->second.empty()) {
    if (parts->second.front() != ':')
      return std::nullopt;
    const auto port = parse_port(parts->second.substr(1));
    if (!port)
      return std::nullopt;
    target.port = *port;
  }
  target.path = url.substr(end);
  if (!target.path.starts_with('/'))
    target.path.insert(target.path.begin(), '/');
  return target;
}

} // namespace purgatory::io
