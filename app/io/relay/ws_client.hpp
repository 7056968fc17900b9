#pragma once

#include "libsync/ports.hpp"

#include <chrono>
#include <cstddef>

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

/// Sockets that speak WebSocket without TLS (RFC 6455), each on a thread of its
/// own. Destroying one waits for at most `limits.close`.
relay_socket_factory make_ws_factory(ws_limits limits = {});

} // namespace purgatory::io
