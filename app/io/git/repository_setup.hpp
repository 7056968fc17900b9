#pragma once

#include <filesystem>

namespace purgatory::io {

/// Makes sure that `path` is a bare repository with our settings: no automatic
/// gc or repack (it would drop objects that no ref names yet), our private
/// refs hidden, wants by object id allowed, HEAD at refs/heads/main when it is
/// new. A new one is built aside and appears as a whole; a half-made one is
/// completed, an existing one keeps what it has. Throws libgit2_error or
/// std::filesystem::filesystem_error.
void set_up_repository(const std::filesystem::path& path);

/// Removes what a crash in the middle of set_up_repository left in `folder`.
void remove_unfinished_setups(const std::filesystem::path& folder);

} // namespace purgatory::io
