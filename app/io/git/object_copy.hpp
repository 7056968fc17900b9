#pragma once

#include "libsync/ports.hpp"

#include <filesystem>
#include <vector>

namespace purgatory::io {

/// Brings `ids` and everything they need from one bare repository into another
/// as one pack, without what the branches and tags of `to` have already. Every
/// stored object is closed, so the pack needs no proof of its own; the content
/// is git's own (`pack-objects`), in a child with limits. `missing` when `from`
/// has not all of `ids`. May throw libgit2_error or
/// std::filesystem::filesystem_error.
store_report copy_objects(const std::filesystem::path& from,
                          const std::filesystem::path& to,
                          const std::vector<oid>& ids);

} // namespace purgatory::io
