#include "libsync/git/identifier_plan.hpp"

namespace purgatory::git {

unit_counts identifier_plan::hunting_units() const {
  std::set<pubkey> owners;
  for (const auto& [id, e] : waiting_)
    if (e.state == entry_state::hunting && e.is_hunted())
      if (const auto owner = unit_owner(e))
        owners.insert(groups_.lead_of(*owner));
  unit_counts counts;
  counts.units = owners.size();
  for (const auto& lead : owners)
    counts.fresh += rounds(lead) == 0 ? 1U : 0U;
  return counts;
}

} // namespace purgatory::git
