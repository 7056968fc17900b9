#include "tests/support/loopback.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>

namespace purgatory::test {

std::string own_loopback_address() {
  // Tests run as parallel processes: the process id spreads them.
  static std::atomic<std::uint32_t> serial{0};
  const auto number
    = static_cast<std::uint32_t>(::getpid()) * 61U + serial.fetch_add(1);
  return "127." + std::to_string(16 + number / 250 % 224) + "."
         + std::to_string(1 + number % 250) + ".1";
}

std::uint16_t free_port(const std::string& address) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  ::inet_pton(AF_INET, address.c_str(), &name.sin_addr);
  socklen_t size = sizeof name;
  auto* const raw = reinterpret_cast<sockaddr*>(&name);
  const bool bound = fd >= 0 && ::bind(fd, raw, size) == 0
                     && ::getsockname(fd, raw, &size) == 0;
  ::close(fd);
  if (!bound)
    throw std::runtime_error("no free port on " + address);
  return ntohs(name.sin_port);
}

} // namespace purgatory::test
