#pragma once

#include "libsync/types.hpp"

#include <deque>
#include <unordered_set>

namespace purgatory {

/// Leases that can't bring anything to run any more, the last few thousand of
/// them: those that ended and those that were reclaimed. Older ones can only
/// come back if a message waited while thousands of others passed it.
class spent_leases {
public:
  void add(lease_id lease);
  bool contains(lease_id lease) const { return known_.contains(lease); }

private:
  std::unordered_set<lease_id> known_;
  std::deque<lease_id> order_;
};

} // namespace purgatory
