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
  own_limits_ = options.own_limits;
  options_ = std::move(options);
  hosts_ = engine::host_table{options_.max_hosts};
  self_->set_down_handler([this](const caf::down_msg& m) {
    on_down(m);
    pump();
  });
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
    [this](const loaded& message) {
      on_loaded(message);
      pump();
    },
    [this](const retire& message) {
      on_retire(message);
      pump();
    },
    [this](const host_news& message) {
      on_news(message);
      pump();
    },
    [this](const plan_changed& message) { change_plan(message); },
    [this](const list_throttles&) {
      std::vector<throttle_actor> all;
      for (const auto& [host, known] : throttles_)
        all.push_back(known.handle);
      return all;
    },
    [this](const set_limits& wanted) { return apply(wanted); },
    [this](const list_pending&) { return take_up_work(); },
    [this](const backoff_tick& tick) {
      if (alarm_.rings(tick.generation))
        pump();
    },
    [this](const stop_work&) {
      stopping_ = true;
      return work_stopped{};
    },
  };
}

// -- identifiers --------------------------------------------------------------

caf::result<admission> supervisor_state::route(event_arrived& message,
                                               const identifier& repo) {
  if (stopping_)
    return admission{action::reject, unavailable_text};
  auto i = identifiers_.find(repo);
  if (i == identifiers_.end()
      && (resting_.contains(repo)
          || loading_.size() >= options_.max_loading_for_events))
    return admission{action::reject, busy_text};
  auto& known = i == identifiers_.end() ? spawn_identifier(repo) : i->second;
  ++known.sent;
  return self_->delegate(known.handle, std::move(message));
}

supervisor_state::known_identifier&
supervisor_state::spawn_identifier(const identifier& repo) {
  sleepers_.remove(repo.value);
  auto handle
    = make_.make_identifier(supervisor_actor{self_}, repo, options_.plan);
  self_->monitor(handle);
  identifier_ids_[handle->id()] = repo;
  loading_.insert(repo);
  auto& known
    = identifiers_
        .insert_or_assign(repo, known_identifier{std::move(handle), 0, {}})
        .first->second;
  if (to_revive_.erase(repo) > 0)
    tell(known, plan_changed{options_.plan, true});
  return known;
}

void supervisor_state::on_retire(const retire& message) {
  const auto i = identifiers_.find(message.who);
  // Something is on its way to it: it will ask again.
  if (i == identifiers_.end() || i->second.sent != message.seen)
    return;
  self_->demonitor(i->second.handle.address());
  self_->send(i->second.handle, close{});
  forget_identifier(message.who);
  if (message.wake)
    sleepers_.arm(message.who.value, *message.wake);
  if (auto group = repositories_.extract(message.who); !group.empty())
    for (auto& [repository, writer] : group.mapped()) {
      repository_ids_.erase(writer->id());
      self_->demonitor(writer.address());
      self_->send_exit(writer, caf::exit_reason::user_shutdown);
    }
  log::debug("Removed from sync queue", {{"identifier", message.who}});
}

void supervisor_state::forget_identifier(const identifier& repo) {
  const auto node = identifiers_.extract(repo);
  const auto& known = node.mapped();
  loading_.erase(repo);
  identifier_ids_.erase(known.handle->id());
  for (const auto& host : known.hosts) {
    const auto i = interest_.find(host);
    i->second.erase(repo);
    if (i->second.empty())
      interest_.erase(i);
  }
}

void supervisor_state::on_down(const caf::down_msg& message) {
  const auto id = message.source.id();
  if (const auto i = identifier_ids_.find(id); i != identifier_ids_.end()) {
    const auto repo = i->second;
    forget_identifier(repo);
    if (!stopping_)
      on_identifier_death(repo);
    return;
  }
  if (auto node = repository_ids_.extract(id); !node.empty()) {
    const auto group = repositories_.find(node.mapped().repo);
    group->second.erase(node.mapped());
    if (group->second.empty())
      repositories_.erase(group);
    return;
  }
  if (auto node = throttle_ids_.extract(id); !node.empty())
    on_throttle_down(node.mapped());
}

void supervisor_state::on_identifier_death(const identifier& repo) {
  const bool rests = count_death(repo);
  log::error("Identifier died", {{"identifier", repo}, {"rests", rests}});
  if (!rests) {
    spawn_identifier(repo);
    return;
  }
  resting_.insert(repo);
  sleepers_.arm(repo.value, self_->clock().now() + death_window);
}

