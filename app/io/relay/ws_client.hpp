#pragma once

#include "libsync/ports.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace purgatory::io {

struct ws_limits {
  std::chrono::milliseconds resolve{5'000};
  std::chrono::milliseconds connect{10'000};
  std::chrono::milliseconds handshake{10'000};
  /// A peer that is silent so long, a ping included, is gone.
  std::chrono::milliseconds idle{60'000};
  /// How long the peer is waited for when we close.
  std::chrono::milliseconds close{200};
  std::size_t max_message_bytes = 1024 * 1024;
};

/// A WebSocket without TLS (RFC 6455), on a thread of its own. Connects when
/// it is made; destroying it waits for at most `limits.close`.
class ws_client final : public relay_socket {
public:
  ws_client(const std::string& url, relay_socket_events events,
            ws_limits limits = {});
  ws_client(const ws_client&) = delete;
  ws_client& operator=(const ws_client&) = delete;
  ~ws_client() override;

  void send(std::string message) override;
  void permit(std::size_t messages) override;

private:
  class session;
  std::shared_ptr<session> session_;
};

} // namespace purgatory::io
