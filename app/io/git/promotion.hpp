#pragma once

#include <filesystem>

namespace purgatory::io {

/// Moves the objects of a quarantine into the object directory it lies in, and
/// makes that durable. Packs go as a whole with the index last, since the index
/// is what makes a pack visible; loose objects one by one. May be repeated
/// after a crash: what has moved already is not there any more. A quarantine
/// that is gone is one with nothing left to move. Throws
/// std::filesystem::filesystem_error.
void move_objects(const std::filesystem::path& quarantine,
                  const std::filesystem::path& objects);

} // namespace purgatory::io
