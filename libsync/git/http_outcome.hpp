#pragma once

#include "libsync/types.hpp"

#include <chrono>
#include <optional>
#include <string_view>

namespace purgatory::git {

/// The class of a final HTTP status on a git URL (rules §8.4). `ok` for 200
/// only: what the body holds is for its parser to say. A redirect that we do
/// not follow is `policy`.
fetch_class http_outcome(int status, bool has_retry_after);

/// How long a Retry-After field asks us to stay away (RFC 9110 §10.2.3): its
/// seconds, or the time from `now` to its date; from 0 to 24 h, whatever it
/// says. Nothing when it is neither.
std::optional<std::chrono::seconds> parse_retry_after(std::string_view text,
                                                      unix_seconds now);

/// True for 301, 302, 303, 307 and 308.
bool is_redirect(int status);

/// True for a status by which a server refuses a v2 request as such and may
/// still answer a v0 one.
bool refuses_protocol(int status);

} // namespace purgatory::git
