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
  parked = 11,       ///< Its window is over; tried again for days.
  verdict = 12,      ///< Given up after days; anything new revives it.
  soft_expired = 13, ///< Announcement without data: source of URLs only.
};

/// True for an event that still waits for something.
bool is_waiting(entry_state state);

/// True when an event in `from` may move on to `to`. What waits may become
/// anything, and so may a verdict; any other ended event only something more
/// final: `served` can be superseded or deleted, `refused` and `dropped` turn
/// out to be served.
bool can_follow(entry_state from, entry_state to);

const char* to_string(provenance value);
const char* to_string(entry_state value);

/// When an entry gives up or tries again (rules §1, §7). Fixed at arrival and
/// at parking; a revival sets all five anew.
struct entry_horizon {
  live_seconds arrived = 0;
  std::uint32_t rounds_at_arrival = 0; ///< Full rounds of its unit by then.
  std::int64_t window = 0;             ///< Seconds of the hunting window.
  std::optional<live_seconds> parked_at;
  std::uint32_t parked_round = 0; ///< Parked rounds that were consumed.
  friend bool operator==(const entry_horizon&, const entry_horizon&) = default;
};

/// An event is accepted into the journal. A known id changes nothing, except
/// where it was dropped: a later copy is accepted anew (rules §2.2).
struct accept_record {
  nostr::event event;
  identifier repo;
  entry_state state = entry_state::hunting;
  provenance from = provenance::sync;
  unix_seconds arrived = 0;
  entry_horizon horizon = {};
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

/// A round of a unit ended; the next one is due at `due` (0: none is).
struct attempt_record {
  unit_key unit;
  std::uint32_t attempts = 0; ///< Rounds in a row that did not help.
  std::uint32_t rounds = 0;   ///< Full rounds that tried something, ever.
  live_seconds due = 0;
  friend bool operator==(const attempt_record&, const attempt_record&)
    = default;
};

/// The horizon of an event has changed. An unknown id changes nothing.
struct horizon_record {
  event_id id;
  entry_horizon horizon;
};

/// What a unit remembers of one of its URLs (rules §8.4): the latest counts.
/// `absent`: OIDs that were asked for and are not there, with their own wait.
struct pair_memory {
  struct absent_object {
    oid id;
    std::uint32_t failures = 0;
    live_seconds next_allowed = 0;
    friend bool operator==(const absent_object&, const absent_object&)
      = default;
  };
  fetch_class last = fetch_class::ok; ///< Of the last real outcome.
  std::uint32_t failures = 0;         ///< In a row, of class `last`.
  live_seconds next_allowed = 0;      ///< Not asked before.
  double score = 0;                   ///< Decaying count of successes.
  live_seconds scored_at = 0;         ///< When `score` was true.
  std::optional<live_seconds> last_ok;
  std::uint64_t host_probes = 0; ///< Failed probes of its host seen so far.
  /// The latest real outcomes, oldest first: what verdicts count.
  std::vector<live_seconds> recent;
  std::vector<absent_object> absent;
  friend bool operator==(const pair_memory&, const pair_memory&) = default;
};

struct pair_record {
  unit_key unit;
  remote_url url;
  pair_memory memory;
  friend bool operator==(const pair_record&, const pair_record&) = default;
};

/// A hunt was given up (rules §7). Lifted by a revival.
struct verdict_record {
  struct failed_url {
    remote_url url;
    fetch_class last = fetch_class::not_here;
    friend bool operator==(const failed_url&, const failed_url&) = default;
  };
  event_id id;
  live_seconds at = 0;
  std::string reason;
  std::vector<failed_url> urls;
  friend bool operator==(const verdict_record&, const verdict_record&)
    = default;
};

/// Its author took back what may not have come yet (rules §2.5): an event by
/// id, or all up to `until` of one coordinate. Exactly one of them is set.
struct tombstone_record {
  pubkey author;
  std::optional<event_id> id;
  std::uint32_t kind = 0;         ///< Of the coordinate: 30617 or 30618.
  std::optional<identifier> repo; ///< Of the coordinate.
  unix_seconds until = 0;         ///< `created_at` of the deletion.
  unix_seconds since = 0;         ///< Wall time of its arrival.
  friend bool operator==(const tombstone_record&, const tombstone_record&)
    = default;
};

/// The identifier has nothing to do before `due` (nothing: before somebody
/// calls it). Any other record of that identifier makes it awake again.
struct sleep_record {
  identifier repo;
  std::optional<live_seconds> due;
};

/// The hosts whose recovery would help what the identifier holds: replaces
/// those before.
struct hosts_record {
  identifier repo;
  std::vector<host_key> hosts;
};

/// A block of a host (rules §8.4). `blocked_until` in the past: none.
struct host_record {
  host_key host;
  fetch_class reason = fetch_class::ok; ///< Why it is blocked.
  std::uint32_t blocks = 0;             ///< In a row, without success between.
  std::uint64_t failed_probes = 0;      ///< Ever.
  live_seconds blocked_until = 0;
  std::uint32_t learned_per_minute = 0; ///< Adaptive rate; 0: the ceiling.
  friend bool operator==(const host_record&, const host_record&) = default;
};

using journal_record
  = std::variant<accept_record, state_record, align_record, attempt_record,
                 horizon_record, pair_record, verdict_record, tombstone_record,
                 sleep_record, hosts_record, host_record>;

/// One event as it was stored. Events that no longer wait and are not served
/// come with their id, author, kind and time, but without tags and content.
struct stored_event {
  nostr::event event;
  entry_state state = entry_state::hunting;
  provenance from = provenance::sync;
  unix_seconds arrived = 0;
  entry_horizon horizon = {};
};

/// All that the journal knows of one identifier.
struct identifier_image {
  identifier repo;
  std::vector<stored_event> events; ///< In order of arrival.
  std::vector<attempt_record> attempts;
  std::vector<pair_record> pairs = {};
  std::vector<verdict_record> verdicts = {};
  std::vector<tombstone_record> tombstones = {}; ///< That concern it.
};

/// An identifier that has something to do, now or later.
struct pending_identifier {
  identifier repo;
  bool asleep = false; ///< Until `due`, or until somebody calls.
  std::optional<live_seconds> due = {};
  friend bool operator==(const pending_identifier&, const pending_identifier&)
    = default;
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
  live_seconds live = 0;    ///< How long the daemon had run by then.
};

} // namespace purgatory
