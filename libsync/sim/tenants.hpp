#pragma once

#include "libsync/ports.hpp"
#include "libsync/types.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace purgatory::sim {

/// Verified objects of a job; the simulator needs no folder.
struct sim_pack final : quarantine {
  [[nodiscard]] const std::string& directory() const override { return name; }
  std::string name;
};

/// The bare repositories as plain containers. What was stored survives the
/// process, as on a disk.
class tenants {
public:
  [[nodiscard]] bool has(const tenant& repository, const oid& id) const;
  [[nodiscard]] std::vector<object_kind>
  kinds(const tenant& repository, const std::vector<oid>& ids) const;

  /// Branches and tags; empty for a repository that is not there.
  [[nodiscard]] const std::map<std::string, oid>&
  refs(const tenant& repository) const;
  [[nodiscard]] const oid* pr_ref(const tenant& repository,
                                  const event_id& pr) const;

  /// Owners whose repository of that identifier has objects.
  [[nodiscard]] std::vector<pubkey> owners(const identifier& repo) const;

  void add(const tenant& repository, const std::vector<oid>& ids);

  /// As object_store's: `missing` when an object is not there.
  store_report align(const tenant& repository, const git::desired_refs& wanted);
  store_report set_pr_ref(const tenant& repository, const event_id& pr,
                          const oid& tip);

private:
  struct store {
    std::set<oid> objects;
    std::map<std::string, oid> refs;
    std::map<event_id, oid> pr_refs;
  };
  [[nodiscard]] const store* find(const tenant& which) const;

  std::map<identifier, std::map<pubkey, store>> all_;
};

} // namespace purgatory::sim
