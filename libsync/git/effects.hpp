#pragma once

#include "libsync/git/admission.hpp"
#include "libsync/git/alignment.hpp"
#include "libsync/git/hunt.hpp"
#include "libsync/journal.hpp"
#include "libsync/ports.hpp"
#include "libsync/types.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// What the plan of an identifier asks its shell to do. Each has one answer,
/// named in its sentence, unless it says *no answer*.
namespace purgatory::git {

/// Make these durable, then `on_recorded(token)`.
struct write_records {
  std::uint64_t token = 0;
  std::vector<journal_record> records;
};

/// Tell whoever offered the event. No answer.
struct answer_offer {
  std::uint64_t offer = 0;
  admission decision;
};

/// Ask the throttle of the URL's host; then `on_granted`, `on_queued` or
/// `on_place_lost`.
struct ask_turn {
  unit_key unit;
  clone_url url;
  lane turn = lane::fresh;
};

/// What becomes of a lease. No answer, unless a start: see `start_fetch`.
enum class lease_use : std::uint8_t { start, defer, withdraw };
struct use_lease {
  unit_key unit;
  host_key host;
  lease_id lease;
  lease_use use = lease_use::withdraw;
};

/// Run the job, then `on_fetched`.
struct start_fetch {
  unit_key unit;
  host_key host;
  lease_id lease;
  fetch_order order;
};

/// Give a place up, then `on_place_left`.
struct give_up_place {
  unit_key unit;
  host_key host;
};

/// Make sure that the repository exists, then `on_prepared`.
struct prepare_repository {
  tenant repository;
};

/// Look objects up, then `on_looked_up(token)`.
struct look_up {
  std::uint64_t token = 0;
  tenant repository;
  std::vector<oid> ids;
};

/// Take a verified pack in, then `on_taken(unit, lease)`.
struct take_pack {
  unit_key unit;
  lease_id lease;
  tenant repository;
  std::shared_ptr<quarantine> pack;
  std::vector<oid> wants;
};

/// Give `repository` what it lacks of these and of what they need, from another
/// owner's repository; then `on_copied(event, repository)`.
struct copy_objects {
  event_id event;
  tenant repository; ///< Created if it is not there.
  tenant from;
  std::vector<oid> ids;
};

/// Align the refs, then `on_aligned(event, repository)`.
struct move_refs {
  event_id event;
  tenant repository;
  desired_refs wanted;
};

/// Set refs/nostr/<event>, then `on_aligned(event, repository)`.
struct move_pr_ref {
  event_id event;
  tenant repository;
  oid tip;
};

/// Give the event to the relay, then `on_published`.
struct release_event {
  nostr::event event;
};

/// Call `on_tick(generation)` at `due`.
struct arm_timer {
  time_point due;
  std::uint64_t generation = 0;
};

/// Nothing is going on: no place, lease, job, record or pin. Everything that
/// counts is in the journal, so the plan may be dropped and restored at `wake`
/// (nothing: when an event or a host calls). No answer; calls may still come.
struct may_sleep {
  std::optional<time_point> wake = {};
};

/// Something worth a log line. No answer.
enum class severity : std::uint8_t { debug, info, warn };
struct fact {
  severity level = severity::info;
  const char* text = "";
  std::vector<std::pair<const char*, std::string>> fields;
};

/// An event of `kind` has met its fate: count it. No answer.
struct met_fate {
  std::uint32_t kind = 0;
  entry_state fate = entry_state::served;
};

using effect
  = std::variant<write_records, answer_offer, ask_turn, use_lease, start_fetch,
                 give_up_place, prepare_repository, look_up, take_pack,
                 copy_objects, move_refs, move_pr_ref, release_event, arm_timer,
                 may_sleep, fact, met_fate>;

using effects = std::vector<effect>;

} // namespace purgatory::git
