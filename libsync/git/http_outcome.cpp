#include "libsync/git/http_outcome.hpp"

#include "libsync/git/http_date.hpp"

#include <algorithm>

namespace purgatory::git {

namespace {

constexpr unix_seconds longest_wait = 24 * 60 * 60;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Any number of digits; what is too long to count is the longest wait.
unix_seconds delay_seconds(std::string_view digits) {
  unix_seconds value = 0;
  for (const auto digit : digits)
    value = std::min(value * 10 + (digit - '0'), longest_wait);
  return value;
}

} // namespace

fetch_class http_outcome(int status, bool has_retry_after) {
  switch (status) {
  case 200:
    return fetch_class::ok;
  case 401:
  case 403:
    return fetch_class::auth;
  case 404:
  case 410:
    return fetch_class::no_repo;
  case 408:
    return fetch_class::timeout;
  case 429:
    return fetch_class::limited;
  case 503:
    return has_retry_after ? fetch_class::limited : fetch_class::server;
  default:
    break;
  }
  if (status >= 300 && status < 400)
    return fetch_class::policy;
  if (status >= 500 && status < 600)
    return fetch_class::server;
  // Other answers are those of a server that is no git server.
  return fetch_class::unsupported;
}

std::optional<std::chrono::seconds> parse_retry_after(std::string_view text,
                                                      unix_seconds now) {
  const auto value = without_blanks(text);
  if (!value.empty() && std::all_of(value.begin(), value.end(), is_digit))
    return std::chrono::seconds{delay_seconds(value)};
  const auto date = parse_http_date(value, now);
  if (!date)
    return std::nullopt;
  if (*date <= now)
    return std::chrono::seconds{0};
  // The distance may not fit where `now` is far below zero.
  const bool is_near = *date - longest_wait <= now;
  return std::chrono::seconds{is_near ? *date - now : longest_wait};
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307
         || status == 308;
}

bool refuses_protocol(int status) {
  return status == 400 || status == 405 || status == 406 || status == 415
         || status == 501;
}

} // namespace purgatory::git
