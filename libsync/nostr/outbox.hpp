#pragma once

#include "libsync/nostr/event.hpp"
#include "libsync/nostr/publish_rules.hpp"
#include "libsync/nostr/relay_message.hpp"
#include "libsync/types.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace purgatory::nostr {

struct outbox_limits {
  /// Events sent and not yet settled, 1 to 4096.
  std::size_t in_flight = 64;
  /// Of these, read-backs at once: relays allow about 20 subscriptions on one
  /// connection, and one is the live view's.
  std::size_t read_backs = 8;
  /// For an OK, and for the end of a read-back.
  duration answer_deadline = std::chrono::seconds{10};
  duration rate_limited_wait = nostr::rate_limited_wait;
  /// A connection that lasted so long, or brought an OK, was a good one.
  duration good_connection = std::chrono::minutes{1};
};

/// Open a new connection; report `opened` or `lost`.
struct connect_relay {};

/// Send this on the open connection.
struct send_text {
  std::string text;
};

/// The release is over; `detail` is the relay's text.
struct settled {
  event_id id;
  publish_outcome outcome = publish_outcome::released;
  std::string detail;
};

using outbox_effect = std::variant<connect_relay, send_text, settled>;
using outbox_effects = std::vector<outbox_effect>;

/// Releases events to one relay: EVENT, OK, then read back by id (rules §6.7).
///
/// - An event is settled exactly once per stay, by a final word of the relay;
///   until then it is sent again and again, never twice at the same time.
/// - What was sent on a connection that broke is sent again on the next one.
///   A broken connection proves nothing about its events, but one of them may
///   be the cause (too long for this relay): the next connection starts with
///   one event in flight and doubles with every OK, and an event that lost
///   two connections waits before it tries a third.
/// - First come, first sent, as far as nothing has to wait.
///
/// Works on one connection at a time. Answers of an earlier one must not be
/// passed in. Cost per call: logarithmic in the number of events.
class outbox {
public:
  explicit outbox(outbox_limits limits = {});

  /// Asks for the first connection.
  [[nodiscard]] outbox_effects start();
  /// Takes an event in. One that is here already is left as it is.
  [[nodiscard]] outbox_effects publish(const event& what, time_point now);
  [[nodiscard]] outbox_effects opened(time_point now);
  /// The connection ended, or could not be made.
  [[nodiscard]] outbox_effects lost(time_point now);
  [[nodiscard]] outbox_effects received(const ok_answer& answer,
                                        time_point now);
  /// Events of subscriptions that are not ours are ignored, as in `ended`.
  [[nodiscard]] outbox_effects received(const served_event& served,
                                        time_point now);
  [[nodiscard]] outbox_effects received(const end_of_stored& end,
                                        time_point now);
  [[nodiscard]] outbox_effects received(const subscription_closed& end,
                                        time_point now);
  /// Does what is due.
  [[nodiscard]] outbox_effects tick(time_point now);

  /// When `tick` has to be called next; nothing: not before another input.
  std::optional<time_point> wake_at() const;
  /// Events not settled.
  std::size_t size() const { return entries_.size(); }
  bool is_connected() const { return link_ == link::up; }

private:
  enum class link : std::uint8_t { idle, connecting, up, down };
  enum class phase : std::uint8_t { queued, sent, accepted, reading };
  /// When to go on (queued) or to give up waiting (sent, reading).
  using agenda = std::set<std::pair<time_point, std::uint64_t>>;

  struct entry {
    std::uint64_t serial = 0; ///< Order of arrival.
    event what;
    time_point since;
    phase at = phase::queued;
    time_point due;
    std::uint32_t failures = 0; ///< In a row.
    std::uint32_t cuts = 0;     ///< Connections lost while it waited for OK.
    std::string detail;
    std::uint64_t read = 0; ///< Names the subscription while reading.
    bool newer_served = false;
  };

  entry* find(const event_id& id);
  entry* reader(const std::string& subscription);
  void queue(entry& item, time_point due);
  void await(entry& item, phase at, time_point now);
  void leave_phase(entry& item);
  void fail(entry& item, std::string detail, time_point now);
  void settle(entry& item, publish_outcome outcome, outbox_effects& out);
  void end_read(const std::string& subscription, time_point now,
                outbox_effects& out);
  void overdue(entry& item, time_point now, outbox_effects& out);
  void pump(time_point now, outbox_effects& out);
  void send_due(time_point now, outbox_effects& out);
  void read_accepted(time_point now, outbox_effects& out);

  outbox_limits limits_;
  link link_ = link::idle;
  time_point link_since_;
  std::uint32_t losses_ = 0;
  std::uint64_t serials_ = 0;
  std::size_t window_;
  std::map<std::uint64_t, entry> entries_;
  std::unordered_map<event_id, std::uint64_t> serial_of_;
  agenda queued_;
  agenda awaiting_;
  std::deque<std::uint64_t> accepted_;
  /// Fresh numbers, so that a late answer meets no later read-back.
  std::uint64_t reads_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> serial_of_read_;
};

} // namespace purgatory::nostr
