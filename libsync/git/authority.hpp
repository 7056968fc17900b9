#pragma once

#include "libsync/nostr/event.hpp"
#include "libsync/nostr/git_events.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace purgatory::git {

/// One owner's announcement of an identifier as it counts now.
struct known_announcement {
  nostr::announcement content;
  event_id id;
  unix_seconds created_at = 0;
  bool served = false; ///< Else held.
  bool hosted = false; ///< We keep its tenant; else only its word counts.
};

/// A closure ends here: nearer maintainers first, the rest has no say. Keeps
/// a long chain of strangers from costing more than a real team.
inline constexpr std::size_t max_closure = 64;

/// NIP-01's order between an announcement event and a known one.
bool is_newer(const nostr::event& ev, const known_announcement& than);

/// The announcements of one identifier and who may speak for whom (rules §3).
/// Held and served ones count alike. An owner's newest counts; the served one
/// is remembered beside a newer held one.
class authority {
public:
  // -- observers --------------------------------------------------------------

  /// closure(owner): the owner, the maintainers of his announcement, theirs,
  /// and so on, at most `max_closure`. Cycle-safe. Empty when the owner has no
  /// announcement.
  [[nodiscard]] std::set<pubkey> closure(const pubkey& owner) const;

  /// Owners who let `author` state for them, first-seen owner first. Valid
  /// until the next modifier.
  [[nodiscard]] const std::vector<pubkey>&
  authorising(const pubkey& author) const;

  /// True when an announcement by or listing `who` exists: rules §2.2 (4).
  [[nodiscard]] bool is_maintainer(const pubkey& who) const;

  /// The announcement that counts for `owner`, or null.
  [[nodiscard]] const known_announcement* find(const pubkey& owner) const;

  /// True when some announcement of `owner` is served.
  [[nodiscard]] bool is_served(const pubkey& owner) const;

  /// The served announcement of `owner`, or null.
  [[nodiscard]] const known_announcement* served(const pubkey& owner) const;

  /// All owners, first-seen first.
  [[nodiscard]] const std::vector<pubkey>& owners() const { return owners_; }

  // -- modifiers --------------------------------------------------------------

  /// Takes `next` in as the owner's held or served announcement. Older ones
  /// of the same standing are forgotten.
  void put(const known_announcement& next);

  /// Forgets the owner's announcement `id`, held or served.
  void remove(const pubkey& owner, const event_id& id);

private:
  struct versions {
    std::optional<known_announcement> held;
    std::optional<known_announcement> served;
  };

  std::map<pubkey, versions> by_owner_;
  std::vector<pubkey> owners_;
  /// Member of a closure -> its owners, first-seen first. Derived; empty after
  /// a change, built again when it is asked for.
  mutable std::map<pubkey, std::vector<pubkey>> speaks_for_;
};

} // namespace purgatory::git
