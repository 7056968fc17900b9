#include "libsync/sim/bound.hpp"

#include <algorithm>
#include <deque>
#include <utility>

namespace purgatory::sim {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr duration least_stretch = minutes{45};
constexpr duration window = seconds{60} + std::chrono::milliseconds{200};

/// When `id` can be got under `url`, from `from` on.
std::optional<time_point> there_from(scene& after, const remote_url& url,
                                     const oid& id, time_point from) {
  auto& host = after.host(host_of(url.value));
  if (!host.model().redirect_to.empty())
    return std::nullopt;
  const auto since = host.holds_from(url, id);
  if (!since)
    return std::nullopt;
  return host.up_from(std::max(from, *since));
}

/// True when the host is up at the end, or long enough from `from` on.
bool is_up_long_enough(const remote_host& host, time_point from,
                       time_point end) {
  if (host.is_up(end))
    return true;
  for (auto at = from; at < end;) {
    const auto up = host.up_from(at);
    if (!up || *up >= end)
      return false;
    bool whole = true;
    for (auto t = *up; t < *up + least_stretch && whole; t += minutes{1})
      whole = host.is_up(t);
    if (whole && *up + least_stretch <= end)
      return true;
    at = *up + minutes{1};
    while (at < end && host.is_up(at))
      at += minutes{1};
  }
  return false;
}

/// A host that lies about most is as good as none.
bool is_honest(const remote_host& host) {
  double wrong = 0;
  for (const auto& each : host.model().errors)
    wrong += each.share;
  return wrong < 0.5;
}

/// Starts of a scheduler that knows which hosts are up at `at`.
std::uint32_t fewest_starts(scene& after, const std::vector<remote_url>& urls,
                            std::vector<oid> open, time_point at) {
  std::uint32_t starts = 0;
  for (const auto& url : urls) {
    if (open.empty())
      break;
    if (!after.host(host_of(url.value)).is_up(at))
      continue;
    ++starts;
    std::erase_if(open, [&](const oid& id) {
      const auto since = there_from(after, url, id, at);
      return since && *since <= at;
    });
  }
  return std::max(starts, 1U);
}

possibility judge_one(scene& after, const claims::claim& claim,
                      time_point offered, provenance from) {
  const auto& rules = after.plan.daemon;
  possibility result;
  result.id = claim.ev.id;
  result.arrived = offered;
  const auto repo = repository_of(claim.ev);
  const auto owners = after.claims.concerned(claim);
  result.unit = {owners.empty() ? claim.ev.author : owners.front(), repo};
  result.available = offered
                     + (from == provenance::direct ? rules.default_delay
                                                   : rules.immediate_delay);
  const auto urls = after.claims.urls(claim);
  result.is_reachable = !claim.objects.empty() && !owners.empty();
  std::set<host_key> only;
  for (const auto& id : claim.objects) {
    std::optional<time_point> soonest;
    bool lasts = false;
    std::set<host_key> where;
    for (const auto& url : urls) {
      const auto since = there_from(after, url, id, result.available);
      const auto& host = after.host(host_of(url.value));
      if (!since || !is_honest(host))
        continue;
      soonest = std::min(soonest.value_or(*since), *since);
      where.insert(host_of(url.value));
      lasts = lasts || is_up_long_enough(host, *since, after.now);
    }
    result.is_reachable = result.is_reachable && soonest && lasts;
    if (soonest)
      result.available = std::max(result.available, *soonest);
    if (where.size() == 1)
      only.insert(*where.begin());
  }
  if (only.size() == 1)
    result.where = *only.begin();
  result.starts = fewest_starts(after, urls, claim.objects, result.available);
  result.earliest = result.available;
  return result;
}

/// Serves the events of one host in order of availability.
void serve_in_order(scene& after, const host_key& name,
                    std::vector<possibility*> queue) {
  const auto& rules = after.plan.daemon;
  const auto own = rules.host_limits.find(name.value);
  const auto& limits
    = own == rules.host_limits.end() ? rules.limits : own->second;
  auto& host = after.host(name);
  std::sort(queue.begin(), queue.end(), [](const auto* a, const auto* b) {
    return std::pair{a->available, a->id} < std::pair{b->available, b->id};
  });
  const duration job = host.model().latency_min;
  std::deque<time_point> starts;
  for (auto* next : queue) {
    auto at = next->available;
    const auto hidden = host.bears(at);
    auto limit = limits.per_minute;
    if (hidden > 0 && (limit == 0 || hidden < limit))
      limit = hidden;
    if (limit > 0 && starts.size() >= limit)
      at = std::max(at, starts[starts.size() - limit] + window);
    if (limits.concurrent > 0 && starts.size() >= limits.concurrent)
      at = std::max(at, starts[starts.size() - limits.concurrent] + job);
    at = host.up_from(at).value_or(at);
    starts.push_back(at);
    while (starts.size() > std::max(limit, limits.concurrent) + 1)
      starts.pop_front();
    next->earliest = at + job;
  }
}

} // namespace

const char* const bound_formula
  = "start(k) = max(available(k), start(k - limit) + 60.2 s, start(k - slots) "
    "+ shortest job), outside of outages, per host, in order of availability; "
    "released one shortest job later";

namespace {

/// A pull request is served after an announcement that it names, and that one
/// after a state.
void bind_to_states(scene& after, std::vector<possibility>& all) {
  std::map<tenant, time_point> served;
  for (const auto& each : all) {
    const auto& claim = after.claims.all().at(each.id);
    if (!each.is_reachable || claim.ev.kind != nostr::kind_state)
      continue;
    for (const auto& owner : after.claims.concerned(claim)) {
      const auto known
        = served.try_emplace({owner, each.unit.repo}, each.available).first;
      known->second = std::min(known->second, each.available);
    }
  }
  for (auto& each : all) {
    const auto& claim = after.claims.all().at(each.id);
    if (!each.is_reachable || claim.ev.kind == nostr::kind_state)
      continue;
    std::optional<time_point> soonest;
    for (const auto& owner : claim.owners)
      if (const auto i = served.find({owner, each.unit.repo});
          i != served.end())
        soonest = std::min(soonest.value_or(i->second), i->second);
    each.is_reachable = soonest.has_value();
    each.available = std::max(each.available, soonest.value_or(each.available));
    each.earliest = each.available;
  }
}

} // namespace

std::vector<possibility> judge(scene& after,
                               const std::map<event_id, time_point>& offered,
                               const std::map<event_id, provenance>& from) {
  std::vector<possibility> result;
  for (const auto& [id, claim] : after.claims.all())
    if (const auto when = offered.find(id); when != offered.end())
      result.push_back(judge_one(after, claim, when->second, from.at(id)));
  bind_to_states(after, result);
  std::map<host_key, std::vector<possibility*>> queues;
  for (auto& each : result)
    if (each.is_reachable && !each.where.value.empty())
      queues[each.where].push_back(&each);
  for (auto& [host, queue] : queues)
    serve_in_order(after, host, std::move(queue));
  return result;
}

} // namespace purgatory::sim
