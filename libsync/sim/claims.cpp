#include "libsync/sim/claims.hpp"

#include "libsync/nostr/git_events.hpp"
#include "libsync/sim/names.hpp"

#include <algorithm>

namespace purgatory::sim {

identifier repository_of(const nostr::event& ev) {
  if (const auto d = nostr::first_value(ev, "d"); !d.empty())
    return identifier{std::string{d}};
  const auto typed = nostr::read_git_event(ev);
  const auto* pr = std::get_if<nostr::pull_request>(&typed);
  if (pr == nullptr || pr->repositories.empty())
    return {};
  return pr->repositories.front().repo;
}

void claims::add(const nostr::event& ev) {
  const auto typed = nostr::read_git_event(ev);
  if (const auto* a = std::get_if<nostr::announcement>(&typed)) {
    auto& known = repositories_[a->repo][a->owner];
    known.maintainers.insert(a->maintainers.begin(), a->maintainers.end());
    if (known.newest.id.value.empty() || nostr::is_newer(ev, known.newest)) {
      known.newest = ev;
      known.urls.clear();
      for (const auto& url : a->clone_urls)
        known.urls.push_back(url_of(url));
    }
    return;
  }
  claim next;
  next.ev = ev;
  if (const auto* s = std::get_if<nostr::state>(&typed)) {
    for (const auto& ref : s->refs)
      next.objects.push_back(ref.target);
  } else if (const auto* pr = std::get_if<nostr::pull_request>(&typed)) {
    if (pr->tip)
      next.objects.push_back(*pr->tip);
    for (const auto& url : pr->clone_urls)
      next.own_urls.push_back(url_of(url));
    for (const auto& named : pr->repositories)
      next.owners.push_back(named.owner);
  } else {
    return;
  }
  std::sort(next.objects.begin(), next.objects.end());
  next.objects.erase(std::unique(next.objects.begin(), next.objects.end()),
                     next.objects.end());
  if (!all_.contains(ev.id))
    for (const auto& id : next.objects)
      naming_[repository_of(ev)][id].push_back(ev.id);
  all_.emplace(ev.id, std::move(next));
}

std::set<pubkey> claims::closure(const identifier& repo,
                                 const pubkey& owner) const {
  std::set<pubkey> result;
  const auto here = repositories_.find(repo);
  if (here == repositories_.end() || !here->second.contains(owner))
    return result;
  std::vector<pubkey> open{owner};
  while (!open.empty()) {
    const auto next = open.back();
    open.pop_back();
    if (!result.insert(next).second)
      continue;
    if (const auto i = here->second.find(next); i != here->second.end())
      open.insert(open.end(), i->second.maintainers.begin(),
                  i->second.maintainers.end());
  }
  return result;
}

std::vector<pubkey> claims::concerned(const claim& what) const {
  std::vector<pubkey> result;
  const auto repo = repository_of(what.ev);
  const auto here = repositories_.find(repo);
  if (here == repositories_.end())
    return result;
  for (const auto& [owner, known] : here->second) {
    const auto speakers = closure(repo, owner);
    const bool is_named
      = what.owners.empty()
          ? speakers.contains(what.ev.author)
          : std::any_of(what.owners.begin(), what.owners.end(),
                        [&](const pubkey& p) { return speakers.contains(p); });
    if (is_named)
      result.push_back(owner);
  }
  return result;
}

std::vector<remote_url> claims::urls(const claim& what) const {
  std::vector<remote_url> result;
  const auto add = [&](const std::vector<remote_url>& urls) {
    for (const auto& url : urls)
      if (std::find(result.begin(), result.end(), url) == result.end())
        result.push_back(url);
  };
  const auto here = repositories_.find(repository_of(what.ev));
  for (const auto& owner : concerned(what))
    add(here->second.at(owner).urls);
  add(what.own_urls);
  return result;
}

bool claims::may_enter(const tenant& repository, const oid& id) const {
  const auto here = naming_.find(repository.repo);
  if (here == naming_.end())
    return false;
  const auto by = here->second.find(id);
  if (by == here->second.end())
    return false;
  return std::any_of(by->second.begin(), by->second.end(), [&](const auto& ev) {
    const auto whose = concerned(all_.at(ev));
    return std::find(whose.begin(), whose.end(), repository.owner)
           != whose.end();
  });
}

} // namespace purgatory::sim
