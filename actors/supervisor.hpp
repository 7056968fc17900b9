#pragma once

#include "actors/identifier.hpp"
#include "libsync/engine/alarm.hpp"
#include "libsync/engine/host_table.hpp"
#include "libsync/engine/sleepers.hpp"
#include "libsync/live_clock.hpp"
#include "messages/actors.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace purgatory {

/// A throttle to be made.
struct throttle_order {
  host_key host;
  std::uint32_t serial = 0;
  engine::start_limits limits;
  std::optional<host_record> known; ///< How its predecessor left the host.
};

/// Makes the actors that the supervisor owns. Wiring decides how they run;
/// tests bring fakes.
struct supervisor_factories {
  std::function<identifier_actor(const supervisor_actor&, const identifier&,
                                 const git::plan_settings&)>
    make_identifier;
  std::function<throttle_actor(const host_news_sink&, const throttle_order&)>
    make_throttle;
  std::function<git_actor(const tenant&)> make_repository;
};

struct supervisor_options {
  engine::start_limits limits; ///< Of hosts without an entry of their own.
  std::map<host_key, set_limits> own_limits; ///< Of single hosts.
  /// No throttle grants before; nothing: at once.
  std::optional<time_point> quiet_until;
  git::plan_settings plan;
  live_clock live;
  /// Identifiers that read their past at the same time, when nobody but the
  /// clock wants them (no storm at the start).
  std::size_t max_loading = 256;
  /// The same for events: beyond, an event is answered *busy*.
  std::size_t max_loading_for_events = 4096;
  /// Live identifiers, beyond which a recovered host wakes nobody more.
  std::size_t max_awake = 50'000;
  std::size_t max_hosts = 100'000; ///< Hosts that are remembered.
};

/// Routes by name, spawns on first use, monitors, restarts what died, lets
/// idle actors go and wakes them. Holds no rule of git or scheduling.
///
/// - An identifier that dies is spawned again at once and finds its entries in
///   the journal; after three deaths in ten minutes it rests for ten.
/// - A throttle that dies or leaves is spawned again on demand, with a new
///   serial; whoever held its handle hears `throttle_restarted`.
/// - An identifier leaves only when it has seen everything that was sent to
///   it; its due time is kept. It is spawned anew when that time comes, for an
///   event, for a host that recovered, and to probe a host.
/// - Hosts outlive their throttles: what matters of them is kept here and in
///   the journal.
class supervisor_state {
public:
  using pointer = supervisor_actor::stateful_pointer<supervisor_state>;
  static inline const char* name = "supervisor";

  explicit supervisor_state(pointer self) : self_(self) {}

  supervisor_actor::behavior_type make_behavior(supervisor_factories factories,
                                                fetch_pool_actor pool,
                                                journal_actor journal,
                                                supervisor_options options);

  // -- for tests
  // ---------------------------------------------------------------

  [[nodiscard]] std::size_t awake() const { return identifiers_.size(); }
  [[nodiscard]] std::size_t asleep() const { return sleepers_.size(); }
  [[nodiscard]] std::size_t throttles() const { return throttles_.size(); }
  /// What is kept twice agrees. Empty: all is well.
  [[nodiscard]] std::string check_invariants() const;

private:
  /// Hosts that are looked after in one step; the others in the next.
  static constexpr std::size_t max_probes_at_once = 16;
  /// Hosts of one identifier beyond which those without throttle are forgotten.
  static constexpr std::size_t max_named_hosts = 64;

  struct known_identifier {
    identifier_actor handle;
    std::uint64_t sent = 0;   ///< Messages that it has to see before it leaves.
    std::set<host_key> hosts; ///< That it names, or has asked for a turn.
  };

  struct known_throttle {
    throttle_actor handle;
    bool leaving = false; ///< Told to go; not gone yet.
    std::vector<
      std::pair<identifier, caf::typed_response_promise<throttle_actor>>>
      waiting; ///< Asked meanwhile.
  };

  /// A host that may be tried, until somebody did.
  struct probe {
    identifier last; ///< Who was asked last; the next one comes after him.
    duration pause;  ///< Until the next one is asked.
  };

