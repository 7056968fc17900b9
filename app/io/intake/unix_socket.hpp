#pragma once

#include "app/io/git/unique_fd.hpp"

#include <sys/types.h>

#include <filesystem>

namespace purgatory::io {

/// Connects without waiting. Empty, with errno set, when nobody listens there
/// or the listener's queue is full. The socket is non-blocking.
unique_fd connect_unix(const std::filesystem::path& path);

/// A listening socket with mode 0600 and its file's identity.
struct unix_listener {
  unique_fd socket;
  dev_t device = 0;
  ino_t inode = 0;
};

/// Listens on `path`. A socket file on which nobody listens is replaced.
/// Throws std::system_error, or std::runtime_error when somebody listens or
/// the path is something else.
unix_listener listen_unix(const std::filesystem::path& path);

/// Removes the file if it is still this listener's.
void remove_socket_file(const std::filesystem::path& path,
                        const unix_listener& listener);

} // namespace purgatory::io
