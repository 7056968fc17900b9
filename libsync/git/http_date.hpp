#pragma once

#include "libsync/types.hpp"

#include <optional>
#include <string_view>

namespace purgatory::git {

/// The moment that an HTTP-date names, in each of its three forms (RFC 9110
/// §5.6.7). The name of the weekday has to be one but need not fit. `now`
/// decides the century of a year with two digits. Nothing for other texts.
std::optional<unix_seconds> parse_http_date(std::string_view text,
                                            unix_seconds now);

} // namespace purgatory::git