  // supervisor.cpp
  caf::result<admission> route(event_arrived& message, const identifier& repo);
  known_identifier& spawn_identifier(const identifier& repo);
  git_actor repository_of(const tenant& repository);
  void on_retire(const retire& message);
  void on_down(const caf::down_msg& message);
  void on_identifier_death(const identifier& repo);
  void forget_identifier(const identifier& repo);
  bool count_death(const identifier& repo);
  caf::result<limits_set> apply(const set_limits& wanted);
  [[nodiscard]] engine::start_limits limits_of(const host_key& host) const;
  void change_plan(const plan_changed& message);
  void revive_sleepers();
  void let_all_go();
  /// Sends what has to be seen before it may leave.
  template <class Message>
  void tell(known_identifier& whom, Message message) {
    ++whom.sent;
    self_->send(whom.handle, std::move(message));
  }

  /// Sends it to who lives, or wakes him for it.
  template <class Message>
  void call(const identifier& repo, Message message) {
    const auto i = identifiers_.find(repo);
    tell(i == identifiers_.end() ? spawn_identifier(repo) : i->second,
         std::move(message));
  }

  // supervisor_sleep.cpp
  caf::result<pending_identifiers> take_up_work();
  void put_to_bed(const pending_identifiers& pending);
  void on_loaded(const loaded& message);
  /// After every change: wakes who may wake, then arms the timer.
  void pump();
  [[nodiscard]] std::size_t room_to_load() const;
  void wake(const identifier& repo);
  void arm();

  // supervisor_hosts.cpp
  caf::result<throttle_actor> throttle_of(const host_key& host);
  throttle_actor hand_out(const host_key& host, const identifier& to);
  void note_interest(const identifier& repo, const host_key& host);
  void forget_interest(const host_key& host);
  known_throttle& spawn_throttle(const host_key& host);
  void on_throttle_down(const host_key& host);
  void let_go(const host_key& host);
  void on_news(const host_news& news);
  void remember(const host_record& record);
  void write_hosts();
  void restore_host(const host_record& record);
  void start_recovery(const host_key& host);
  void continue_recovery();
  void on_interested(const host_key& host, const identifier& after,
                     const std::vector<identifier>& page, std::size_t limit);
  void start_probe(const host_key& host);
  void end_probe(const host_key& host);
  void send_probe(const host_key& host);
  void probe_next(const host_key& host, std::vector<identifier> candidates);

  pointer self_;
  supervisor_factories make_;
  fetch_pool_actor pool_;
  journal_actor journal_;
  supervisor_options options_; ///< `limits` and `plan`: those in force.
  std::map<host_key, set_limits> own_limits_; ///< What was set for one host.
  bool stopping_ = false;
  std::uint32_t next_serial_ = 1;

  std::unordered_map<identifier, known_identifier> identifiers_;
  std::unordered_map<caf::actor_id, identifier> identifier_ids_;
  std::map<host_key, known_throttle> throttles_;
  std::unordered_map<caf::actor_id, host_key> throttle_ids_;
  std::map<identifier, std::map<tenant, git_actor>> repositories_;
  std::unordered_map<caf::actor_id, tenant> repository_ids_;

  /// Deaths of the last ten minutes, in order and by name.
  std::deque<std::pair<time_point, identifier>> deaths_;
  std::unordered_map<identifier, std::size_t> death_counts_;
  std::unordered_set<identifier> resting_;

  engine::sleepers sleepers_; ///< By identifier; who rests is among them.
  std::set<identifier> loading_;
  std::set<identifier> to_revive_; ///< Sleepers, by new settings.
  engine::alarm alarm_;

  /// Who lives and names a host, or holds its throttle.
  std::map<host_key, std::set<identifier>> interest_;
  engine::host_table hosts_;
  std::map<host_key, host_record> unwritten_hosts_;
  bool writing_hosts_ = false;
  std::map<host_key, identifier> recovering_; ///< With who heard it last.
  host_key last_recovering_;
  bool asking_interest_ = false;
  std::map<host_key, probe> probes_;
  engine::sleepers probe_times_; ///< By host.
};

/// Spawn function: `sys.spawn(supervisor, factories, pool, journal, options)`.
supervisor_actor::behavior_type supervisor(supervisor_state::pointer self,
                                           supervisor_factories factories,
                                           fetch_pool_actor pool,
                                           journal_actor journal,
                                           supervisor_options options);

} // namespace purgatory
