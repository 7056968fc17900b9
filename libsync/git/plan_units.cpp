// Units: which owners are hunted for as one, and what happens to schedule and
// memory when that changes (rules §3).

#include "libsync/git/identifier_plan.hpp"

#include <algorithm>
#include <utility>

namespace purgatory::git {

identifier_plan::unit& identifier_plan::unit_of(const pubkey& owner) {
  const auto& lead = groups_.lead_of(owner);
  const auto i = units_.find(lead);
  if (i != units_.end())
    return i->second;
  unit fresh{
    hunt(key_of(lead), {settings_.unit_concurrent, settings_.hedge_delay}),
    {},
    {},
    {},
    0,
    false,
    false,
    {}};
  return units_.emplace(lead, std::move(fresh)).first->second;
}

const identifier_plan::unit*
identifier_plan::find_unit(const pubkey& owner) const {
  const auto i = units_.find(groups_.lead_of(owner));
  return i == units_.end() ? nullptr : &i->second;
}

/// Who runs the job under `lease`; its unit may have another name by now.
identifier_plan::unit& identifier_plan::unit_with(const unit_key& name,
                                                  lease_id lease) {
  auto& named = unit_of(name.owner);
  if (named.round.job(lease) != nullptr)
    return named;
  for (auto& [lead, u] : units_)
    if (u.round.job(lease) != nullptr)
      return u;
  return named;
}

std::vector<pubkey> identifier_plan::leads() const {
  std::vector<pubkey> result;
  for (const auto& [lead, u] : units_)
    result.push_back(lead);
  return result;
}

std::uint32_t identifier_plan::rounds(const pubkey& owner) const {
  const auto* u = find_unit(owner);
  return u == nullptr ? 0 : u->rounds;
}

/// The announcements changed: units are joined and split.
void identifier_plan::regroup() {
  unit_groups next(authority_);
  if (next == groups_)
    return;
  const auto before = std::exchange(groups_, std::move(next));
  // A part that left takes a copy of what its old unit knew.
  for (const auto& lead : leads())
    for (const auto& member : before.members_of(lead)) {
      const auto& now_in = groups_.lead_of(member);
      if (now_in == lead || units_.contains(now_in))
        continue;
      const auto& old = units_.at(lead);
      auto& part = unit_of(member);
      part.urls = old.urls;
      part.rounds = old.rounds;
      part.resets = old.resets;
      part.is_restored = old.is_restored;
      part.round.restore_attempts(old.round.attempts());
    }
  // A unit whose lead joined another one is taken over as a whole.
  for (const auto& lead : leads())
    if (groups_.lead_of(lead) != lead) {
      auto node = units_.extract(lead);
      join(lead, std::move(node.mapped()));
    }
  for (const auto& [id, e] : waiting_)
    if (e.is_hunted() && e.durable())
      schedule(e);
}

void identifier_plan::join(const pubkey& lead, unit from) {
  auto& into = unit_of(lead);
  for (auto& surplus : into.round.adopt(from.round)) {
    ++places_being_left_;
    out_.push_back(
      give_up_place{std::move(surplus.subject), std::move(surplus.host)});
  }
  for (auto& [url, memory] : from.urls) {
    const auto [i, is_new] = into.urls.try_emplace(url, memory);
    if (!is_new)
      i->second.unite(memory);
  }
  into.round.restore_attempts(
    std::min(into.round.attempts(), from.round.attempts()));
  if (from.wait.due())
    into.wait.pull_to(*from.wait.due());
  into.is_restored = into.is_restored || from.is_restored;
  // Rounds since arrival stay what they were for the entries of both.
  const auto rounds = std::max(into.rounds, from.rounds);
  for (auto& [id, e] : waiting_) {
    const auto owner = unit_owner(e);
    if (!owner || groups_.lead_of(*owner) != into.round.name().owner)
      continue;
    const bool came = from.members.contains(id);
    e.life.rebase(rounds - (came ? from.rounds : into.rounds));
  }
  into.members.merge(from.members);
  into.rounds = rounds;
}

} // namespace purgatory::git
