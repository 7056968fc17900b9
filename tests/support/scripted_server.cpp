#include "tests/support/scripted_server.hpp"

#include "tests/support/loopback.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <stdexcept>

namespace purgatory::test {

namespace {

constexpr std::size_t max_request = std::size_t{8} << 20U;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return text;
}

scripted_request parse_head(const std::string& head) {
  scripted_request request;
  const auto line_end = head.find("\r\n");
  const auto first = head.substr(0, line_end);
  const auto one = first.find(' ');
  const auto two = first.find(' ', one + 1);
  if (one == std::string::npos || two == std::string::npos)
    throw std::runtime_error("not an HTTP request: " + first);
  request.method = first.substr(0, one);
  request.target = first.substr(one + 1, two - one - 1);
  for (auto at = line_end + 2; at < head.size();) {
    const auto end = std::min(head.find("\r\n", at), head.size());
    const auto line = head.substr(at, end - at);
    const auto colon = line.find(':');
    if (colon != std::string::npos)
      request.headers[lower(line.substr(0, colon))]
        = line.substr(line.find_first_not_of(' ', colon + 1));
    at = end + 2;
  }
  return request;
}

} // namespace

bool scripted_connection::read(scripted_request& into) {
  const auto fill = [this] {
    std::array<char, 16384> block{};
    const auto n = ::recv(fd_, block.data(), block.size(), 0);
    if (n > 0)
      unread_.append(block.data(), static_cast<std::size_t>(n));
    return n > 0 && unread_.size() < max_request;
  };
  auto head_end = unread_.find("\r\n\r\n");
  for (; head_end == std::string::npos; head_end = unread_.find("\r\n\r\n"))
    if (!fill())
      return false;
  into = parse_head(unread_.substr(0, head_end));
  unread_.erase(0, head_end + 4);
  const auto length = into.headers.find("content-length");
  const auto bytes
    = length == into.headers.end() ? 0 : std::stoul(length->second);
  while (unread_.size() < bytes)
    if (!fill())
      return false;
  into.body = unread_.substr(0, bytes);
  unread_.erase(0, bytes);
  return true;
}

bool scripted_connection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0)
      return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool scripted_connection::answer(int status, std::string_view body,
                                 const std::vector<std::string>& headers) {
  std::string head
    = "HTTP/1.1 " + std::to_string(status)
      + " Scripted\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  for (const auto& line : headers)
    head += line + "\r\n";
  return send(head + "\r\n" + std::string{body});
}

void scripted_connection::pause(std::chrono::milliseconds span) const {
  // Wakes when the client leaves or the server ends and shuts the socket down.
  pollfd watched{fd_, POLLRDHUP, 0};
  ::poll(&watched, 1, static_cast<int>(span.count()));
}

scripted_server::scripted_server(script what)
  : script_(std::move(what)), address_(own_loopback_address()) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  ::inet_pton(AF_INET, address_.c_str(), &name.sin_addr);
  socklen_t size = sizeof name;
  auto* const raw = reinterpret_cast<sockaddr*>(&name);
  if (listener_ < 0 || ::bind(listener_, raw, size) != 0
      || ::listen(listener_, 64) != 0
      || ::getsockname(listener_, raw, &size) != 0)
    throw std::runtime_error("cannot listen on " + address_);
  port_ = ntohs(name.sin_port);
  acceptor_ = std::thread{[this] { accept_all(); }};
}

scripted_server::~scripted_server() {
  stopping_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  {
    const std::lock_guard lock{mutex_};
    for (const int fd : open_)
      ::shutdown(fd, SHUT_RDWR);
  }
  for (auto& client : clients_)
    client.join();
  ::close(listener_);
}

std::string scripted_server::url(const std::string& name) const {
  return "http://" + address_ + ":" + std::to_string(port_) + "/" + name;
}

void scripted_server::accept_all() {
  while (!stopping_) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0)
      return;
    ++accepted_;
    const std::lock_guard lock{mutex_};
    open_.push_back(fd);
    clients_.emplace_back([this, fd] {
      scripted_connection connection{fd, stopping_};
      script_(connection);
      const std::lock_guard own_lock{mutex_};
      open_.remove(fd);
      ::close(fd);
    });
  }
}

} // namespace purgatory::test
