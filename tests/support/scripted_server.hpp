#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace purgatory::test {

/// One request as it came in.
struct scripted_request {
  std::string method;
  std::string target;
  std::map<std::string, std::string> headers; ///< Names in lower case.
  std::string body;
};

/// One client of a scripted server, seen from the server.
class scripted_connection {
public:
  scripted_connection(int fd, const std::atomic<bool>& stopping)
    : fd_(fd), stopping_(stopping) {}

  /// The next request; false when the client has gone.
  bool read(scripted_request& into);
  /// Sends raw bytes; false when the client has gone.
  bool send(std::string_view bytes);
  /// Sends a whole answer with its Content-Length.
  bool answer(int status, std::string_view body,
              const std::vector<std::string>& headers = {});
  /// Waits this long, less when the client leaves or the server ends.
  void pause(std::chrono::milliseconds span) const;
  /// True when the server is about to end: scripts that loop must look.
  bool stopping() const { return stopping_.load(); }

private:
  int fd_;
  const std::atomic<bool>& stopping_;
  std::string unread_;
};

/// A server that does exactly what a test tells it, well or badly. The script
/// runs once for each connection, on a thread of its own; when it returns, the
/// connection is closed. Ready-made scripts: scripted_git.hpp.
class scripted_server {
public:
  using script = std::function<void(scripted_connection&)>;

  explicit scripted_server(script what);
  ~scripted_server();

  const std::string& address() const { return address_; }
  std::uint16_t port() const { return port_; }
  /// `http://<address>:<port>/<name>`
  std::string url(const std::string& name) const;
  /// Connections accepted so far.
  int connections() const { return accepted_.load(); }

private:
  void accept_all();

  script script_;
  std::string address_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  std::atomic<bool> stopping_{false};
  std::atomic<int> accepted_{0};
  std::mutex mutex_;
  std::list<int> open_; ///< Guarded by `mutex_`.
  std::vector<std::thread> clients_;
  std::thread acceptor_;
};

} // namespace purgatory::test
