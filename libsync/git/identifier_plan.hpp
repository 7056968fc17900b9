#pragma once

#include "libsync/engine/alarm.hpp"
#include "libsync/engine/backoff.hpp"
#include "libsync/engine/debounce.hpp"
#include "libsync/git/authority.hpp"
#include "libsync/git/candidates.hpp"
#include "libsync/git/effects.hpp"
#include "libsync/git/horizon.hpp"
#include "libsync/git/hunt.hpp"
#include "libsync/git/plan_settings.hpp"
#include "libsync/git/tombstones.hpp"
#include "libsync/git/unit_groups.hpp"
#include "libsync/git/url_memory.hpp"
#include "libsync/journal.hpp"
#include "libsync/nostr/git_events.hpp"

#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

namespace purgatory::git {

/// The clocks at one instant.
struct moment {
  time_point now;
  unix_seconds wall = 0;
  live_seconds live = 0;
};

/// Units that hunt, and how many of them had no full round so far.
struct unit_counts {
  std::size_t units = 0;
  std::size_t fresh = 0;
};

/// The rules of one identifier: what is held, what is needed, whom to ask,
/// what to release (rules §2 to §7). Every function is named for what
/// happened and returns what to do about it; nothing is done here.
///
/// - Only durable entries are hunted and released.
/// - Authority, tenants, URLs and refs are derived when they are used; an
///   entry stores its event and where it stands, nothing else.
/// - One alignment runs at a time; hunting and publishing go on beside it.
class identifier_plan {
public:
  identifier_plan(identifier repo, plan_settings settings, std::uint64_t seed);

  /// Everything back from the journal. Called once, before anything else.
  effects restore(const identifier_image& image, moment at);

  /// An event was offered; answered once by `answer_offer{offer}`.
  /// `relay`: host of the relay that served it, if known: its git server is
  /// asked first.
  effects on_event(const nostr::event& ev, provenance from, std::uint64_t offer,
                   moment at, const host_key& relay = {});

  effects on_recorded(std::uint64_t token, moment at);
  effects on_granted(const unit_key& unit, const host_key& host, lease_id lease,
                     moment at);
  effects on_queued(const unit_key& unit, const host_key& host,
                    const host_view& view, moment at);
  /// The job under `lease` has had its first pack byte.
  effects on_moving(const unit_key& unit, lease_id lease, moment at);
  /// A host that failed answers again: what is parked there goes on.
  effects on_host_recovered(const host_key& host, moment at);
  /// Somebody has to try this host: with what is needed there, parked or not.
  effects on_probe(const host_key& host, moment at);
  /// An operator wants everything tried anew.
  effects on_retry(moment at);
  /// The configuration changed; what is parked or given up is tried anew, if
  /// `revive`.
  effects on_settings(plan_settings settings, bool revive, moment at);
  effects on_place_lost(const unit_key& unit, const host_key& host, moment at);
  effects on_place_left(moment at);
  /// The throttle of `host` was replaced: places there are gone.
  effects on_throttle_restarted(const host_key& host, moment at);
  effects on_fetched(const unit_key& unit, lease_id lease,
                     const fetch_outcome& result, moment at);
  effects on_prepared(const tenant& repository, const store_report& report,
                      moment at);
  effects on_looked_up(std::uint64_t token, const tenant& repository,
                       const std::vector<oid>& ids,
                       const std::vector<object_kind>& kinds, moment at);
  effects on_taken(const unit_key& unit, lease_id lease,
                   const store_report& report, moment at);
  effects on_copied(const event_id& id, const tenant& repository,
                    const store_report& report, moment at);
  effects on_aligned(const event_id& id, const tenant& repository,
                     const store_report& report, moment at);
  effects on_published(const event_id& id, publish_outcome outcome,
                       const std::string& detail, moment at);
  /// The door to the relay broke; the release is tried again later.
  effects on_publish_failed(const event_id& id, const std::string& detail,
                            moment at);
  effects on_tick(std::uint64_t generation, moment at);

  // -- observers --------------------------------------------------------------

  /// Entries that still wait.
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

  /// For the progress of an initial sync. Linear in what is held.
  [[nodiscard]] unit_counts hunting_units() const;

