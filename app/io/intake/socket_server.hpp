#pragma once

#include "messages/messages.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>

/// The Unix socket by which relays and `submit` offer events: strfry's lines
/// in, strfry's lines out (libsync/nostr/strfry_line.hpp).
namespace purgatory::io {

struct socket_options {
  std::filesystem::path path;
  std::size_t max_event_bytes = 256 * 1024;
  /// Requests not answered yet, of all clients and of one. Beyond, lines stay
  /// unread in the kernel.
  std::size_t max_outstanding = 4096;
  std::size_t max_outstanding_per_client = 1024;
  std::size_t max_clients = 256;
};

/// A line may be so much longer than its event.
inline constexpr std::size_t line_overhead_bytes = 64 * 1024;

/// What is told when nobody can decide (rules §2.1).
inline constexpr const char* unavailable_text = "error: purgatory unavailable";

/// Called on any thread, at most once; later calls do nothing. Letting go of
/// all copies without a call answers "purgatory unavailable".
using admission_reply = std::function<void(admission)>;

/// Decides about one event; called on the server's thread, must not block.
using admission_handler = std::function<void(offer, admission_reply)>;

/// Answers every line, per client in the order of its lines. A line that is no
/// request is rejected with its reason, one that is too long also ends its
/// connection. Runs on a thread of its own until `stop`.
class socket_server {
public:
  /// Binds with mode 0600. A socket file on which nobody listens is replaced.
  /// Throws std::system_error, or std::runtime_error when somebody listens or
  /// the path is something else.
  socket_server(socket_options options, admission_handler handler);
  socket_server(const socket_server&) = delete;
  socket_server& operator=(const socket_server&) = delete;
  ~socket_server();

  /// Closes the listener and all connections, removes the socket file. What
  /// is answered later goes nowhere.
  void stop();

private:
  class core;
  std::shared_ptr<core> core_;
};

} // namespace purgatory::io
