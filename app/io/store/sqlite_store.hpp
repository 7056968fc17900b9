#pragma once

#include "app/io/store/store_file.hpp"
#include "libsync/ports.hpp"

#include <memory>
#include <string>

namespace purgatory {

/// The journal in the SQLite file at `path` (rules §10): write-ahead log,
/// every commit synced. Holds `<path>.lock`, so that two processes never share
/// a journal. Opening counts as an unclean run until close_clean(). A damaged
/// file is replaced by what is readable in it, and `notice` hears of it.
/// Throws std::runtime_error when another process has it, or when it is of
/// another program or a newer version.
std::unique_ptr<event_store> open_sqlite_store(const std::string& path,
                                               const notice_sink& notice);

} // namespace purgatory
