#pragma once

#include "libsync/journal.hpp"
#include "libsync/nostr/event.hpp"
#include "libsync/types.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace purgatory::git {

/// Caps and life of tombstones (rules §2.5).
struct tombstone_limits {
  std::size_t total = 100'000;
  std::size_t per_author = 1'000;
  unix_seconds life = 30 * 24 * 60 * 60;
};

/// What authors took back before it came. At a cap the author's oldest goes
/// first, then the oldest of all: a flood costs its author his own history.
/// Times are wall time. Logarithmic.
class tombstones {
public:
  explicit tombstones(tombstone_limits limits = {}) : limits_(limits) {}

  // -- observers --------------------------------------------------------------

  [[nodiscard]] std::size_t size() const { return by_age_.size(); }

  /// True when the author of `ev`, of repository `repo`, took it back: by its
  /// id, or by its coordinate up to a time that is not before `ev`'s.
  [[nodiscard]] bool cover(const nostr::event& ev,
                           const identifier& repo) const;

  /// True when `author` took the event `id` back, whatever it is.
  [[nodiscard]] bool cover(const pubkey& author, const event_id& id) const;

  /// Those of coordinates of `repo`, in order of arrival.
  [[nodiscard]] std::vector<tombstone_record> of(const identifier& repo) const;

  // -- modifiers --------------------------------------------------------------

  /// A later one of the same coordinate replaces an earlier one.
  void bury(const tombstone_record& what);

  /// Forgets those older than their life.
  void expire(unix_seconds now);

private:
  struct key {
    pubkey author;
    std::optional<event_id> id;
    std::uint32_t kind = 0;
    std::optional<identifier> repo;
    friend auto operator<=>(const key&, const key&) = default;
  };
  struct stone {
    unix_seconds until = 0;
    unix_seconds since = 0;
    std::uint64_t number = 0; ///< Order of arrival among equals.
  };
  using age = std::tuple<unix_seconds, std::uint64_t>;

  void remove(const key& which);

  tombstone_limits limits_;
  std::uint64_t next_number_ = 0;
  std::map<key, stone> stones_;
  std::map<age, key> by_age_;
  std::map<pubkey, std::map<age, key>> by_author_;
  std::map<identifier, std::map<std::uint64_t, key>> by_repo_;
};

} // namespace purgatory::git
