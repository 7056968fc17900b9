#pragma once

#include "libsync/nostr/event.hpp"
#include "libsync/types.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace purgatory::sim {

/// Who said what about which repository, as an outsider keeps it: the judge of
/// what may enter whose repository (rules §15.6) and of what can be released.
class claims {
public:
  /// One state or pull request.
  struct claim {
    nostr::event ev;
    std::vector<oid> objects;         ///< That it names; no duplicates.
    std::vector<remote_url> own_urls; ///< Of a pull request.
    std::vector<pubkey> owners;       ///< Named by a pull request.
  };

  void add(const nostr::event& ev);

  [[nodiscard]] const std::map<event_id, claim>& all() const { return all_; }

  /// The owner, his maintainers, theirs and so on, by all announcements ever.
  [[nodiscard]] std::set<pubkey> closure(const identifier& repo,
                                         const pubkey& owner) const;

  /// Owners of that identifier that the claim concerns.
  [[nodiscard]] std::vector<pubkey> concerned(const claim& what) const;

  /// Clone URLs under which its objects may be looked for, in order of tags.
  [[nodiscard]] std::vector<remote_url> urls(const claim& what) const;

  /// False when no event that governs or targets the repository names `id`.
  [[nodiscard]] bool may_enter(const tenant& repository, const oid& id) const;

private:
  struct announced {
    std::vector<remote_url> urls; ///< Of the newest announcement.
    std::set<pubkey> maintainers; ///< Of all of them.
    nostr::event newest;
  };
  using announcers = std::map<pubkey, announced>;

  std::map<identifier, announcers> repositories_;
  std::map<event_id, claim> all_;
  std::map<identifier, std::map<oid, std::vector<event_id>>> naming_;
};

/// The identifier that a state or pull request belongs to.
identifier repository_of(const nostr::event& ev);

} // namespace purgatory::sim
