#include "libsync/git/unit_groups.hpp"

#include <deque>

namespace purgatory::git {

unit_groups::unit_groups(const authority& announcements) {
  const auto lists = [&](const pubkey& one, const pubkey& other) {
    const auto* known = announcements.find(one);
    return known != nullptr && known->content.maintainers.contains(other);
  };
  for (const auto& lead : announcements.owners()) {
    if (leads_.contains(lead))
      continue;
    leads_.emplace(lead, lead);
    std::deque<pubkey> open = {lead};
    while (!open.empty()) {
      const auto next = std::move(open.front());
      open.pop_front();
      for (const auto& other : announcements.find(next)->content.maintainers)
        if (lists(other, next) && leads_.emplace(other, lead).second)
          open.push_back(other);
    }
  }
  for (const auto& owner : announcements.owners())
    members_[leads_.at(owner)].push_back(owner);
}

const pubkey& unit_groups::lead_of(const pubkey& owner) const {
  const auto i = leads_.find(owner);
  return i == leads_.end() ? owner : i->second;
}

std::vector<pubkey> unit_groups::members_of(const pubkey& lead) const {
  const auto i = members_.find(lead);
  return i == members_.end() ? std::vector<pubkey>{lead} : i->second;
}

} // namespace purgatory::git
