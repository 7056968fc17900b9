#include "libsync/git/identifier_plan.hpp"

namespace purgatory::git {

unit_counts identifier_plan::hunting_units() const {
  std::set<pubkey> owners;
  for (const auto& [id, e] : waiting_)
    if (e.state == entry_state::hunting)
      if (auto owner = unit_owner(e))
        owners.insert(std::move(*owner));
  unit_counts counts;
  counts.units = owners.size();
  for (const auto& owner : owners) {
    const auto known = units_.find(owner);
    const bool tried
      = known != units_.end() && known->second.round.attempts() > 0;
    counts.fresh += tried ? 0U : 1U;
  }
  return counts;
}

} // namespace purgatory::git
