#pragma once

#include "libsync/types.hpp"

namespace purgatory::git {

/// The class of a final HTTP status on a git URL (rules §8.4). `ok` for 200
/// only: what the body holds is for its parser to say. A redirect that we do
/// not follow is `policy`.
fetch_class http_outcome(int status, bool has_retry_after);

/// True for 301, 302, 303, 307 and 308.
bool is_redirect(int status);

/// True for a status by which a server refuses a v2 request as such and may
/// still answer a v0 one.
bool refuses_protocol(int status);

} // namespace purgatory::git