  /// Where an event stands, if known here.
  [[nodiscard]] std::optional<entry_state> where(const event_id& id) const;

  /// When something is due by time alone.
  [[nodiscard]] std::optional<time_point> next_due() const;

  /// True when nothing waits and no answer is outstanding.
  [[nodiscard]] bool idle() const;

  /// OIDs that the unit of `owner` still needs from somewhere, newest first.
  [[nodiscard]] std::vector<oid> needed(const pubkey& owner, wish kind) const;

  /// What may be asked now for the unit of `owner`, in order.
  [[nodiscard]] std::vector<task> open_tasks(const pubkey& owner) const;

  /// Events that were given up and may be revived.
  [[nodiscard]] std::size_t verdicts() const { return verdicts_.size(); }

  /// Full rounds of the unit of `owner` that tried something.
  [[nodiscard]] std::uint32_t rounds(const pubkey& owner) const;

  /// Hosts whose recovery would help.
  [[nodiscard]] std::vector<host_key> hosts_of_interest() const;

private:
  struct offer_answer {
    std::uint64_t offer;
    admission decision;
  };

  struct entry {
    nostr::event ev;
    nostr::git_event content;
    entry_state state = entry_state::hunting;
    provenance from = provenance::sync;
    horizon life;
    host_key relay;                    ///< That served it; may be empty.
    time_point not_before;             ///< Debounce: not wanted before.
    time_point release_after;          ///< Pause after a failed alignment.
    int unwritten = 0;                 ///< Records that are not durable yet.
    bool is_new = false;               ///< Its first record is among them.
    bool sent = false;                 ///< Given to the relay; no answer yet.
    bool doomed = false;               ///< Deleted while its refs were moving.
    std::set<pubkey> uncopied;         ///< Owners whom no copy could reach.
    std::vector<offer_answer> answers; ///< Due when durable.
    mutable std::optional<std::vector<oid>> named; ///< Derived from `content`.

    bool durable() const { return unwritten == 0; }

    const nostr::announcement* announcement() const;
    const nostr::state* state_content() const;
    const nostr::pull_request* pull_request() const;
    /// That it names, sorted, each once.
    const std::vector<oid>& oids() const;

    /// Its objects are looked for, now or later.
    bool is_hunted() const {
      return announcement() == nullptr
             && (state == entry_state::hunting || state == entry_state::parked);
    }
  };

  struct unit {
    hunt round;
    engine::debounce wait;      ///< Until the next round.
    std::set<event_id> members; ///< Whose objects this round looks for.
    std::map<remote_url, url_memory> urls;
    std::uint32_t rounds = 0;        ///< Full ones that tried something.
    bool is_parked_round = false;    ///< Back-off of some classes is waived.
    bool is_restored = false;        ///< No verdict before one more round.
    std::deque<time_point> resets{}; ///< Of the last hour.
  };

  /// A hunt that was given up.
  struct given_up {
    entry last;
    time_point since;
  };

  /// The alignment that runs now. First the copies, if any: then it begins
  /// anew.
  struct alignment {
    event_id id;
    std::set<tenant> copying;
    pubkey source; ///< Of the copies.
    std::set<tenant> open;
    std::map<tenant, store_report> done;
    int tries = 0;
    std::uint64_t token = 0; ///< Of the record that comes first.
  };

  /// Whom a write concerns.
  struct written {
    std::vector<event_id> events;
    std::vector<offer_answer> answers; ///< Of entries that are gone.
  };

  struct served_state {
    nostr::event ev;
    nostr::state content;
  };

  // plan_admission.cpp
  void admit_announcement(entry next, std::uint64_t offer);
  void admit_served_announcement(const entry& next, std::uint64_t offer);
  void admit_state(entry next, std::uint64_t offer);
  void admit_pull_request(entry next, std::uint64_t offer);
  void admit_deletion(const nostr::deletion& content, std::uint64_t offer);
  bool answer_if_known(const nostr::event& ev, provenance from,
                       std::uint64_t offer);
  bool answer_verdict(const event_id& id, provenance from, std::uint64_t offer);
  bool answer_if_buried(const nostr::event& ev, std::uint64_t offer);
  bool refuse_future(entry& next, std::uint64_t offer);
  bool is_full(const entry& next, std::uint64_t offer);
  void accept(entry next, std::uint64_t offer);
  void answer(std::uint64_t offer, action what, const char* text = "");
  entry_state standing_of(const entry& next) const;
  bool lists_us(const nostr::announcement& content) const;
  void note_new_information(const entry& next);
  void reset_attempts(unit& u, const pubkey& author);
  void bury(const nostr::deletion& content);

