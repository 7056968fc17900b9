#pragma once

#include "libsync/engine/alarm.hpp"
#include "libsync/engine/timer_queue.hpp"
#include "messages/actors.hpp"

#include <caf/actor_addr.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <optional>
#include <unordered_map>

namespace purgatory {

/// Shell of a timer_queue: one timer of the actor system for any number of
/// waits. It holds nobody alive, and keeps nothing of who died: a kept address
/// would keep the memory of the whole actor.
class timer_wheel_state {
public:
  using pointer = timer_wheel_actor::stateful_pointer<timer_wheel_state>;
  static inline const char* name = "timer_wheel";

  explicit timer_wheel_state(pointer self) : self_(self) {}

  timer_wheel_actor::behavior_type make_behavior();

  // -- for tests
  // ---------------------------------------------------------------

  [[nodiscard]] std::size_t waits() const { return waits_.size(); }
  [[nodiscard]] std::size_t remembered() const { return armers_.size(); }

private:
  void on_arm(const arm_tick& wanted, const tick_sink& sleeper);
  void on_down(const caf::actor_addr& sleeper);
  void fire_due();
  void arm();

  pointer self_;
  engine::timer_queue waits_;
  engine::alarm alarm_;
  /// Who ever armed and lives; each is monitored.
  std::unordered_map<engine::timer_key, caf::actor_addr> armers_;
};

/// Sends `backoff_tick` to whoever armed it, never early. An actor has one
/// armed time: arming again replaces it. Without waits there is no timer.
timer_wheel_actor::behavior_type timer_wheel(timer_wheel_state::pointer self);

} // namespace purgatory
