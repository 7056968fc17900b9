#include "actors/throttle.hpp"

#include "actors/harden.hpp"
#include "actors/log.hpp"
#include "libsync/engine/sliding_window.hpp"

#include <caf/actor_system.hpp>
#include <caf/scheduled_actor.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace purgatory {

namespace {

engine::subject subject_of(const unit_key& who) {
  return engine::subject{to_string(who)};
}

} // namespace

throttle_actor::behavior_type
throttle_state::make_behavior(throttle_config cfg, fetch_pool_actor pool) {
  harden(self_);
  pool_ = std::move(pool);
  host_ = std::move(cfg.host);
  per_minute_ = cfg.per_minute;
  slots_.emplace(cfg.serial, cfg.concurrent,
                 std::make_unique<engine::sliding_window>(
                   cfg.per_minute, cfg.window + cfg.guard));
  self_->set_down_handler(
    [this](const caf::down_msg& down) { on_holder_down(down.source); });
  return {
    [this](const enqueue& asked, const grant_sink& sink) {
      return on_enqueue(asked, sink);
    },
    [this](const grant_answer& answer) { on_answer(answer); },
    [this](const leave_queue& leaving) {
      on_leave(leaving.who);
      return queue_left{leaving.who};
    },
    [this](const fetch_started& started) { on_started(started); },
    [this](const request_complete& ended) { on_complete(ended); },
    [this](const backoff_tick& tick) {
      if (!timer_.is_current(tick.generation))
        return;
      timer_.disarm();
      armed_for_.reset();
      pump();
    },
    [this](const throttle_seed& seed) { on_seed(seed); },
    [this](const set_limits& wanted) { on_limits(wanted); },
    [this](describe) {
      return throttle_report{host_, slots_->waiting(), slots_->leases(),
                             slots_->concurrent(), per_minute_};
    },
  };
}

enqueue_answer throttle_state::on_enqueue(const enqueue& asked,
                                          const grant_sink& sink) {
  const auto who = subject_of(asked.who);
  slots_->enqueue(who, engine::subject_owner{asked.who.owner.value},
                  asked.turn);
  waiters_.insert_or_assign(who, waiter{asked.who, asked.url, sink});
  if (auto grant = pump(&who))
    return {enqueue_outcome::granted, std::move(*grant)};
  log::debug("Enqueueing with throttled domain",
             {{"identifier", asked.who.repo}, {"domain", host_}});
  return {enqueue_outcome::queued, {}};
}

void throttle_state::on_answer(const grant_answer& answer) {
  const auto found = unsent_.find(answer.lease);
  if (found == unsent_.end())
    return;
  const auto who = found->second.who;
  switch (answer.decision) {
  case grant_decision::start:
    slots_->start(answer.lease);
    break;
  case grant_decision::defer:
    slots_->defer(answer.lease);
    break;
  case grant_decision::withdraw:
    slots_->withdraw(answer.lease);
    break;
  }
  if (!slots_->has_lease(answer.lease))
    unwatch(answer.lease);
  drop_waiter_without_place(who);
  pump();
}

void throttle_state::on_leave(const unit_key& who) {
  const auto leaving = subject_of(who);
  slots_->leave(leaving);
  waiters_.erase(leaving);
  pump();
}

void throttle_state::on_started(const fetch_started& started) {
  const auto who = unwatch(started.lease);
  slots_->started(started.lease, started.at);
  if (who)
    drop_waiter_without_place(*who);
  pump();
}

void throttle_state::on_complete(const request_complete& ended) {
  const auto who = unwatch(ended.lease);
  slots_->completed(ended.lease);
  if (who)
    drop_waiter_without_place(*who);
  pump();
}

void throttle_state::on_seed(const throttle_seed& seed) {
  if (std::exchange(seeded_, true))
    return;
  std::vector<engine::inherited_lease> inherited;
  for (const auto& old : seed.leases)
    inherited.push_back(
      {old.lease, subject_of(old.who), old.running, old.started});
  slots_->seed(std::move(inherited));
  quiet_until_ = seed.quiet_until;
  pump();
}