  // plan_authority.cpp
  std::vector<pubkey> governed_owners(const entry& e) const;
  std::vector<pubkey> speaking_owners(const entry& e) const;
  std::vector<nostr::coordinate> named_by(const entry& e) const;
  std::optional<pubkey> unit_owner(const entry& e) const;
  bool governs(const entry& e, const pubkey& owner) const;
  bool announcement_is_served(const entry& e) const;
  void reclassify();
  void reopen(entry& e);
  void reopen_announcement(entry& e);
  void supersede_held(const pubkey& author);
  void put_held(const entry& e, bool hosted);
  bool is_on_its_way(const known_announcement* known) const;
  entry_state standing_of_announcement(const pubkey& author, bool hosted) const;
  duration delay_of(provenance from) const;
  void remember_announcement(const nostr::event& ev, bool served);
  void remember_served(const nostr::event& ev, const nostr::state& content);

  // plan_units.cpp
  unit& unit_of(const pubkey& owner);
  const unit* find_unit(const pubkey& owner) const;
  unit& unit_with(const unit_key& name, lease_id lease);
  void regroup();
  void join(const pubkey& lead, unit from);
  std::vector<pubkey> leads() const;

  // plan_urls.cpp
  std::vector<task> all_tasks(const pubkey& lead,
                              const std::vector<const entry*>& entries) const;
  std::vector<task> permitted(const unit& u, std::vector<task> open) const;
  std::optional<time_point>
  earliest_permitted(const unit& u, const std::vector<task>& open) const;
  bool has_urls(const entry& e) const;
  std::vector<remote_url> urls_of(const entry& e) const;
  void sort_by_promise(const unit& u, const std::vector<const entry*>& entries,
                       std::vector<task>& open) const;

  // plan_rounds.cpp
  void advance(const pubkey& lead);
  void begin_round(const pubkey& lead, unit& u);
  void finish_round(const pubkey& lead, unit& u);
  void prepare_targets(const std::vector<task>& open);
  bool is_preparing(const pubkey& lead) const;
  void schedule(const entry& e);
  void schedule_others(const pubkey& lead, const unit& u);
  void record_pairs(const pubkey& lead, const unit& u,
                    std::vector<journal_record>& records) const;
  time_point wanted_at(const entry& e) const;
  double share();

  // plan_hunting.cpp
  bool asks_again(unit& u, const running_job& job,
                  const fetch_outcome& result) const;
  object_kind kind_in(const pubkey& owner, const oid& id) const;
  std::vector<const entry*> hunted(const pubkey& lead, wish kind,
                                   time_point until) const;
  std::vector<const entry*> taking_part(const pubkey& lead, wish kind) const;
  std::vector<const entry*> wanted_between_rounds(const pubkey& lead) const;
  void remember_outcome(unit& u, const running_job& job,
                        const fetch_outcome& result, bool again);
  void forget_unlisted(unit& u);
  std::vector<oid> missing_of(const std::vector<const entry*>& entries) const;
  void ask_presence(const tenant& repository, std::vector<oid> ids,
                    lease_id settles = {});
  void ask_presence(const entry& e);
  tenant tenant_of(const pubkey& owner) const { return {owner, repo_}; }
  unit_key key_of(const pubkey& owner) const { return {owner, repo_}; }

