#pragma once

#include "app/io/git/fetch_settings.hpp"
#include "libsync/ports.hpp"

#include <filesystem>
#include <memory>

namespace purgatory::io {

/// The smart HTTP client, fetch only (libgit2.md §0, §1.3). Make one per
/// worker thread: it keeps connections and what it learned about hosts.
/// Packs are proven in `objects/tmp_fetch-*` of the target below `git_root`
/// and left there for the target's repository actor.
///
/// The process ignores SIGPIPE from the first call on. Throws
/// std::runtime_error when libcurl can't start.
std::unique_ptr<git_transport>
make_fetch_client(const fetch_settings& settings,
                  std::filesystem::path git_root);

} // namespace purgatory::io
