#pragma once

#include "libsync/engine/host_schedule.hpp"
#include "libsync/fetch_signal.hpp"
#include "libsync/types.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace purgatory::sim {

/// What the throttle of one host is in the daemon, without an actor round it:
/// the only place that knows how a host is scheduled.
class host_door {
public:
  /// Who waits, as the schedule names him.
  struct waiter {
    unit_key who;
    std::uint64_t resident = 0; ///< Serial of the plan that asked.
  };
  struct turn {
    waiter to;
    lease_id lease;
  };

  host_door(host_key host, std::uint32_t serial,
            const engine::start_limits& limits);

  [[nodiscard]] const host_key& host() const { return host_; }
  [[nodiscard]] std::uint32_t serial() const { return serial_; }
  [[nodiscard]] engine::host_schedule& schedule() { return schedule_; }
  [[nodiscard]] const engine::host_schedule& schedule() const {
    return schedule_;
  }

  void enqueue(const unit_key& who, std::uint64_t resident, lane where);
  void leave(const unit_key& who);

  // Answers to a turn.
  void start(lease_id lease) { schedule_.start(lease); }
  void defer(lease_id lease);
  void withdraw(lease_id lease);
  void completed(lease_id lease, fetch_class outcome,
                 std::optional<std::chrono::seconds> retry_after,
                 time_point now);

  /// Turns that are to be told, in order.
  [[nodiscard]] std::vector<turn> pump(time_point now);

  /// True while somebody has to wait for the rate or for a free slot.
  [[nodiscard]] bool has_backlog(time_point now);

  /// Whoever has asked for a turn here and is awake.
  std::map<identifier, std::uint64_t> users;
  std::optional<time_point> armed; ///< Of the earliest timer that is out.

private:
  void forget_if_gone(const std::string& subject);

  host_key host_;
  std::uint32_t serial_;
  engine::host_schedule schedule_;
  std::unordered_map<std::string, waiter> waiters_;
  std::unordered_map<lease_id, std::string> holders_;
};

} // namespace purgatory::sim