void throttle_state::on_limits(const set_limits& wanted) {
  if (wanted.host && *wanted.host != host_)
    return;
  slots_->set_limits(wanted.concurrent, wanted.per_minute);
  per_minute_ = wanted.per_minute.value_or(per_minute_);
  pump();
}

void throttle_state::on_holder_down(const caf::actor_addr& holder) {
  const auto found = holders_.find(holder);
  if (found == holders_.end())
    return;
  const auto leases = std::move(found->second);
  holders_.erase(found);
  for (const auto lease : leases) {
    const auto who = std::move(unsent_.extract(lease).mapped().who);
    // Somebody else may have asked for the subject since.
    const auto waiting = waiters_.find(who);
    if (waiting != waiters_.end() && waiting->second.sink.address() == holder) {
      waiters_.erase(waiting);
      slots_->leave(who);
    }
    self_->request(pool_, caf::infinite, reclaim{lease})
      .then(
        [this](const reclaim_answer& answer) {
          on_reclaim(answer.lease, answer.outcome);
        },
        [this, lease](const caf::error&) {
          // No pool, no job; but its request may have left: it counts.
          slots_->started(lease, self_->clock().now());
          slots_->completed(lease);
          pump();
        });
  }
  pump();
}

void throttle_state::on_reclaim(lease_id lease, reclaim_outcome outcome) {
  if (outcome == reclaim_outcome::running)
    return;
  slots_->reclaim(lease);
  pump();
}

std::optional<url_ready> throttle_state::pump(const engine::subject* asking) {
  if (!seeded_)
    return std::nullopt;
  const auto now = self_->clock().now();
  if (quiet_until_ && now < *quiet_until_) {
    arm();
    return std::nullopt;
  }
  std::optional<url_ready> wanted;
  for (const auto& granted : slots_->pump(now)) {
    const auto& to = waiters_.at(granted.who);
    watch(granted.lease, granted.who, to.sink);
    url_ready grant{to.who, to.url, host_, granted.lease};
    if (asking != nullptr && *asking == granted.who)
      wanted = std::move(grant);
    else
      self_->send(to.sink, std::move(grant));
  }
  arm();
  return wanted;
}

/// A timer can not be called back, so a pending one that comes early enough is
/// left alone: it finds the right time when it fires.
void throttle_state::arm() {
  const auto now = self_->clock().now();
  auto at = slots_->wake_at(now);
  if (quiet_until_ && now < *quiet_until_)
    at = std::max(at.value_or(*quiet_until_), *quiet_until_);
  if (!at || (armed_for_ && *armed_for_ <= *at))
    return;
  armed_for_ = at;
  self_->scheduled_send(self_, *at, backoff_tick{timer_.arm()});
}

void throttle_state::watch(lease_id lease, const engine::subject& who,
                           const grant_sink& sink) {
  auto holder = sink.address();
  auto& leases = holders_[holder];
  if (leases.empty())
    self_->monitor(sink);
  leases.insert(lease);
  unsent_.emplace(lease, unsent_lease{who, std::move(holder)});
}

std::optional<engine::subject> throttle_state::unwatch(lease_id lease) {
  auto found = unsent_.extract(lease);
  if (found.empty())
    return std::nullopt;
  const auto holder = holders_.find(found.mapped().holder);
  holder->second.erase(lease);
  if (holder->second.empty()) {
    self_->demonitor(holder->first);
    holders_.erase(holder);
  }
  return std::move(found.mapped().who);
}

void throttle_state::drop_waiter_without_place(const engine::subject& who) {
  if (!slots_->has_place(who))
    waiters_.erase(who);
}

std::string throttle_state::check_invariants() const {
  if (waiters_.size() != slots_->waiting())
    return "a sink for each place";
  std::size_t held = 0;
  for (const auto& [holder, leases] : holders_)
    held += leases.size();
  if (held != unsent_.size())
    return "a holder for each unsent lease";
  return slots_->check_invariants();
}

throttle_actor::behavior_type throttle(throttle_state::pointer self,
                                       throttle_config cfg,
                                       fetch_pool_actor pool) {
  return self->state.make_behavior(std::move(cfg), std::move(pool));
}

} // namespace purgatory
