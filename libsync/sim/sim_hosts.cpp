// Hosts, jobs and probes: what throttles, fetch pool and supervisor do.

#include "libsync/git/clone_url.hpp"
#include "libsync/sim/sim_engine.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace purgatory::sim {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr duration first_probe_pause = minutes{1};
constexpr duration last_probe_pause = minutes{30};
constexpr duration job_deadline = minutes{10};

/// A job that takes so long tells when its first bytes have come.
constexpr duration worth_watching = seconds{8};

std::optional<remote_url> moved_to(const remote_url& url,
                                   const std::string& host) {
  const auto parsed = git::parse_clone_url(url.value);
  const auto* known = std::get_if<git::clone_url>(&parsed);
  if (known == nullptr)
    return std::nullopt;
  return remote_url{known->scheme + "://" + host + known->path};
}

} // namespace

// -- turns --------------------------------------------------------------------

engine::start_limits sim_engine::limits_of(const host_key& host) const {
  const auto own = host_limits_.find(host.value);
  return own == host_limits_.end() ? limits_ : own->second;
}

host_door& sim_engine::door(const host_key& host) {
  auto& place = doors_[host];
  if (place)
    return *place;
  place = std::make_unique<host_door>(host, next_door_++, limits_of(host));
  around_.watch.limits(host, limits_of(host), around_.now);
  if (const auto known = known_hosts_.find(host); known != known_hosts_.end())
    place->schedule().restore(from_record(known->second, live_now()),
                              around_.now);
  if (around_.now < quiet_end_)
    place->schedule().quiet_until(quiet_end_);
  return *place;
}

void sim_engine::pump(host_door& at_host, const unit_key* asking,
                      std::optional<lease_id>* granted) {
  for (auto& turn : at_host.pump(around_.now)) {
    if (asking != nullptr && turn.to.who == *asking)
      *granted = turn.lease;
    else
      later(duration::zero(), [this, turn = std::move(turn),
                               host = at_host.host()] { grant(turn, host); });
  }
  tell_news(at_host);
  arm(at_host);
  around_.watch.backlog(at_host.host(), at_host.has_backlog(around_.now),
                        around_.now);
}

void sim_engine::grant(const host_door::turn& turn, const host_key& host) {
  const bool found
    = with(turn.to.who.repo, turn.to.resident, [&](resident& who) {
        perform(who, who.plan.on_granted(turn.to.who, host, turn.lease, at()));
      });
  around_.watch.check(found, "a turn for who is not awake", around_.now);
  if (found)
    return;
  auto& at_host = door(host);
  at_host.withdraw(turn.lease);
  pump(at_host);
}

void sim_engine::arm(host_door& at_host) {
  auto due = at_host.schedule().wake_at(around_.now);
  if (const auto idle = at_host.schedule().idle_at())
    due = std::min(due.value_or(*idle), *idle);
  if (!due || (at_host.armed && *at_host.armed <= *due))
    return;
  at_host.armed = due;
  agenda_.put(
    std::max(*due, around_.now),
    [this, host = at_host.host(), serial = at_host.serial(), due = *due] {
      const auto i = doors_.find(host);
      if (i == doors_.end() || i->second->serial() != serial
          || i->second->armed != due)
        return;
      i->second->armed.reset();
      pump(*i->second);
    });
}

// -- jobs ---------------------------------------------------------------------

void sim_engine::start_jobs() {
  while (auto next = pool_.take())
    begin_job(*std::move(next));
}

void sim_engine::begin_job(worker_pool::job next) {
  const auto lease = next.what.lease;
  const auto& order = next.what.order;
  auto& at_host = door(next.what.host);
  at_host.schedule().started(lease, around_.now);
  around_.watch.started(next.what.host, next.what.unit, order.url, around_.now);
  auto course = around_.host(next.what.host)
                  .visit(order.url, order.wants, around_.now, around_.random);
  if (course.takes > job_deadline) {
    course = {};
    course.outcome = fetch_class::timeout;
    course.takes = job_deadline;
  }
  if (course.takes > worth_watching && !course.got.empty())
    later(course.takes / 4, [this, repo = next.repo, serial = next.resident,
                             unit = next.what.unit, lease] {
      with(repo, serial, [&](resident& who) {
        perform(who, who.plan.on_moving(unit, lease, at()));
      });
    });
  later(course.takes, [this, lease] { end_job(lease); });
  jobs_.emplace(lease,
                running{std::move(next.repo), next.resident,
                        std::move(next.what), std::move(course), around_.now});
  pump(at_host);
}

