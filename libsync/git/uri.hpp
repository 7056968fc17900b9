#pragma once

#include <optional>
#include <string>
#include <string_view>

/// The generic syntax of RFC 3986, as far as clone URLs need it.
namespace purgatory::git {

/// A reference cut into its components, not yet judged. Views into the text.
struct uri_parts {
  std::optional<std::string_view> scheme;
  std::optional<std::string_view> authority;
  std::string_view path;
  std::optional<std::string_view> query;
  std::optional<std::string_view> fragment;
};

/// Cuts `text` as RFC 3986 appendix B does. Never fails.
uri_parts split_uri(std::string_view text);

/// RFC 3986 §5.2.4: the path without `.` and `..` segments.
std::string remove_dot_segments(std::string_view path);

/// A path or query with percent-encoding in canonical form (RFC 3986 §6.2.2):
/// upper-case digits, unreserved characters decoded; characters that must not
/// stand raw, such as spaces and non-ASCII (RFC 3987 §3.1), encoded. Nothing
/// when a `%` is not followed by two hex digits, or for a backslash.
std::optional<std::string> canonical_encoding(std::string_view text);

} // namespace purgatory::git
