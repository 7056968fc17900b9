#pragma once

#include "app/io/git/bare_repository.hpp"

#include <string>
#include <vector>

namespace purgatory::io {

/// Removes the lock files of these refs, and that of the packed refs, if they
/// are older than a minute; true if there were any. A process that dies in the
/// middle of a ref transaction leaves its locks, which would keep everybody
/// from these refs for ever; one that lives holds a lock for milliseconds.
bool remove_stale_locks(const bare_repository& repo,
                        const std::vector<std::string>& refs);

} // namespace purgatory::io
