#pragma once

#include "libsync/git/alignment.hpp"
#include "libsync/nostr/event.hpp"
#include "libsync/types.hpp"

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

/// What the journal records and gives back. Each record is one sentence of
/// the daemon's history; applying one twice changes nothing.
namespace purgatory {

/// Where an event came from; decides its debounce (rules §7).
enum class provenance : std::uint8_t {
  direct, ///< A client of our relay: its data is probably being pushed now.
  sync,   ///< Another relay.
  import, ///< An operator's file.
  served, ///< Our own relay already serves it.
};

/// Where an event stands. Values are stored: append only.
enum class entry_state : std::uint8_t {
  orphan = 0,        ///< Waits for an announcement that authorises or names it.
  hunting = 1,       ///< Waits for git data.
  unsatisfiable = 2, ///< Held, but no repository can ever satisfy it.
  future = 3,        ///< Its time has not come.
  aligning = 4,      ///< Data is here; refs are being moved.
  publishing = 5,    ///< Refs are right; the relay has not confirmed yet.
  served = 6,        ///< Released, or seen at our relay.
  superseded = 7,    ///< A newer event of its author took its place.
  deleted = 8,       ///< Taken back by its author.
  refused = 9,       ///< The relay will not have it.
  dropped = 10,      ///< Could never be satisfied; its time is over.
};

/// True for an event that still waits for something.
bool is_waiting(entry_state state);

/// True when an event in `from` may move on to `to`. What waits may become
/// anything; an ended event only something more final: `served` can be
/// superseded or deleted, `refused` and `dropped` turn out to be served.
bool can_follow(entry_state from, entry_state to);

const char* to_string(provenance value);
const char* to_string(entry_state value);

/// An event is accepted into the journal. A known id changes nothing, except
/// where it was dropped: a later copy is accepted anew (rules §2.2).
struct accept_record {
  nostr::event event;
  identifier repo;
  entry_state state = entry_state::hunting;
  provenance from = provenance::sync;
  unix_seconds arrived = 0;
};

/// An event moves on, as far as `can_follow` lets it. An unknown id changes
/// nothing.
struct state_record {
  event_id id;
  entry_state state = entry_state::hunting;
};

/// A repository's refs are about to move, or have moved, for an event.
struct align_record {
  event_id id;
  tenant repository;
  bool finished = false;
  std::vector<git::ref_change> changes; ///< Empty while not finished.
};

/// A round of a unit ended; the next one is due at `due`.
struct attempt_record {
  unit_key unit;
  std::uint32_t attempts = 0;
  unix_seconds due = 0;
};

using journal_record
  = std::variant<accept_record, state_record, align_record, attempt_record>;

/// One event as it was stored. Events that no longer wait and are not served
/// come with their id, author, kind and time, but without tags and content.
struct stored_event {
  nostr::event event;
  entry_state state = entry_state::hunting;
  provenance from = provenance::sync;
  unix_seconds arrived = 0;
};

/// All that the journal knows of one identifier.
struct identifier_image {
  identifier repo;
  std::vector<stored_event> events; ///< In order of arrival.
  std::vector<attempt_record> attempts;
};

/// Where to find an event.
struct known_event {
  event_id id;
  identifier repo;
  entry_state state = entry_state::hunting;
};

/// How the previous run ended.
struct previous_run {
  bool first = true;        ///< There was none.
  bool clean = true;        ///< It stopped by itself.
  unix_seconds stopped = 0; ///< When, if it stopped by itself.
};

} // namespace purgatory
