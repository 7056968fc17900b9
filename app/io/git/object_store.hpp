#pragma once

#include "libsync/ports.hpp"

#include <memory>
#include <string>

namespace purgatory::io {

/// The bare repositories below `git_root`, on libgit2. One object per thread:
/// never shared, but any number may work side by side on different
/// repositories. Errors of libgit2 and of the file system end as `failed`,
/// except in `kinds` and `remove_stale_quarantines`, which have no way to say
/// so and throw std::runtime_error.
std::unique_ptr<object_store> make_object_store(std::string git_root);

} // namespace purgatory::io
