#include "libsync/sim/plain_process.hpp"

#include <algorithm>

namespace purgatory::sim {

namespace {

constexpr duration time_to_live = std::chrono::minutes{30};
constexpr duration refused_for = std::chrono::hours{24 * 7};

} // namespace

void plain_process::run() {
  for (const auto& each : world_.script)
    events_.put(scene_.at(each.at), [this, &each] { play(each.what); });
  poll();
  const auto end = scene_.at(world_.length);
  while (events_.next() <= end) {
    scene_.now = events_.next();
    events_.take()();
    ++steps;
  }
  scene_.now = end;
  scene_.watch.close(end);
}

template <class Event>
void plain_process::say(const Event& what) {
  const auto ev = to_event(what, scene_.wall());
  names_.insert_or_assign(what.name, ev);
  offer(ev, what.from);
}

void plain_process::offer(const nostr::event& ev, provenance from) {
  const auto refused = refused_.find(ev.id);
  if (from == provenance::sync && refused != refused_.end()
      && scene_.now < refused->second)
    return;
  if (scene_.relay.serves(ev.id) || held_.contains(ev.id))
    return;
  scene_.claims.add(ev);
  const auto repo = repository_of(ev);
  held_[ev.id] = {ev, scene_.now + time_to_live};
  of_[repo].insert(ev.id);
  later(time_to_live, [this, id = ev.id] { expire(id); });
  const auto delay = from == provenance::direct ? world_.daemon.default_delay
                                                : world_.daemon.immediate_delay;
  const auto fresh = queue_.try_emplace(repo).second;
  auto& entry = queue_[repo];
  entry.attempts = 0;
  entry.next_attempt = fresh ? scene_.now + delay
                             : std::min(entry.next_attempt, scene_.now + delay);
  process_events(repo);
}

void plain_process::expire(const event_id& id) {
  const auto node = held_.extract(id);
  if (node.empty())
    return;
  refused_[id] = scene_.now + refused_for;
  of_[repository_of(node.mapped().ev)].erase(id);
}

bool plain_process::announcement_counts(const identifier& repo,
                                        const pubkey& owner) const {
  if (scene_.relay.newest().contains(
        {owner, nostr::kind_announcement, repo.value}))
    return true;
  const auto here = of_.find(repo);
  return here != of_.end()
         && std::any_of(
           here->second.begin(), here->second.end(), [&](const event_id& id) {
             const auto& ev = held_.at(id).ev;
             return ev.kind == nostr::kind_announcement && ev.author == owner;
           });
}

/// Releases what is satisfied: each event whose objects are all here.
void plain_process::process_events(const identifier& repo) {
  const tenant target{{}, repo};
  for (const auto& id : std::set(of_[repo])) {
    const auto held = held_.find(id);
    if (held == held_.end()) // Released meanwhile, with an older one.
      continue;
    const auto ev = held->second.ev;
    const auto claim = scene_.claims.all().find(id);
    if (claim == scene_.claims.all().end())
      continue;
    std::vector<pubkey> owners;
    for (const auto& owner : scene_.claims.concerned(claim->second))
      if (announcement_counts(repo, owner))
        owners.push_back(owner);
    const auto& objects = claim->second.objects;
    if (owners.empty() || objects.empty()
        || !std::all_of(objects.begin(), objects.end(), [&](const oid& o) {
             return scene_.repositories.has(target, o);
           }))
      continue;
    for (const auto& owner : owners)
      release_announcement(repo, owner);
    release(ev);
  }
}

void plain_process::release_announcement(const identifier& repo,
                                         const pubkey& owner) {
  for (const auto& id : std::set(of_[repo])) {
    const auto held = held_.find(id);
    if (held == held_.end())
      continue;
    const auto ev = held->second.ev;
    if (ev.kind == nostr::kind_announcement && ev.author == owner)
      release(ev);
  }
}

void plain_process::release(const nostr::event& ev) {
  held_.erase(ev.id);
  of_[repository_of(ev)].erase(ev.id);
  const bool taken
    = scene_.relay.take(ev, scene_.now) == publish_outcome::released;
  if (taken && ev.kind != nostr::kind_announcement)
    released_at.try_emplace(ev.content, scene_.now - scene::begin);
}

void plain_process::play(const action& what) {
  if (const auto* a = std::get_if<announce>(&what))
    say(*a);
  else if (const auto* s = std::get_if<push_state>(&what))
    say(*s);
  else if (const auto* p = std::get_if<propose>(&what))
    say(*p);
  else if (const auto* r = std::get_if<repeat>(&what)) {
    if (const auto i = names_.find(r->event); i != names_.end())
      offer(i->second, r->from);
  } else if (const auto* t = std::get_if<take_back>(&what)) {
    for (const auto& name : t->events)
      if (const auto i = names_.find(name); i != names_.end()) {
        scene_.relay.bury(i->second.id);
        of_[repository_of(i->second)].erase(i->second.id);
        held_.erase(i->second.id);
      }
  } else if (const auto* u = std::get_if<push>(&what)) {
    std::vector<oid> ids;
    for (const auto& name : u->objects)
      ids.push_back(object_of(name));
    scene_.repositories.add({{}, identifier{u->repository}}, ids);
    process_events(identifier{u->repository});
  }
}

} // namespace purgatory::sim
