#pragma once

#include "libsync/git/authority.hpp"
#include "libsync/types.hpp"

#include <map>
#include <vector>

namespace purgatory::git {

/// The units of one identifier (rules §3): owners whose announcements list
/// each other, directly or through others, belong together. One-sided listing
/// joins nobody.
///
/// A unit has the name of its *lead*, the owner whose announcement was seen
/// first (docs/decisions/0007): joining keeps the older name, and whoever
/// asks by the name of any member finds the unit.
class unit_groups {
public:
  unit_groups() = default;
  explicit unit_groups(const authority& announcements);

  /// The lead of the unit that `owner` is in; himself if he is unknown.
  [[nodiscard]] const pubkey& lead_of(const pubkey& owner) const;

  /// The members of the unit of `lead`, first-seen first; at least himself.
  [[nodiscard]] std::vector<pubkey> members_of(const pubkey& lead) const;

  friend bool operator==(const unit_groups&, const unit_groups&) = default;

private:
  std::map<pubkey, pubkey> leads_;
  std::map<pubkey, std::vector<pubkey>> members_;
};

} // namespace purgatory::git
