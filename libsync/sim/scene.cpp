#include "libsync/sim/scene.hpp"

#include <algorithm>

namespace purgatory::sim {

namespace {

std::optional<time_point> end_of_faults(const world& what) {
  if (!what.faults_end)
    return std::nullopt;
  return scene::begin + *what.faults_end;
}

} // namespace

scene::scene(const world& what)
  : plan(what), random(what.seed),
    relay(what.relay, begin, end_of_faults(what)), watch(begin) {
  for (const auto& [name, model] : what.hosts)
    hosts.try_emplace(host_key{name}, model, begin, end_of_faults(what));
  for (const auto& each : what.contents)
    for (const auto& name : each.objects)
      host(host_of(each.url))
        .put(url_of(each.url), at(each.at), object_of(name));
}

unix_seconds scene::wall() const {
  const auto passed = std::chrono::floor<std::chrono::seconds>(now - begin);
  return wall_begin + (passed + clock_shift).count();
}

remote_host& scene::host(const host_key& name) {
  const auto known = hosts.find(name);
  if (known != hosts.end())
    return known->second;
  host_model unknown;
  unknown.errors.push_back({1.0, fetch_class::dns});
  return hosts.try_emplace(name, unknown, begin, std::nullopt).first->second;
}

publish_outcome scene::take_at_relay(const nostr::event& ev) {
  const auto outcome = relay.take(ev, now);
  watch.note(ev.id.value, now);
  if (outcome == publish_outcome::released)
    check_release(ev);
  return outcome;
}

/// Rules §15.4 and §15.5: data first, and refs in place.
void scene::check_release(const nostr::event& ev) {
  const auto repo = repository_of(ev);
  const auto owners = repositories.owners(repo);
  if (ev.kind == nostr::kind_announcement) {
    watch.check(
      std::find(owners.begin(), owners.end(), ev.author) != owners.end(),
      "an announcement was released without data: " + ev.content, now);
    return;
  }
  const auto found = claims.all().find(ev.id);
  if (found == claims.all().end()) {
    watch.check(false, "released although nobody offered it", now);
    return;
  }
  const auto& claim = found->second;
  const bool is_here
    = std::any_of(owners.begin(), owners.end(), [&](const pubkey& owner) {
        return std::all_of(claim.objects.begin(), claim.objects.end(),
                           [&](const oid& id) {
                             return repositories.has({owner, repo}, id);
                           });
      });
  watch.check(is_here, "released without its data: " + ev.content, now);
  if (ev.kind != nostr::kind_state) {
    const bool has_ref
      = std::any_of(owners.begin(), owners.end(), [&](const pubkey& owner) {
          return repositories.pr_ref({owner, repo}, ev.id) != nullptr;
        });
    watch.check(has_ref, "released without its ref: " + ev.content, now);
  }
}

/// Rules §15.7: the refs of an owner for whom nobody else speaks follow the
/// newest of his states that the relay serves.
void scene::check_refs() {
  for (const auto& [where, ev] : relay.newest()) {
    if (ev.kind != nostr::kind_state)
      continue;
    const tenant own{ev.author, repository_of(ev)};
    if (claims.closure(own.repo, own.owner).size() != 1)
      continue;
    const auto& refs = repositories.refs(own);
    for (const auto& each : ev.tags)
      if (each.size() > 1 && each[0].starts_with("refs/")) {
        const auto i = refs.find(each[0]);
        watch.check(i != refs.end() && i->second.value == each[1],
                    "refs do not follow the newest state: " + ev.content, now);
      }
  }
}

} // namespace purgatory::sim
