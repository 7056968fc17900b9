#include "app/io/intake/unix_socket.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

namespace purgatory::io {

namespace {

std::optional<sockaddr_un> address_of(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto& text = path.native();
  if (text.empty() || text.size() >= sizeof(address.sun_path))
    return std::nullopt;
  std::memcpy(address.sun_path, text.c_str(), text.size() + 1);
  return address;
}

unique_fd make_socket() {
  return unique_fd{
    ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
}

[[noreturn]] void fail(const std::filesystem::path& path, const char* what) {
  throw std::system_error(errno, std::generic_category(),
                          path.string() + ": " + what);
}

[[noreturn]] void refuse(const std::filesystem::path& path, const char* why) {
  throw std::runtime_error(path.string() + ": " + why);
}

/// Clears the way for `bind`, but never takes a living daemon's socket.
void remove_stale(const std::filesystem::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT)
      return;
    fail(path, "can not look for an old socket");
  }
  if (!S_ISSOCK(found.st_mode))
    refuse(path, "exists and is no socket");
  if (connect_unix(path) || errno != ECONNREFUSED)
    refuse(path, "another process listens there");
  if (::unlink(path.c_str()) != 0)
    fail(path, "can not remove the old socket");
}

} // namespace

unique_fd connect_unix(const std::filesystem::path& path) {
  const auto address = address_of(path);
  if (!address) {
    errno = ENAMETOOLONG;
    return {};
  }
  auto socket = make_socket();
  if (!socket
      || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&*address),
                   sizeof(*address))
           != 0)
    return {};
  return socket;
}

unix_listener listen_unix(const std::filesystem::path& path) {
  const auto address = address_of(path);
  if (!address)
    refuse(path, "is too long for a socket");
  remove_stale(path);
  unix_listener result{make_socket()};
  struct stat made {};
  // Nobody can connect between bind and listen, so the mode is in force
  // before anybody comes.
  if (!result.socket
      || ::bind(result.socket.get(),
                reinterpret_cast<const sockaddr*>(&*address), sizeof(*address))
           != 0
      || ::chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0
      || ::lstat(path.c_str(), &made) != 0
      || ::listen(result.socket.get(), SOMAXCONN) != 0)
    fail(path, "can not listen");
  result.device = made.st_dev;
  result.inode = made.st_ino;
  return result;
}

void remove_socket_file(const std::filesystem::path& path,
                        const unix_listener& listener) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) == 0 && found.st_dev == listener.device
      && found.st_ino == listener.inode)
    ::unlink(path.c_str());
}

} // namespace purgatory::io