void sim_engine::end_job(lease_id lease) {
  const auto job = std::move(jobs_.extract(lease).mapped());
  const auto& host = job.what.host;
  const auto& url = job.what.order.url;
  around_.watch.ended(host, job.what.unit, url, job.course, around_.now);
  auto& at_host = door(host);
  at_host.completed(lease, job.course.outcome, job.course.retry_after,
                    around_.now);
  pool_.ended();
  fetch_outcome result;
  result.outcome = job.course.outcome;
  result.got = job.course.got;
  result.missing = job.course.missing;
  result.retry_after = job.course.retry_after;
  if (result.outcome == fetch_class::redirected)
    result.redirect = moved_to(url, job.course.redirect);
  if (!result.got.empty())
    result.pack = std::make_shared<sim_pack>();
  const bool found = with(job.repo, job.resident, [&](resident& who) {
    perform(who, who.plan.on_fetched(job.what.unit, lease, result, at()));
  });
  around_.watch.check(found, "a job ended and nobody waits for it",
                      around_.now);
  pump(at_host);
  start_jobs();
}

// -- news of hosts ------------------------------------------------------------

void sim_engine::tell_news(host_door& at_host) {
  const auto host = at_host.host();
  for (const auto news : at_host.schedule().take_news()) {
    const auto record = to_record(host, at_host.schedule().image(), live_now());
    known_hosts_[host] = record;
    store_.apply({record});
    if (!std::exchange(committing_, true))
      later(around_.plan.daemon.journal_delay, [this] { commit(); });
    switch (news) {
    case engine::host_event::blocked:
      probes_.erase(host);
      break;
    case engine::host_event::recovered:
      probes_.erase(host);
      later(duration::zero(), [this, host] { recover(host); });
      break;
    case engine::host_event::unblocked:
      if (!probes_.contains(host))
        start_probe(host, duration::zero());
      break;
    case engine::host_event::idle:
      later(duration::zero(), [this, host] { let_go(host); });
      break;
    }
  }
}

void sim_engine::let_go(const host_key& host) {
  const auto i = doors_.find(host);
  if (i == doors_.end() || i->second->schedule().waiting() > 0
      || i->second->schedule().leases() > 0)
    return;
  around_.watch.backlog(host, false, around_.now);
  doors_.erase(i);
}

void sim_engine::recover(const host_key& host) {
  std::set<identifier> concerned;
  if (const auto i = doors_.find(host); i != doors_.end())
    for (const auto& [repo, serial] : i->second->users)
      concerned.insert(repo);
  for (auto& repo :
       store_.interested_in(host, {}, std::numeric_limits<std::size_t>::max()))
    concerned.insert(std::move(repo));
  for (const auto& repo : concerned)
    later(duration::zero(), [this, repo, host] {
      auto& who = call(repo);
      perform(who, who.plan.on_host_recovered(host, at()));
    });
}

void sim_engine::start_probe(const host_key& host, duration pause) {
  const auto number = next_serial_++;
  probes_[host] = {{}, first_probe_pause, number};
  later(pause, [this, host, number] { send_probe(host, number); });
}

/// One identifier after another, until the host has answered.
void sim_engine::send_probe(const host_key& host, std::uint64_t number) {
  const auto i = probes_.find(host);
  if (i == probes_.end() || i->second.number != number)
    return;
  auto& state = i->second;
  std::set<identifier> candidates;
  const auto consider_after = [&](const identifier& last) {
    if (const auto at_host = doors_.find(host); at_host != doors_.end())
      if (const auto user = at_host->second->users.upper_bound(last);
          user != at_host->second->users.end())
        candidates.insert(user->first);
    for (auto& repo : store_.interested_in(host, last, 1))
      candidates.insert(std::move(repo));
  };
  consider_after(state.last);
  if (candidates.empty())
    consider_after({});
  later(state.pause, [this, host, number] { send_probe(host, number); });
  state.pause = std::min(2 * state.pause, last_probe_pause);
  if (candidates.empty())
    return;
  state.last = *candidates.begin();
  auto& who = call(state.last);
  perform(who, who.plan.on_probe(host, at()));
}

} // namespace purgatory::sim
