#include "actors/timer_wheel.hpp"

#include "actors/harden.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/scheduled_actor.hpp>

namespace purgatory {

timer_wheel_actor::behavior_type timer_wheel_state::make_behavior() {
  harden(self_);
  self_->set_down_handler(
    [this](const caf::down_msg& down) { on_down(down.source); });
  return {
    [this](const arm_tick& wanted, const tick_sink& sleeper) {
      on_arm(wanted, sleeper);
    },
    [this](const backoff_tick& tick) {
      if (alarm_.rings(tick.generation))
        fire_due();
    },
  };
}

void timer_wheel_state::on_arm(const arm_tick& wanted,
                               const tick_sink& sleeper) {
  const auto key = sleeper.id();
  waits_.arm(key, wanted.due, wanted.generation);
  if (armers_.emplace(key, sleeper.address()).second)
    self_->monitor(sleeper);
  arm();
}

void timer_wheel_state::on_down(const caf::actor_addr& sleeper) {
  waits_.disarm(sleeper.id());
  armers_.erase(sleeper.id());
}

void timer_wheel_state::fire_due() {
  for (const auto& due : waits_.take_due(self_->clock().now())) {
    const auto& sleeper = armers_.at(due.key);
    if (const auto alive = caf::actor_cast<caf::strong_actor_ptr>(sleeper))
      self_->send(caf::actor_cast<tick_sink>(alive),
                  backoff_tick{due.generation});
  }
  arm();
}

void timer_wheel_state::arm() {
  const auto at = waits_.next_due();
  if (const auto number = alarm_.arm(at))
    self_->scheduled_send(self_, *at, backoff_tick{*number});
}

timer_wheel_actor::behavior_type timer_wheel(timer_wheel_state::pointer self) {
  return self->state.make_behavior();
}

} // namespace purgatory