  // plan_horizon.cpp
  void judge_windows();
  void judge_round(const pubkey& lead, unit& u, bool tried_any);
  void park(entry& e);
  void give_up(const event_id& id);
  void revive(entry& e, const char* reason);
  bool revive_verdict(const event_id& id, const char* reason);
  template <class Concerned>
  void revive_all(const char* reason, Concerned concerned);
  void revive_for(const pubkey& announcer);
  void revive_for(const entry& next);
  bool is_pinned(const entry& e) const;
  bool is_in_round(const entry& e) const;
  std::uint32_t rounds_for(const entry& e) const;
  bool is_pinned_announcement(const entry& e) const;
  std::optional<std::size_t> fewest_outcomes(const entry& e) const;
  void extend_announcements(const entry& by);
  bool unit_holds_others(const entry& announcement) const;
  duration window() const;
  journal_record horizon_of(const entry& e) const;
  live_clock clocks() const { return {at_.now, at_.live}; }
  void sleep_if_idle();
  double share_of(const entry& e) const;

  // plan_release.cpp
  bool is_satisfied(const entry& e) const;
  bool is_complete_in(const entry& e, const pubkey& owner) const;
  bool has_all(const pubkey& owner, const std::vector<oid>& ids) const;
  bool may_be_copied(const entry& e, const pubkey& owner) const;
  bool has_wrong_type(const entry& e) const;
  bool is_outdone(const entry& e) const;
  static bool is_leaving(const entry& e);
  void drop_wrong_types();
  void start_alignment();
  void begin_alignment(entry& e, const std::vector<pubkey>& owners);

  // plan_copies.cpp
  bool copy_to_others(const entry& e, const std::vector<pubkey>& owners,
                      const std::vector<oid>& ids);
  std::vector<pubkey> owners_without(const entry& e) const;
  const nostr::state* governing_served(const pubkey& owner) const;
  std::vector<oid> objects_to_align(const entry& e) const;
  void ask_presence_of_served(const entry& announcement);
  void start_alignment_to_served();

  // plan_release.cpp
  std::vector<pubkey> alignable_owners(const entry& e) const;
  void on_alignment_recorded();
  void emit_alignment(entry& e, const tenant& repository);
  void finish_alignment();
  void publish_ready();
  void say_released(const entry& e);
  void fate(const event_id& id, entry_state final_state);
  void supersede_older(const entry& e);
  void move_to(entry& e, entry_state state);

  // identifier_plan.cpp
  std::uint64_t record(std::vector<journal_record> records,
                       std::vector<event_id> events = {},
                       std::vector<offer_answer> answers = {});
  void announce_held(const entry& e);
  time_point fading_at(const entry& e) const;
  std::chrono::seconds seconds_until_present(const entry& e) const;
  // plan_restore.cpp
  void restore_entry(const stored_event& stored);
  void restore_ended(const stored_event& stored);

  effects finish();
  void expire();
  void arm();
  void say(severity level, const char* text,
           std::vector<std::pair<const char*, std::string>> fields);

  identifier repo_;
  plan_settings settings_;
  engine::backoff backoff_;
  std::mt19937_64 random_;

  authority authority_;
  std::map<event_id, entry> waiting_;
  std::map<event_id, entry_state> known_;        ///< Events that do not wait.
  std::map<pubkey, served_state> served_states_; ///< Newest of each author.
  std::map<event_id, std::vector<nostr::coordinate>> served_pulls_;
  unit_groups groups_;
  std::map<pubkey, unit> units_; ///< By lead.
  std::set<pubkey> prepared_;    ///< Owners whose repository is there.
  std::set<pubkey> preparing_;   ///< Asked for.
  std::map<event_id, given_up> verdicts_;
  tombstones tombstones_;
  mutable url_book urls_; ///< Derived.
  std::map<tenant, std::map<oid, object_kind>> present_;
  std::map<pubkey, time_point> last_reset_;
  std::optional<alignment> alignment_;
  bool authority_changed_ = false;
  /// The only unit that this call can move; nothing: all of them. Spares a
  /// crowd of owners the square of their number at each answer of a throttle.
  std::optional<pubkey> touched_;

  std::uint64_t next_token_ = 1;
  std::map<std::uint64_t, written> records_;
  std::map<std::uint64_t, std::pair<pubkey, lease_id>> look_ups_;
  std::size_t places_being_left_ = 0;
  std::optional<std::uint64_t> sleep_token_; ///< Of the record before sleep.

  engine::alarm alarm_;
  moment at_;
  effects out_;
};

} // namespace purgatory::git
