#include "libsync/sim/run.hpp"

#include "libsync/sim/bound.hpp"
#include "libsync/sim/runner.hpp"

#include <algorithm>
#include <set>

namespace purgatory::sim {

namespace {

/// An event that a newer one of its author, or its author, took the place of.
bool is_outdone(scene& after, const nostr::event& ev) {
  if (ev.kind != nostr::kind_state)
    return false;
  const auto* newest = after.relay.state_of(ev.author, repository_of(ev));
  return newest != nullptr && newest->id != ev.id
         && nostr::is_newer(*newest, ev);
}

std::set<event_id> taken_back(const runner& ran, const world& what) {
  std::set<event_id> result;
  for (const auto& each : what.script)
    if (const auto* t = std::get_if<take_back>(&each.what))
      for (const auto& name : t->events)
        if (const auto i = ran.names().find(name);
            i != ran.names().end() && i->second.author == key_of(t->author))
          result.insert(i->second.id);
  for (const auto& name : what.relay.refuses)
    if (const auto i = ran.names().find(name); i != ran.names().end())
      result.insert(i->second.id);
  return result;
}

void count_starts(const runner& ran, scene& after,
                  const std::vector<possibility>& all, summary& to) {
  std::map<identifier, std::set<pubkey>> reachable;
  std::map<unit_key, std::uint64_t> clairvoyant;
  std::set<identifier> known;
  for (const auto& each : all) {
    known.insert(each.unit.repo);
    if (!each.is_reachable)
      continue;
    reachable[each.unit.repo].insert(each.unit.owner);
    clairvoyant[each.unit] += each.starts;
  }
  for (const auto& [unit, starts] : clairvoyant)
    to.starts_clairvoyant += starts;
  for (const auto& [unit, tally] : after.watch.units()) {
    if (reachable.contains(unit.repo)) {
      to.starts_reachable += tally.starts;
      to.starts_useless += tally.useless;
    } else {
      to.starts_absent = std::max(to.starts_absent, tally.most_at_one_url);
    }
  }
  static_cast<void>(ran);
}

void count_events(const runner& ran, scene& after, const world& what,
                  const std::vector<possibility>& all, summary& to) {
  const auto gone = taken_back(ran, what);
  std::vector<duration> lags;
  std::vector<duration> waits;
  for (const auto& each : all) {
    const auto& ev = after.claims.all().at(each.id).ev;
    const auto since = after.relay.since(each.id);
    ++to.events;
    if (since) {
      ++to.released;
      to.released_at.emplace(ev.content, *since - scene::begin);
    }
    if (!since && (gone.contains(each.id) || is_outdone(after, ev)))
      to.outdone.insert(ev.content);
    if (!each.is_reachable || gone.contains(each.id)
        || to.outdone.contains(ev.content))
      continue;
    ++to.reachable;
    to.bound = std::max(to.bound, each.earliest - each.available);
    if (!since) {
      if (to.missed.size() < 20)
        to.missed.push_back(ev.content);
      continue;
    }
    ++to.reached;
    lags.push_back(*since - each.earliest);
    waits.push_back(*since - each.available);
  }
  to.lag = spread_of(std::move(lags));
  to.waited = spread_of(std::move(waits));
  to.makespan = to.waited.max;
  for (const auto& [where, ev] : after.relay.newest())
    if (ev.kind == nostr::kind_announcement)
      ++to.announcements;
}

void count_hosts(const observer& watch, summary& to) {
  for (const auto& [name, seen] : watch.hosts()) {
    host_summary host{name.value, seen, std::nullopt};
    if (seen.backlog > duration::zero())
      host.utilisation = std::chrono::duration<double>(seen.ideal)
                         / std::chrono::duration<double>(seen.backlog);
    to.limited
      += seen.by_class.at(static_cast<std::size_t>(fetch_class::limited));
    to.hosts.push_back(std::move(host));
  }
}

} // namespace

summary run(const world& what, const run_options& options) {
  runner ran{what, options};
  ran.run();
  auto& after = ran.around();
  // With open outages at the end refs may lag behind: the relay was told, the
  // process was not yet. Only a quiet end can be judged.
  if (what.faults_end && ran.engine() != nullptr)
    after.check_refs();
  summary result;
  result.seed = what.seed;
  result.simulated = what.length;
  result.steps = ran.steps();
  result.crashes = ran.crashes();
  result.verdicts = after.verdicts;
  result.starts = after.watch.starts();
  const auto all = judge(after, ran.offered(), ran.provenances());
  count_events(ran, after, what, all, result);
  count_starts(ran, after, all, result);
  count_hosts(after.watch, result);
  if (what.faults_end)
    after.watch.check(result.reached == result.reachable,
                      "reachable and not released: "
                        + (result.missed.empty() ? "" : result.missed.front()),
                      after.now);
  if (ran.engine() != nullptr) {
    result.awake = ran.engine()->awake();
    result.asleep = ran.engine()->asleep();
  }
  result.facts = ran.facts();
  result.trace = after.watch.trace();
  result.violation_count = after.watch.violation_count();
  result.violations = after.watch.violations();
  return result;
}

} // namespace purgatory::sim
