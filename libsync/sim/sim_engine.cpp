#include "libsync/sim/sim_engine.hpp"

#include <algorithm>
#include <utility>

namespace purgatory::sim {

namespace {

/// After an unclean stop every minute window counts as full (rules §10); after
/// a clean one for as long as it may be.
duration quiet_time(const previous_run& before, unix_seconds wall) {
  constexpr auto window = std::chrono::seconds{60};
  if (before.first)
    return duration::zero();
  if (!before.clean || wall < before.stopped)
    return window;
  return std::max(std::chrono::seconds{0},
                  window - std::chrono::seconds{wall - before.stopped});
}

} // namespace

sim_engine::sim_engine(scene& around, journal_image image)
  : around_(around),
    store_(std::move(image)), live_{around.now, store_.last_run().live},
    quiet_end_(around.now + quiet_time(store_.last_run(), around.wall())),
    pool_(around.plan.daemon.fetch_workers), limits_(around.plan.daemon.limits),
    host_limits_(around.plan.daemon.host_limits) {
  for (auto& record : store_.hosts()) {
    if (record.blocks > 0 && record.blocked_until <= live_.at_start)
      start_probe(record.host, std::chrono::seconds{60});
    known_hosts_.emplace(record.host, std::move(record));
  }
  for (const auto& [repo, asleep, due] : store_.pending()) {
    if (!asleep) {
      later(duration::zero(), [this, name = repo] { call(name); });
      continue;
    }
    put_to_bed(repo, due ? std::optional{live_.moment_of(*due)} : std::nullopt);
  }
}

// -- time ---------------------------------------------------------------------

git::moment sim_engine::at() const {
  return {around_.now, around_.wall(), live_.at(around_.now)};
}

void sim_engine::later(duration delay, step_action what) {
  agenda_.put(around_.now + delay, std::move(what));
}

void sim_engine::step() {
  const auto what = agenda_.take();
  ++steps_;
  what();
  for (const auto& repo : std::exchange(touched_, {}))
    if (const auto i = residents_.find(repo); i != residents_.end())
      check(*i->second);
}

// -- who is awake -------------------------------------------------------------

git::plan_settings sim_engine::settings() const {
  auto result = plan_settings_of(around_.plan.daemon);
  if (around_.now >= around_.at(around_.plan.daemon.initial_sync))
    result.initial_sync = false;
  return result;
}

sim_engine::resident& sim_engine::call(const identifier& repo) {
  if (const auto i = residents_.find(repo); i != residents_.end())
    return *i->second;
  beds_.erase(repo);
  const auto seed
    = around_.plan.seed ^ std::hash<identifier>{}(repo) ^ next_serial_;
  auto& fresh = *residents_
                   .emplace(repo, std::make_unique<resident>(
                                    repo, settings(), seed, next_serial_++))
                   .first->second;
  perform(fresh, fresh.plan.restore(store_.load(repo), at()));
  return fresh;
}

void sim_engine::sleep(resident& who, std::optional<time_point> wake) {
  for (const auto& host : who.hosts)
    if (const auto i = doors_.find(host); i != doors_.end())
      i->second->users.erase(who.repo);
  const auto repo = who.repo;
  const bool holds = who.plan.waiting() > 0;
  around_.watch.check(!holds || wake || !who.plan.next_due(),
                      "asleep without the time at which it has to wake",
                      around_.now);
  residents_.erase(repo);
  if (holds || wake)
    put_to_bed(repo, wake);
}

void sim_engine::put_to_bed(const identifier& repo,
                            std::optional<time_point> due) {
  const auto number = next_serial_++;
  beds_[repo] = {number, due};
  if (!due)
    return;
  agenda_.put(std::max(*due, around_.now), [this, repo, number] {
    const auto i = beds_.find(repo);
    if (i != beds_.end() && i->second.number == number)
      call(repo);
  });
}

void sim_engine::commit() {
  committing_ = false;
  store_.stamp(at().live);
  store_.commit();
  for (const auto& done : std::exchange(uncommitted_, {}))
    with(done.repo, done.resident, [&](resident& who) {
      perform(who, who.plan.on_recorded(done.token, at()));
    });
}

// -- from outside -------------------------------------------------------------

std::vector<nostr::event> sim_engine::unanswered() const {
  std::vector<nostr::event> result;
  std::set<event_id> seen;
  for (const auto& [number, ev] : offers_)
    if (seen.insert(ev.id).second)
      result.push_back(ev);
  return result;
}

void sim_engine::offer(const nostr::event& ev, provenance from) {
  if (stopping_)
    return;
  std::set<identifier> concerned;
  if (const auto d = nostr::first_value(ev, "d"); !d.empty())
    concerned.insert(identifier{std::string{d}});
  for (const auto& tag : ev.tags)
    if (tag.size() > 1 && tag[0] == "a" && tag[1].size() > 71)
      concerned.insert(identifier{tag[1].substr(71)});
  // A deletion goes to whom its events belong to.
  for (const auto& tag : ev.tags)
    if (tag.size() > 1 && tag[0] == "e")
      if (const auto known = store_.find(event_id{tag[1]}))
        concerned.insert(known->repo);
  for (const auto& repo : concerned) {
    auto& who = call(repo);
    const auto number = next_offer_++;
    offers_.emplace(number, ev);
    who.offers.insert(number);
    perform(who, who.plan.on_event(ev, from, number, at()));
  }
}

void sim_engine::objects_arrived(const tenant& repository,
                                 const std::vector<oid>& ids) {
  auto& who = call(repository.repo);
  perform(who, who.plan.on_looked_up(
                 0, repository, ids,
                 around_.repositories.kinds(repository, ids), at()));
}

void sim_engine::configure(const std::string& host,
                           const engine::start_limits& limits) {
  (host.empty() ? limits_ : host_limits_[host]) = limits;
  for (auto& [name, at] : doors_) {
    at->schedule().set_limits(limits_of(name));
    around_.watch.limits(name, limits_of(name), around_.now);
    pump(*at);
  }
}

void sim_engine::retry_all() {
  for (const auto& [repo, asleep, due] : store_.pending())
    call(repo);
  for (auto& [repo, who] : residents_)
    perform(*who, who->plan.on_retry(at()));
}

void sim_engine::stop() {
  stopping_ = true;
  store_.stamp(at().live);
  store_.close_clean(around_.wall());
}

void sim_engine::abort_jobs() {
  for (const auto& [lease, job] : jobs_)
    around_.watch.aborted(job.what.host, job.what.unit, job.since, around_.now);
  for (const auto& [host, at] : doors_)
    around_.watch.backlog(host, false, around_.now);
}

} // namespace purgatory::sim
