#pragma once

#include "libsync/nostr/outbox.hpp"
#include "libsync/ports.hpp"
#include "messages/actors.hpp"

#include <caf/typed_response_promise.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace purgatory {

struct relay_link_config {
  std::string url; ///< ws://host[:port][/path]
  nostr::outbox_limits outbox;
  /// Messages of the relay in our hands at once: unread ones, and events that
  /// intake has not answered yet. 1 to 4096; one may be 1 MiB long.
  std::size_t max_unconfirmed = 128;
  /// When the relay ends the live view, ask for it again after this.
  duration watch_again = std::chrono::minutes{1};
  /// Hears once when what the relay had stored was offered; may be null.
  history_sink history = {};
};

/// Who waits for which release, the socket, and the one armed timer.
struct relay_link_state {
  static inline const char* name = "relay_link";
  explicit relay_link_state(relay_link_io::pointer) {}

  relay_link_config config;
  relay_socket_factory connect;
  intake_actor intake; ///< Null until `watch_relay`.
  nostr::outbox box;
  std::unordered_map<event_id,
                     std::vector<caf::typed_response_promise<published>>>
    waiting;
  std::unique_ptr<relay_socket> socket;
  std::uint64_t connection = 0;
  bool is_outage = false;
  std::size_t unconfirmed = 0;   ///< Offers that intake has not answered.
  std::uint64_t offer_epoch = 0; ///< Answers to earlier offers are ignored.
  std::optional<time_point> watch_due;
  std::optional<time_point> armed;
  std::uint64_t generation = 0;
};

/// The connection to our relay. Releases what is published to it (the rules
/// are those of nostr::outbox) and follows what it serves: announcements and
/// deletions, stored and live, are offered to intake. Connects at once and for
/// ever; a relay that is down keeps nobody waiting but those who publish.
relay_link_io::behavior_type
relay_link(relay_link_io::stateful_pointer<relay_link_state> self,
           relay_link_config config, relay_socket_factory connect);

} // namespace purgatory
