#pragma once

#include "libsync/engine/start_limits.hpp"
#include "libsync/engine/sync_progress.hpp"
#include "libsync/git/admission.hpp"
#include "libsync/git/plan_settings.hpp"
#include "libsync/journal.hpp"
#include "libsync/nostr/publish_rules.hpp"
#include "libsync/ports.hpp"
#include "libsync/types.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// What actors say to each other. One struct, one sentence, grouped by who
/// talks to whom. messages/actors.hpp says who accepts which.
namespace purgatory {

// -- intake ------------------------------------------------------------------

/// Somebody offers an event, as JSON. door -> intake
struct offer {
  std::string json;
  provenance from = provenance::sync;
};

/// The answer to an offer; `raw_id` is the id as it was sent.
struct offer_answer {
  std::string raw_id;
  admission decision;
};

/// A verified event for one identifier. intake -> supervisor -> identifier
struct event_arrived {
  nostr::event event;
  provenance from = provenance::sync;
};

// -- scheduling: identifier, throttle ----------------------------------------

/// Give me a turn at this URL's domain. identifier -> throttle
struct enqueue {
  unit_key who;
  remote_url url;
  lane turn = lane::fresh;
};

/// The lease is yours until you answer the grant. throttle -> identifier
struct url_ready {
  unit_key who;
  remote_url url;
  host_key host;
  lease_id lease;
};

/// `granted`: the grant is in the answer; `queued`: a `url_ready` will follow.
enum class enqueue_outcome : std::uint8_t { granted, queued };

/// The answer to `enqueue`.
struct enqueue_answer {
  enqueue_outcome outcome = enqueue_outcome::queued;
  url_ready grant;     ///< Meaningful when granted.
  host_view host = {}; ///< Meaningful when queued.
};

/// start: the job goes to the pool. defer: not now, keep my place, skip me
/// until I enqueue again. withdraw: nothing needed, my place is free.
enum class grant_decision : std::uint8_t { start, defer, withdraw };

/// What becomes of a granted lease. identifier -> throttle
struct grant_answer {
  lease_id lease;
  grant_decision decision = grant_decision::withdraw;
};

/// Nothing is needed any more: forget my place. identifier -> throttle
struct leave_queue {
  unit_key who;
};

/// The place is gone; no grant will follow.
struct queue_left {
  unit_key who;
};

/// Debounce, backoff or a rate window has elapsed; an older generation is
/// ignored. self or timer wheel -> self
struct backoff_tick {
  std::uint64_t generation = 0;
};

/// Send me `backoff_tick` at `due`. identifier -> timer wheel
struct arm_tick {
  time_point due;
  std::uint64_t generation = 0;
};

/// New ceilings, for one host or for all. settings -> supervisor -> throttle
struct set_limits {
  std::optional<host_key> host;
  std::optional<std::uint32_t> concurrent;    ///< 1 to 1000.
  std::optional<std::uint32_t> per_minute;    ///< 1 to 100000.
  std::optional<std::uint32_t> per_hour = {}; ///< 0: no limit.
  std::optional<std::uint32_t> per_day = {};  ///< 0: no limit.

