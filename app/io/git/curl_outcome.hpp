#pragma once

#include "libsync/git/transfer_watch.hpp"
#include "libsync/types.hpp"

namespace purgatory::io {

/// The class of a libcurl result other than CURLE_OK (rules §8.4). `phase` is
/// how far the request came; `address_refused` that our own address check
/// turned a connection down and none was allowed.
fetch_class curl_outcome(int code, git::transfer_phase phase,
                         bool address_refused);

} // namespace purgatory::io
