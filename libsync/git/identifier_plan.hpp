#pragma once

#include "libsync/engine/backoff.hpp"
#include "libsync/engine/debounce.hpp"
#include "libsync/engine/generation.hpp"
#include "libsync/git/authority.hpp"
#include "libsync/git/effects.hpp"
#include "libsync/git/hunt.hpp"
#include "libsync/git/plan_settings.hpp"
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
  effects on_event(const nostr::event& ev, provenance from, std::uint64_t offer,
                   moment at);

  effects on_recorded(std::uint64_t token, moment at);
  effects on_granted(const unit_key& unit, const host_key& host, lease_id lease,
                     moment at);
  effects on_queued(const unit_key& unit, const host_key& host, moment at);
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
  effects on_aligned(const event_id& id, const tenant& repository,
                     const store_report& report, moment at);
  effects on_published(const event_id& id, publish_outcome outcome,
                       const std::string& detail, moment at);
  /// The door to the relay broke; the release is tried again later.
  effects on_publish_failed(const event_id& id, const std::string& detail,
                            moment at);
  effects on_tick(std::uint64_t generation, moment at);

  // Inputs that do not change the plan yet.
  effects on_queued(const unit_key& who, const host_key& host, const host_view&,
                    moment at) {
    return on_queued(who, host, at);
  }
  effects on_moving(const unit_key&, lease_id, moment at) { return nudge(at); }
  effects on_host_recovered(const host_key&, moment at) { return nudge(at); }
  effects on_probe(const host_key&, moment at) { return nudge(at); }
  effects on_settings(plan_settings settings, moment at) {
    settings_ = std::move(settings);
    return nudge(at);
  }

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
    time_point arrived;
    time_point not_before;             ///< Debounce: not wanted before.
    time_point release_after;          ///< Pause after a failed alignment.
    int unwritten = 0;                 ///< Records that are not durable yet.
    bool is_new = false;               ///< Its first record is among them.
    bool sent = false;                 ///< Given to the relay; no answer yet.
    bool doomed = false;               ///< Deleted while its refs were moving.
    std::vector<offer_answer> answers; ///< Due when durable.

    bool durable() const { return unwritten == 0; }

    const nostr::announcement* announcement() const;
    const nostr::state* state_content() const;
    const nostr::pull_request* pull_request() const;
    std::vector<oid> oids() const;
  };

  struct unit {
    hunt round;
    engine::debounce wait;      ///< Until the next round.
    std::set<event_id> members; ///< Whose objects this round looks for.
    bool prepared = false;
    bool preparing = false;
    std::deque<time_point> resets; ///< Of the last hour.
  };

  /// The alignment that runs now.
  struct alignment {
    event_id id;
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
  bool refuse_future(entry& next, std::uint64_t offer);
  bool is_full(const entry& next, std::uint64_t offer);
  void accept(entry next, std::uint64_t offer);
  void answer(std::uint64_t offer, action what, const char* text = "");
  entry_state standing_of(const entry& next) const;
  bool lists_us(const nostr::announcement& content) const;
  void note_new_information(const entry& next);

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
  entry_state standing_of_announcement(const pubkey& author, bool hosted) const;
  duration delay_of(provenance from) const;
  void remember_announcement(const nostr::event& ev, bool served);
  void remember_served(const nostr::event& ev, const nostr::state& content);

  // plan_hunting.cpp
  void advance(const pubkey& owner);
  void begin_round(const pubkey& owner, unit& u);
  void finish_round(const pubkey& owner, unit& u);
  void start_job(const unit_key& key, lease_id lease, const turn& t);
  void schedule(const entry& e);
  void schedule_others(const pubkey& owner, const unit& u);
  bool asks_again(unit& u, const running_job& job,
                  const fetch_outcome& result) const;
  unit& unit_of(const pubkey& owner);
  object_kind kind_in(const pubkey& owner, const oid& id) const;
  std::vector<const entry*> hunted(const pubkey& owner, wish kind,
                                   time_point until) const;
  std::vector<const entry*> taking_part(const pubkey& owner, wish kind) const;
  std::vector<oid> missing_of(const pubkey& owner,
                              const std::vector<const entry*>& entries) const;
  void ask_presence(const tenant& repository, std::vector<oid> ids,
                    lease_id settles = {});
  void ask_presence(const entry& e);
  tenant tenant_of(const pubkey& owner) const { return {owner, repo_}; }
  unit_key key_of(const pubkey& owner) const { return {owner, repo_}; }

  // plan_release.cpp
  bool is_satisfied(const entry& e) const;
  bool is_complete_in(const entry& e, const pubkey& owner) const;
  bool has_wrong_type(const entry& e) const;
  bool is_outdone(const entry& e) const;
  static bool is_leaving(const entry& e);
  void drop_wrong_types();
  void start_alignment();
  std::vector<pubkey> alignable_owners(const entry& e) const;
  void on_alignment_recorded();
  void emit_alignment(const entry& e, const tenant& repository);
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
  std::chrono::seconds seconds_until_present(const entry& e) const;
  effects finish();
  effects nudge(moment at) {
    at_ = at;
    return finish();
  }
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
  std::map<pubkey, unit> units_;
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

  engine::generation timer_;
  std::optional<time_point> armed_;
  moment at_;
  effects out_;
};

} // namespace purgatory::git
