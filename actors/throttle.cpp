#include "actors/throttle.hpp"

#include "actors/harden.hpp"
#include "actors/log.hpp"

#include <caf/actor_system.hpp>
#include <caf/scheduled_actor.hpp>

#include <algorithm>
#include <utility>

namespace purgatory {

namespace {

engine::subject subject_of(const unit_key& who) {
  return engine::subject{to_string(who)};
}

host_change change_of(engine::host_event event) {
  switch (event) {
  case engine::host_event::blocked:
    return host_change::blocked;
  case engine::host_event::recovered:
    return host_change::recovered;
  case engine::host_event::unblocked:
    return host_change::unblocked;
  case engine::host_event::idle:
    break;
  }
  return host_change::idle;
}

} // namespace

throttle_actor::behavior_type
throttle_state::make_behavior(throttle_config cfg, fetch_pool_actor pool) {
  harden(self_);
  pool_ = std::move(pool);
  host_ = std::move(cfg.host);
  news_ = std::move(cfg.news);
  live_ = cfg.live;
  schedule_.emplace(
    engine::schedule_settings{cfg.serial, cfg.window, cfg.guard, cfg.caps},
    cfg.limits);
  if (cfg.known) {
    const auto at = moment();
    schedule_->restore(from_record(*cfg.known, at), at.start);
  }
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
      if (alarm_.rings(tick.generation))
        pump();
    },
    [this](const throttle_seed& seed) { on_seed(seed); },
    [this](const set_limits& wanted) { on_limits(wanted); },
    [this](describe) {
      const auto& limits = schedule_->limits();
      return throttle_report{host_,
                             schedule_->waiting(),
                             schedule_->leases(),
                             limits.concurrent,
                             limits.per_minute,
                             limits.per_hour,
                             limits.per_day,
                             schedule_->learned(),
                             schedule_->view(self_->clock().now())};
    },
  };
}

enqueue_answer throttle_state::on_enqueue(const enqueue& asked,
                                          const grant_sink& sink) {
  const auto who = subject_of(asked.who);
  schedule_->enqueue(who, engine::subject_owner{asked.who.owner.value},
                     asked.turn);
  waiters_.insert_or_assign(who, waiter{asked.who, asked.url, sink});
  if (auto grant = pump(&who))
    return {enqueue_outcome::granted, std::move(*grant)};
  log::debug("Enqueueing with throttled domain",
             {{"identifier", asked.who.repo}, {"domain", host_}});
  return {enqueue_outcome::queued, {}, schedule_->view(self_->clock().now())};
}

void throttle_state::on_answer(const grant_answer& answer) {
  const auto found = unsent_.find(answer.lease);
  if (found == unsent_.end())
    return;
  const auto who = found->second.who;
  switch (answer.decision) {
  case grant_decision::start:
    schedule_->start(answer.lease);
    break;
  case grant_decision::defer:
    schedule_->defer(answer.lease);
    break;
  case grant_decision::withdraw:
    schedule_->withdraw(answer.lease);
    break;
  }
  if (!schedule_->has_lease(answer.lease))
    unwatch(answer.lease);
  drop_waiter_without_place(who);
  pump();
}

void throttle_state::on_leave(const unit_key& who) {
  const auto leaving = subject_of(who);
  schedule_->leave(leaving);
  waiters_.erase(leaving);
  pump();
}

void throttle_state::on_started(const fetch_started& started) {
  const auto who = unwatch(started.lease);
  schedule_->started(started.lease, started.at);
  if (who)
    drop_waiter_without_place(*who);
  pump();
}

void throttle_state::on_complete(const request_complete& ended) {
  const auto who = unwatch(ended.lease);
  schedule_->completed(ended.lease, signal_of(ended.result.outcome),
                       ended.result.retry_after, self_->clock().now());
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
  schedule_->seed(std::move(inherited));
  if (seed.quiet_until)
    schedule_->quiet_until(*seed.quiet_until);
  pump();
}

void throttle_state::on_limits(const set_limits& wanted) {
  if (wanted.host && *wanted.host != host_)
    return;
  schedule_->set_limits(applied(wanted, schedule_->limits()));
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
      schedule_->leave(who);
    }
    self_->request(pool_, caf::infinite, reclaim{lease})
      .then(
        [this](const reclaim_answer& answer) {
          on_reclaim(answer.lease, answer.outcome);
        },
        [this, lease](const caf::error&) {
          // No pool, no job; but its request may have left: it counts.
          const auto now = self_->clock().now();
          schedule_->started(lease, now);
          schedule_->completed(lease, engine::host_signal::none, {}, now);
          pump();
        });
  }
  pump();
}

void throttle_state::on_reclaim(lease_id lease, reclaim_outcome outcome) {
  if (outcome == reclaim_outcome::running)
    return;
  schedule_->reclaim(lease);
  pump();
}

std::optional<url_ready> throttle_state::pump(const engine::subject* asking) {
  if (!seeded_)
    return std::nullopt;
  std::optional<url_ready> wanted;
  for (const auto& granted : schedule_->pump(self_->clock().now())) {
    const auto& to = waiters_.at(granted.who);
    watch(granted.lease, granted.who, to.sink);
    url_ready grant{to.who, to.url, host_, granted.lease};
    if (asking != nullptr && *asking == granted.who)
      wanted = std::move(grant);
    else
      self_->send(to.sink, std::move(grant));
  }
  tell_news();
  arm();
  return wanted;
}

void throttle_state::tell_news() {
  for (const auto event : schedule_->take_news()) {
    const auto at = moment();
    const host_news news{change_of(event),
                         to_record(host_, schedule_->image(), at)};
    if (event == engine::host_event::blocked)
      log::info("Host blocked",
                {{"domain", host_},
                 {"error", to_string(news.state.reason)},
                 {"seconds", news.state.blocked_until - at.at_start}});
    if (event == engine::host_event::recovered)
      log::info("Host recovered", {{"domain", host_}});
    if (news_)
      self_->send(news_, news);
  }
}

live_clock throttle_state::moment() const {
  const auto now = self_->clock().now();
  return {now, live_.at(now)};
}

void throttle_state::arm() {
  auto at = schedule_->wake_at(self_->clock().now());
  if (const auto idle = schedule_->idle_at(); idle && news_)
    at = std::min(at.value_or(*idle), *idle);
  if (const auto number = alarm_.arm(at))
    self_->scheduled_send(self_, *at, backoff_tick{*number});
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
  if (!schedule_->has_place(who))
    waiters_.erase(who);
}

std::string throttle_state::check_invariants() const {
  if (waiters_.size() != schedule_->waiting())
    return "a sink for each place";
  std::size_t held = 0;
  for (const auto& [holder, leases] : holders_)
    held += leases.size();
  if (held != unsent_.size())
    return "a holder for each unsent lease";
  return schedule_->check_invariants();
}

throttle_actor::behavior_type throttle(throttle_state::pointer self,
                                       throttle_config cfg,
                                       fetch_pool_actor pool) {
  return self->state.make_behavior(std::move(cfg), std::move(pool));
}

} // namespace purgatory
