#pragma once

#include <filesystem>

namespace purgatory::io {

/// Makes a file's content, or a directory's list of names, survive a power
/// cut. Throws std::filesystem::filesystem_error.
void sync_to_disk(const std::filesystem::path& path);

} // namespace purgatory::io