  /// What `later` says counts, what it leaves out stays; so does the host.
  void take_over(const set_limits& later);
};

/// `limits` after `wanted`, whatever host that names.
engine::start_limits applied(const set_limits& wanted,
                             engine::start_limits limits);

/// The new ceilings are in force, or why not.
struct limits_set {
  bool accepted = false;
  std::string message;
};

/// The throttle of this host was replaced: places and unsent leases there are
/// void. supervisor -> identifiers
struct throttle_restarted {
  host_key host;
};

/// What of a host matters beyond its throttle.
enum class host_change : std::uint8_t {
  blocked,   ///< Or blocked for longer.
  recovered, ///< First success after a failure.
  unblocked, ///< The block is over and nobody waits: one should try.
  idle,      ///< Neither block nor queue for ten minutes.
};

/// The host has changed. throttle -> supervisor
struct host_news {
  host_change what = host_change::blocked;
  host_record state; ///< To be remembered.
};

/// A host that failed answers again: what is parked because of it may go on.
/// supervisor -> identifier
struct host_recovered {
  host_key host;
};

/// Try this host with the next thing you need from it. supervisor ->
/// identifier
struct probe_host {
  host_key host;
};

/// How a throttle stands.
struct describe {};

/// The answer to `describe` by a throttle.
struct throttle_report {
  host_key host;
  std::size_t waiting = 0;
  std::size_t leases = 0;
  std::uint32_t concurrent = 0;
  std::uint32_t per_minute = 0;
  std::uint32_t per_hour = 0;                    ///< 0: no limit.
  std::uint32_t per_day = 0;                     ///< 0: no limit.
  std::optional<double> learned_per_minute = {}; ///< Nothing: the ceiling.
  host_view view = {};
};

// -- fetching: identifier, pool, worker, throttle
// ------------------------------

/// Fetch these objects under this lease. identifier -> fetch pool
struct fetch_request {
  lease_id lease;
  unit_key who;
  host_key host;
  fetch_order order;
};

/// One flag per job, set once to stop it: the only word that threads share.
using cancel_flag = std::shared_ptr<std::atomic<bool>>;

/// A job for one worker. pool -> worker
struct fetch_job {
  lease_id lease;
  fetch_order order;
  cancel_flag cancel;
};

/// The first request of this lease left at `at`. worker -> pool -> throttle
struct fetch_started {
  lease_id lease;
  time_point at;
};

/// The first byte of a pack has come: no second URL is needed for it.
/// worker -> pool -> identifier
struct fetch_moving {
  lease_id lease;
};

/// The job ended, well or badly. worker -> pool -> throttle and identifier
/// (the throttle's copy has no pack).
struct request_complete {
  lease_id lease;
  unit_key who;
  host_key host;
  remote_url url;
  fetch_outcome result;
};

/// This throttle serves this host from now on. supervisor -> pool
struct adopt_throttle {
  host_key host;
  std::uint32_t serial = 0; ///< Leases of other serials are refused.
  /// Nothing is granted before: after an unclean stop windows count as full.
  std::optional<time_point> quiet_until = {};
};

/// A lease that runs, or whose start still counts. pool -> throttle
struct seeded_lease {
  lease_id lease;
  unit_key who;
  bool running = false;
  std::optional<time_point> started; ///< Nothing: not sent yet.
};

/// What a new throttle has to count before it grants. pool -> throttle
struct throttle_seed {
  std::vector<seeded_lease> leases;
  std::optional<time_point> quiet_until = {}; ///< As in `adopt_throttle`.
};

/// The holder of this unstarted lease died. throttle -> pool
struct reclaim {
  lease_id lease;
};

/// `reclaimed`: the pool will refuse it; `running`: the pool ends it.
enum class reclaim_outcome : std::uint8_t { reclaimed, running };

struct reclaim_answer {
  lease_id lease;
  reclaim_outcome outcome = reclaim_outcome::reclaimed;
};

/// Take no more jobs; cancel what still runs after `grace`. main -> pool
struct drain {
  duration grace{};
};

/// No job runs any more.
struct drained {
  std::size_t cancelled = 0;
};

// -- git: identifier -> repository -> git_io
// -----------------------------------

/// Make sure that the bare repository exists.
struct prepare {
  tenant repository;
};

/// Which of these objects are here?
struct check_presence {
  tenant repository;
  std::vector<oid> ids;
};

struct presence {
  tenant repository;
  std::vector<oid> ids;
  std::vector<object_kind> kinds; ///< One for each id.
};

/// Take the verified pack in.
struct promote {
  tenant repository;
  std::shared_ptr<quarantine> pack;
  std::vector<oid> wants;
};

/// Take from another owner's repository what is lacking of these objects and
/// of what they need. Creates the repository if it is not there.
struct copy_from {
  tenant repository;
  tenant from;
  std::vector<oid> ids;
};

/// Move branches, tags and HEAD.
struct align {
  tenant repository;
  git::desired_refs wanted;
};

/// Set refs/nostr/<pr>.
struct set_pr_ref {
  tenant repository;
  event_id pr;
  oid tip;
};

/// How a step on a repository ended.
struct repository_report {
  tenant repository;
  store_report report;
};

// -- journal
// -------------------------------------------------------------------

/// Write these, then answer: the answer means durable. any -> journal
struct record_batch {
  std::vector<journal_record> records;
};

struct recorded {};

/// Everything known of one identifier, please. identifier -> journal
struct load_identifier {
  identifier repo;
};

/// Which identifiers have entries that wait? supervisor -> journal
struct list_pending {};

struct pending_identifiers {
  std::vector<pending_identifier> repos;
};

/// What is remembered of hosts. supervisor -> journal
struct list_hosts {};

struct known_hosts {
  std::vector<host_record> hosts;
};

/// Whom would it help if this host recovered? Those after `after`, in order of
/// name, at most `limit`. supervisor -> journal
struct find_interested {
  host_key host;
  identifier after;
  std::size_t limit = 0;
};

struct interested {
  std::vector<identifier> repos;
};

/// Where is this event? intake -> journal
struct find_event {
  event_id id;
};

struct found_event {
  std::optional<known_event> event;
};

/// INTERNAL: everything that queued before this is one batch.
struct commit_batch {};

/// Note a clean stop. main -> journal
struct close_journal {
  unix_seconds now = 0;
};

struct journal_closed {};

// -- release
// -------------------------------------------------------------------

/// Give this event to the relay. Idempotent. identifier -> relay link
struct publish {
  nostr::event event;
};

/// The relay's final word; transient troubles are retried before.
struct published {
  event_id id;
  publish_outcome outcome = publish_outcome::refused;
  std::string detail;
};

/// Offer what the relay serves to the intake that comes with this, now and
/// after every connection. main -> relay link
struct watch_relay {};

/// The connection stands. socket -> relay link
struct relay_opened {
  std::uint64_t connection = 0; ///< Those of an earlier one are ignored.
};

/// The relay sent a message. socket -> relay link
struct relay_text {
  std::uint64_t connection = 0;
  std::string text;
};

/// The connection ended, or could not be made. socket -> relay link
struct relay_closed {
  std::uint64_t connection = 0;
  std::string reason; ///< For people.
};

// -- life
// ----------------------------------------------------------------------

/// I have nothing left to do and have seen `seen` events. identifier ->
/// supervisor
struct retire {
  identifier who;
  std::uint64_t seen = 0;
  /// Wake it then; nothing: when an event or its host calls.
  std::optional<time_point> wake = {};
};

/// Go: nothing is on its way to you. supervisor -> identifier
struct close {};

/// What the journal knows of me is here; somebody else may load. identifier ->
/// supervisor
struct loaded {
  identifier who;
  std::vector<host_key> hosts = {}; ///< Whose recovery would help.
};

/// These settings of the plan are in force from now on, for who lives and who
/// comes. any -> supervisor -> identifiers
struct plan_changed {
  git::plan_settings plan;
  bool revive = false; ///< What is parked or given up is tried anew.
};

/// Which throttles live now? sync watch -> supervisor
struct list_throttles {};

/// How an identifier stands while the journal is filled for the first time.
/// identifier -> sync watch
struct sync_report {
  identifier who;
  engine::sync_standing standing;
  engine::sync_steps steps; ///< Since its last report.
};

/// The relay has sent what it had stored. relay link -> sync watch
struct history_read {};

/// Take no new work. main -> supervisor
struct stop_work {};

struct work_stopped {};

// -- metrics
// -------------------------------------------------------------------

/// The counters of this version; names as in rules §11.2.
enum class counter : std::uint8_t {
  sync_attempts,   ///< purgatory_sync_attempts_total, by class
  oids_fetched,    ///< purgatory_sync_oids_fetched_total
  domain_requests, ///< purgatory_domain_requests_total, by domain
  wire_requests,   ///< purgatoryd_wire_requests_total, by domain
  fates,           ///< purgatoryd_fates_total, by "<kind> <fate>"
  refused,         ///< purgatoryd_refused_total, by reason
  fetch_bytes,     ///< purgatoryd_fetch_bytes_total
};

/// Something happened `by` times. any -> metrics
struct count {
  counter what = counter::sync_attempts;
  std::string label; ///< From a fixed set; empty if the counter has none.
  std::uint64_t by = 1;
};

struct scrape {};

/// All counters, by full name with label, e.g. `name{class="ok"}`.
struct metrics_snapshot {
  std::map<std::string, std::uint64_t> values;
};

const char* to_string(enqueue_outcome value);
const char* to_string(grant_decision value);
const char* to_string(reclaim_outcome value);
const char* to_string(counter value);

} // namespace purgatory
