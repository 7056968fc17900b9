#include "libsync/git/authority.hpp"

#include <algorithm>
#include <deque>
#include <utility>

namespace purgatory::git {

bool is_newer(const nostr::event& ev, const known_announcement& than) {
  return ev.created_at != than.created_at ? ev.created_at > than.created_at
                                          : ev.id < than.id;
}

std::set<pubkey> authority::closure(const pubkey& owner) const {
  std::set<pubkey> result;
  if (find(owner) == nullptr)
    return result;
  std::deque<pubkey> open = {owner};
  while (!open.empty() && result.size() < max_closure) {
    const auto next = std::move(open.front());
    open.pop_front();
    if (!result.insert(next).second)
      continue;
    if (const auto* known = find(next))
      open.insert(open.end(), known->content.maintainers.begin(),
                  known->content.maintainers.end());
  }
  return result;
}

const std::vector<pubkey>& authority::authorising(const pubkey& author) const {
  if (speaks_for_.empty())
    for (const auto& owner : owners_)
      for (const auto& member : closure(owner))
        speaks_for_[member].push_back(owner);
  static const std::vector<pubkey> nobody;
  const auto i = speaks_for_.find(author);
  return i == speaks_for_.end() ? nobody : i->second;
}

bool authority::is_maintainer(const pubkey& who) const {
  return std::any_of(owners_.begin(), owners_.end(), [&](const pubkey& owner) {
    return owner == who || find(owner)->content.maintainers.contains(who);
  });
}

const known_announcement* authority::find(const pubkey& owner) const {
  const auto i = by_owner_.find(owner);
  if (i == by_owner_.end())
    return nullptr;
  const auto& [held, served] = i->second;
  return held ? &*held : &*served;
}

bool authority::is_served(const pubkey& owner) const {
  return served(owner) != nullptr;
}

const known_announcement* authority::served(const pubkey& owner) const {
  const auto i = by_owner_.find(owner);
  return i != by_owner_.end() && i->second.served ? &*i->second.served
                                                  : nullptr;
}

void authority::put(const known_announcement& next) {
  speaks_for_.clear();
  const auto& owner = next.content.owner;
  auto [i, is_new] = by_owner_.try_emplace(owner);
  if (is_new)
    owners_.push_back(owner);
  auto& known = i->second;
  if (!next.served) {
    const bool is_old
      = known.served && known.served->created_at > next.created_at;
    if (!is_old)
      known.held = next;
    return;
  }
  known.served = next;
  // A served one that is not older than the held one replaces it.
  if (known.held && known.held->created_at <= next.created_at)
    known.held.reset();
}

void authority::remove(const pubkey& owner, const event_id& id) {
  speaks_for_.clear();
  const auto i = by_owner_.find(owner);
  if (i == by_owner_.end())
    return;
  auto& known = i->second;
  if (known.held && known.held->id == id)
    known.held.reset();
  if (known.served && known.served->id == id)
    known.served.reset();
  if (known.held || known.served)
    return;
  by_owner_.erase(i);
  std::erase(owners_, owner);
}

} // namespace purgatory::git
