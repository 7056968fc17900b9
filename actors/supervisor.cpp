#include "actors/supervisor.hpp"

#include "actors/harden.hpp"
#include "actors/log.hpp"

#include <caf/actor_system.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <utility>

namespace purgatory {

namespace {

constexpr std::size_t max_deaths = 3;
constexpr auto death_window = std::chrono::minutes(10);

constexpr const char* busy_text = "error: purgatory busy, try again";
constexpr const char* unavailable_text = "error: purgatory unavailable";

} // namespace

supervisor_actor::behavior_type
supervisor_state::make_behavior(supervisor_factories factories,
                                fetch_pool_actor pool, journal_actor journal,
                                supervisor_options options) {
  harden(self_);
  make_ = std::move(factories);
  pool_ = std::move(pool);
  journal_ = std::move(journal);
  defaults_ = options.limits;
  quiet_until_ = options.quiet_until;
  self_->set_down_handler([this](const caf::down_msg& m) { on_down(m); });
  self_->set_exit_handler([this](const caf::exit_msg& m) {
    let_all_go();
    self_->quit(m.reason);
  });
  return {
    [this](event_arrived& message, const identifier& repo) {
      return route(message, repo);
    },
    [this](const host_key& host) { return throttle_of(host); },
    [this](const tenant& repository) { return repository_of(repository); },
    [this](const retire& message) { on_retire(message); },
    [this](const set_limits& wanted) { return apply(wanted); },
    [this](const list_pending&) { return wake_pending(); },
    [this](const respawn& m) {
      deaths_.erase(m.who);
      if (!stopping_ && !identifiers_.contains(m.who))
        spawn_identifier(m.who);
    },
    [this](const stop_work&) {
      stopping_ = true;
      return work_stopped{};
    },
  };
}

caf::result<admission> supervisor_state::route(event_arrived& message,
                                               const identifier& repo) {
  if (stopping_)
    return admission{action::reject, unavailable_text};
  auto i = identifiers_.find(repo);
  if (i == identifiers_.end() && is_resting(repo))
    return admission{action::reject, busy_text};
  auto& known = i == identifiers_.end() ? spawn_identifier(repo) : i->second;
  ++known.routed;
  return self_->delegate(known.handle, std::move(message));
}

bool supervisor_state::is_resting(const identifier& repo) const {
  const auto i = deaths_.find(repo);
  return i != deaths_.end() && i->second.size() >= max_deaths;
}

supervisor_state::known_identifier&
supervisor_state::spawn_identifier(const identifier& repo) {
  auto handle = make_.make_identifier(supervisor_actor{self_}, repo);
  self_->monitor(handle);
  identifier_ids_[handle->id()] = repo;
  return identifiers_.insert_or_assign(repo, known_identifier{handle, 0})
    .first->second;
}

throttle_actor supervisor_state::throttle_of(const host_key& host) {
  if (const auto i = throttles_.find(host); i != throttles_.end())
    return i->second;
  const auto limits = limits_of(host);
  const auto serial = next_serial_++;
  auto handle
    = make_.make_throttle(host, serial, limits.concurrent, limits.per_minute);
  self_->monitor(handle);
  throttle_ids_[handle->id()] = host;
  throttles_.emplace(host, handle);
  // The pool tells it which leases and starts of its predecessor count.
  self_->send(pool_, adopt_throttle{host, serial, quiet_until_}, handle);
  return handle;
}

git_actor supervisor_state::repository_of(const tenant& repository) {
  auto& group = repositories_[repository.repo];
  auto i = group.find(repository);
  if (i == group.end()) {
    i = group.emplace(repository, make_.make_repository(repository)).first;
    self_->monitor(i->second);
    repository_ids_[i->second->id()] = repository;
  }
  return i->second;
}

void supervisor_state::on_retire(const retire& message) {
  const auto i = identifiers_.find(message.who);
  // An event is on its way to it: it will ask again.
  if (i == identifiers_.end() || i->second.routed != message.seen)
    return;
  identifier_ids_.erase(i->second.handle->id());
  self_->demonitor(i->second.handle.address());
  self_->send(i->second.handle, close{});
  identifiers_.erase(i);
  if (auto group = repositories_.extract(message.who); !group.empty())
    for (auto& [repository, writer] : group.mapped()) {
      repository_ids_.erase(writer->id());
      self_->send_exit(writer, caf::exit_reason::user_shutdown);
    }
  log::debug("Removed from sync queue", {{"identifier", message.who}});
}

void supervisor_state::on_down(const caf::down_msg& message) {
  const auto id = message.source.id();
  if (auto node = identifier_ids_.extract(id); !node.empty()) {
    identifiers_.erase(node.mapped());
    if (!stopping_)
      on_identifier_death(node.mapped());
    return;
  }
  if (auto node = repository_ids_.extract(id); !node.empty()) {
    repositories_[node.mapped().repo].erase(node.mapped());
    return;
  }
  auto node = throttle_ids_.extract(id);
  if (node.empty())
    return;
  const auto host = node.mapped();
  throttles_.erase(host);
  if (stopping_)
    return;
  log::error("Throttle died and will be replaced", {{"domain", host}});
  for (const auto& [repo, known] : identifiers_)
    self_->send(known.handle, throttle_restarted{host});
}

void supervisor_state::on_identifier_death(const identifier& repo) {
  auto& deaths = deaths_[repo];
  const auto now = self_->clock().now();
  while (!deaths.empty() && now - deaths.front() > death_window)
    deaths.pop_front();
  deaths.push_back(now);
  log::error("Identifier died",
             {{"identifier", repo}, {"deaths", deaths.size()}});
  if (deaths.size() >= max_deaths)
    self_->delayed_send(self_, death_window, respawn{repo});
  else
    spawn_identifier(repo);
}

host_limits supervisor_state::limits_of(const host_key& host) const {
  const auto own = own_limits_.find(host);
  if (own == own_limits_.end())
    return defaults_;
  return {own->second.concurrent.value_or(defaults_.concurrent),
          own->second.per_minute.value_or(defaults_.per_minute)};
}

caf::result<limits_set> supervisor_state::apply(const set_limits& wanted) {
  if (wanted.host) {
    auto& own = own_limits_[*wanted.host];
    if (wanted.concurrent)
      own.concurrent = wanted.concurrent;
    if (wanted.per_minute)
      own.per_minute = wanted.per_minute;
  } else {
    defaults_.concurrent = wanted.concurrent.value_or(defaults_.concurrent);
    defaults_.per_minute = wanted.per_minute.value_or(defaults_.per_minute);
  }
  for (const auto& [host, throttle] : throttles_) {
    const auto limits = limits_of(host);
    self_->send(throttle,
                set_limits{host, limits.concurrent, limits.per_minute});
  }
  return limits_set{true, ""};
}

caf::result<pending_identifiers> supervisor_state::wake_pending() {
  auto owed = self_->make_response_promise<pending_identifiers>();
  self_->request(journal_, caf::infinite, list_pending{})
    .then(
      [this, owed](const pending_identifiers& pending) mutable {
        for (const auto& repo : pending.repos)
          if (!stopping_ && !identifiers_.contains(repo) && !is_resting(repo))
            spawn_identifier(repo);
        owed.deliver(pending);
      },
      [owed](caf::error& reason) mutable { owed.deliver(std::move(reason)); });
  return owed;
}

void supervisor_state::let_all_go() {
  stopping_ = true;
  constexpr auto reason = caf::exit_reason::user_shutdown;
  for (const auto& [repo, known] : identifiers_)
    self_->send_exit(known.handle, reason);
  for (const auto& [host, throttle] : throttles_)
    self_->send_exit(throttle, reason);
  for (const auto& [repo, group] : repositories_)
    for (const auto& [repository, writer] : group)
      self_->send_exit(writer, reason);
  identifiers_.clear();
  throttles_.clear();
  repositories_.clear();
}

supervisor_actor::behavior_type supervisor(supervisor_state::pointer self,
                                           supervisor_factories factories,
                                           fetch_pool_actor pool,
                                           journal_actor journal,
                                           supervisor_options options) {
  return self->state.make_behavior(std::move(factories), std::move(pool),
                                   std::move(journal), options);
}

} // namespace purgatory
