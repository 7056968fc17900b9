#pragma once

#include "libsync/nostr/event.hpp"

#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

/// NIP-34 events as typed values (rules §2.2 to §2.5). Event text never
/// travels further than here: what does not parse becomes a reason.
namespace purgatory::nostr {

/// Kind 30617: a repository under one identifier, by its owner.
struct announcement {
  pubkey owner;
  identifier repo;
  std::vector<std::string> clone_urls; ///< All `clone` tags, in order, raw.
  std::vector<std::string> relays;     ///< All `relays` tags, in order, raw.
  std::set<pubkey>
    maintainers; ///< Valid hex keys only; a bad one is ignored alone.
};

/// One ref value of a state.
struct state_ref {
  std::string name; ///< `refs/heads/…` or `refs/tags/…`.
  oid target;
  friend bool operator==(const state_ref&, const state_ref&) = default;
};

/// Kind 30618: where the refs of a repository stand.
struct state {
  pubkey author;
  identifier repo;
  std::vector<state_ref> refs; ///< Concrete values, sorted by name.
  std::vector<std::string>
    symbolic_names; ///< Refs whose value starts `ref: `: never written.
  /// The branch HEAD shall name, only when it has an OID in `refs`.
  std::optional<std::string> head;
  /// Set when no repository can satisfy it: invalid OID or ref name, mixed
  /// OID lengths, or names that cannot coexist. Held, never hunted.
  std::optional<std::string> unsatisfiable;
};

/// An `a` tag `30617:<owner>:<d>`, split at the first two colons only.
struct coordinate {
  pubkey owner;
  identifier repo;
  friend auto operator<=>(const coordinate&, const coordinate&) = default;
};

/// Kinds 1618 and 1619: a pull request, or a new tip for one.
struct pull_request {
  event_id id;
  pubkey author;
  std::optional<oid> tip; ///< Nothing when `c` is no full OID: unsatisfiable.
  std::vector<coordinate> repositories;
  std::optional<event_id> updates; ///< Kind 1619: the PR in its `E` tag.
  std::vector<std::string> clone_urls;
};

/// Kind 5: what its signer takes back.
struct deletion {
  pubkey author;
  unix_seconds created_at = 0;
  std::vector<event_id> ids;
  /// Coordinates of kind 30617 or 30618 of the signer himself.
  struct addressed {
    std::uint32_t kind;
    identifier repo;
  };
  std::vector<addressed> coordinates;
};

/// Any other kind: not ours, passes.
struct other_kind {};

/// The event breaks a rule of its kind; the text follows `invalid: `.
struct invalid_event {
  std::string reason;
};

using git_event = std::variant<announcement, state, pull_request, deletion,
                               other_kind, invalid_event>;

/// Types `ev` by its kind. `max_refs` bounds a state's refs.
git_event read_git_event(const event& ev, std::size_t max_refs = 10'000);

/// A full object id: 40 or 64 hex digits in any case, not all zeros. Nothing
/// else: no abbreviation, revision, option or refspec.
std::optional<oid> parse_oid(std::string_view text);

/// `d` values that may name a repository: not empty, `.` or `..`, without
/// `/`, `\` and NUL, at most 251 bytes.
std::optional<identifier> parse_identifier(std::string_view text);

/// True when `name` passes git's check-ref-format for a full ref name.
bool is_valid_ref_name(std::string_view name);

/// 64 hex digits in any case, as lower-case key; nothing otherwise.
std::optional<pubkey> parse_pubkey(std::string_view text);
std::optional<event_id> parse_event_id(std::string_view text);

} // namespace purgatory::nostr
