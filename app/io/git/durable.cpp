#include "app/io/git/durable.hpp"

#include "app/io/git/unique_fd.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace purgatory::io {

void sync_to_disk(const std::filesystem::path& path) {
  const unique_fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file || ::fsync(file.get()) != 0)
    throw std::filesystem::filesystem_error{
      "fsync", path, std::error_code{errno, std::system_category()}};
}

} // namespace purgatory::io
