#include "libsync/git/clone_url.hpp"

#include "libsync/git/canonical_host.hpp"
#include "libsync/git/uri.hpp"

#include <algorithm>
#include <charconv>

namespace purgatory::git {

namespace {

constexpr std::size_t max_url_bytes = 2048;

/// A place on the net; port 0 stands for the scheme's default.
struct endpoint {
  host_key host;
  std::uint16_t port = 0;
};

bool is_control(char byte) {
  return static_cast<unsigned char>(byte) < 0x20 || byte == '\x7f';
}

std::string ascii_lower(std::string_view text) {
  std::string lower{text};
  for (auto& letter : lower)
    if (letter >= 'A' && letter <= 'Z')
      letter = static_cast<char>(letter - 'A' + 'a');
  return lower;
}

/// 0 for a scheme without a port that we know.
std::uint16_t default_port(std::string_view scheme) {
  if (scheme == "http" || scheme == "ws")
    return 80;
  if (scheme == "https" || scheme == "wss")
    return 443;
  return 0;
}

/// Nothing unless 1..65535; empty text is allowed and means the default.
std::optional<std::uint16_t> parse_port(std::string_view text) {
  if (text.empty())
    return std::uint16_t{0};
  std::uint16_t port = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, port);
  if (error != std::errc{} || stop != end || port == 0)
    return std::nullopt;
  return port;
}

/// `[userinfo@]host[:port]`. The userinfo is dropped; since it can't hold `@`,
/// a second one is an error and never another host.
std::optional<endpoint> parse_authority(std::string_view text) {
  if (const auto at = text.find('@'); at != std::string_view::npos) {
    if (!canonical_encoding(text.substr(0, at)))
      return std::nullopt;
    text.remove_prefix(at + 1);
  }
  const auto bracket = text.rfind(']');
  const auto colon
    = text.find(':', bracket == std::string_view::npos ? 0 : bracket);
  const auto host = canonical_host(text.substr(0, colon));
  if (!host)
    return std::nullopt;
  if (colon == std::string_view::npos)
    return endpoint{*host, 0};
  const auto port = parse_port(text.substr(colon + 1));
  if (!port)
    return std::nullopt;
  return endpoint{*host, *port};
}

std::string origin_text(const endpoint& place) {
  auto text = bracketed(place.host);
  if (place.port != 0)
    text += ':' + std::to_string(place.port);
  return text;
}

/// Path and query in canonical form.
std::optional<std::string> canonical_path(const uri_parts& parts) {
  const auto path = canonical_encoding(parts.path);
  if (!path)
    return std::nullopt;
  auto result = remove_dot_segments(*path);
  if (result.empty())
    result = "/";
  if (!parts.query)
    return result;
  const auto query = canonical_encoding(*parts.query);
  if (!query)
    return std::nullopt;
  return result + '?' + *query;
}

/// Text that git takes as `host:path`.
bool looks_scp_like(std::string_view text) {
  const auto colon = text.find_first_of(" /:");
  return colon != std::string_view::npos && colon > 0 && text[colon] == ':';
}

/// `relative` behind the last slash of `base`, RFC 3986 §5.2.3.
std::string merge_paths(std::string_view base, std::string_view relative) {
  std::string merged{base.substr(0, base.rfind('/') + 1)};
  merged += relative;
  return merged;
}

} // namespace

std::string clone_url::origin() const {
  const bool is_default = port == default_port(scheme);
  return origin_text({host, is_default ? std::uint16_t{0} : port});
}

std::variant<clone_url, url_refusal> parse_clone_url(std::string_view text) {
  if (text.size() > max_url_bytes
      || std::any_of(text.begin(), text.end(), is_control))
    return url_refusal::malformed;
  const auto parts = split_uri(text);
  if (!parts.scheme)
    return looks_scp_like(text) ? url_refusal::unsupported
                                : url_refusal::malformed;
  clone_url url;
  url.scheme = ascii_lower(*parts.scheme);
  if (url.scheme != "http" && url.scheme != "https")
    return url_refusal::unsupported;
  if (!parts.authority)
    return url_refusal::malformed;
  auto place = parse_authority(*parts.authority);
  auto path = canonical_path(parts);
  if (!place || !path)
    return url_refusal::malformed;
  url.host = std::move(place->host);
  url.port = place->port != 0 ? place->port : default_port(url.scheme);
  url.path = std::move(*path);
  url.text = remote_url{url.scheme + "://" + url.origin() + url.path};
  return url;
}

std::optional<std::string> parse_origin(std::string_view text) {
  if (text.size() > max_url_bytes
      || std::any_of(text.begin(), text.end(), is_control))
    return std::nullopt;
  const bool is_url = text.find("://") != std::string_view::npos;
  const auto parts = is_url ? split_uri(text) : uri_parts{};
  if (is_url && (!parts.scheme || !parts.authority))
    return std::nullopt;
  auto place = parse_authority(is_url ? *parts.authority : text);
  if (!place)
    return std::nullopt;
  // Without a scheme either default says nothing.
  const bool is_default
    = is_url ? place->port == default_port(ascii_lower(*parts.scheme))
             : place->port == 80 || place->port == 443;
  if (is_default)
    place->port = 0;
  return origin_text(*place);
}

std::variant<clone_url, url_refusal>
resolve_redirect(const clone_url& base, std::string_view location) {
  const auto parts = split_uri(location);
  if (parts.scheme)
    return parse_clone_url(location);
  if (parts.authority)
    return parse_clone_url(base.scheme + ':' + std::string{location});
  const auto base_parts = split_uri(base.text.value);
  std::string target = base.scheme + "://" + base.origin();
  if (parts.path.empty())
    target += base_parts.path;
  else if (parts.path.starts_with('/'))
    target += parts.path;
  else
    target += merge_paths(base_parts.path, parts.path);
  const auto query
    = parts.path.empty() && !parts.query ? base_parts.query : parts.query;
  if (query)
    target += '?' + std::string{*query};
  return parse_clone_url(target);
}

} // namespace purgatory::git