/// True if it was one too many.
bool supervisor_state::count_death(const identifier& repo) {
  const auto now = self_->clock().now();
  for (; !deaths_.empty() && now - deaths_.front().first > death_window;
       deaths_.pop_front())
    if (const auto i = death_counts_.find(deaths_.front().second);
        --i->second == 0)
      death_counts_.erase(i);
  deaths_.emplace_back(now, repo);
  if (++death_counts_[repo] < max_deaths)
    return false;
  death_counts_.erase(repo);
  std::erase_if(deaths_, [&](const auto& d) { return d.second == repo; });
  return true;
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

// -- settings -----------------------------------------------------------------

engine::start_limits supervisor_state::limits_of(const host_key& host) const {
  const auto own = own_limits_.find(host);
  return own == own_limits_.end() ? options_.limits
                                  : applied(own->second, options_.limits);
}

caf::result<limits_set> supervisor_state::apply(const set_limits& wanted) {
  if (wanted.host)
    own_limits_[*wanted.host].take_over(wanted);
  else
    options_.limits = applied(wanted, options_.limits);
  for (const auto& [host, known] : throttles_) {
    const auto limits = limits_of(host);
    self_->send(known.handle,
                set_limits{host, limits.concurrent, limits.per_minute,
                           limits.per_hour, limits.per_day});
  }
  return limits_set{true, ""};
}

void supervisor_state::change_plan(const plan_changed& message) {
  options_.plan = message.plan;
  for (auto& [repo, known] : identifiers_)
    tell(known, message);
  if (message.revive)
    revive_sleepers();
}

/// They are due now, and hear it when they are awake.
void supervisor_state::revive_sleepers() {
  self_->request(journal_, caf::infinite, list_pending{})
    .then(
      [this](const pending_identifiers& pending) {
        const auto now = self_->clock().now();
        for (const auto& [repo, asleep, due] : pending.repos) {
          if (identifiers_.contains(repo) || resting_.contains(repo))
            continue;
          to_revive_.insert(repo);
          sleepers_.pull_to(repo.value, now);
        }
        pump();
      },
      [](caf::error&) {});
}

// -- the end ------------------------------------------------------------------

void supervisor_state::let_all_go() {
  stopping_ = true;
  constexpr auto reason = caf::exit_reason::user_shutdown;
  for (const auto& [repo, known] : identifiers_)
    self_->send_exit(known.handle, reason);
  for (auto& [host, known] : throttles_) {
    self_->send_exit(known.handle, reason);
    for (auto& [who, owed] : std::exchange(known.waiting, {}))
      owed.deliver(known.handle);
  }
  for (const auto& [repo, group] : repositories_)
    for (const auto& [repository, writer] : group)
      self_->send_exit(writer, reason);
  identifiers_.clear();
  throttles_.clear();
  repositories_.clear();
}

std::string supervisor_state::check_invariants() const {
  for (const auto& [repo, known] : identifiers_) {
    if (sleepers_.contains(repo.value))
      return "who is awake does not sleep: " + repo.value;
    for (const auto& host : known.hosts)
      if (const auto i = interest_.find(host);
          i == interest_.end() || !i->second.contains(repo))
        return "who names a host is known: " + host.value;
  }
  for (const auto& [host, repos] : interest_)
    for (const auto& repo : repos)
      if (const auto i = identifiers_.find(repo);
          i == identifiers_.end() || !i->second.hosts.contains(host))
        return "who is known names the host: " + host.value;
  for (const auto& repo : loading_)
    if (!identifiers_.contains(repo))
      return "who loads lives: " + repo.value;
  for (const auto& repo : resting_)
    if (!sleepers_.contains(repo.value))
      return "who rests will wake: " + repo.value;
  if (identifier_ids_.size() != identifiers_.size())
    return "a name for each identifier";
  return hosts_.check_invariants();
}

supervisor_actor::behavior_type supervisor(supervisor_state::pointer self,
                                           supervisor_factories factories,
                                           fetch_pool_actor pool,
                                           journal_actor journal,
                                           supervisor_options options) {
  return self->state.make_behavior(std::move(factories), std::move(pool),
                                   std::move(journal), std::move(options));
}

} // namespace purgatory
