#include "libsync/sim/world.hpp"

namespace purgatory::sim {

git::plan_settings plan_settings_of(const daemon_settings& settings) {
  git::plan_settings plan;
  plan.direct_delay = settings.default_delay;
  plan.sync_delay = settings.immediate_delay;
  plan.jitter = settings.jitter;
  plan.unit_concurrent = settings.unit_concurrent;
  plan.life.window = settings.expiry;
  plan.life.horizon = settings.horizon;
  plan.life.max_attempts = settings.max_attempts;
  plan.life.retry_enabled = settings.retry_enabled;
  plan.life.jitter = settings.jitter;
  plan.initial_sync = settings.initial_sync > milliseconds{0};
  return plan;
}

} // namespace purgatory::sim
