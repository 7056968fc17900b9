#pragma once

#include "actors/identifier.hpp"
#include "messages/actors.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>

namespace purgatory {

/// Makes the actors that the supervisor owns. Wiring decides how they run;
/// tests bring fakes.
struct supervisor_factories {
  std::function<identifier_actor(supervisor_actor, const identifier&)>
    make_identifier;
  /// host, serial, concurrent, per_minute
  std::function<throttle_actor(const host_key&, std::uint32_t, std::uint32_t,
                               std::uint32_t)>
    make_throttle;
  std::function<git_actor(const tenant&)> make_repository;
};

/// Ceilings for hosts without an entry of their own.
struct host_limits {
  std::uint32_t concurrent = 5;
  std::uint32_t per_minute = 30;
};

struct supervisor_options {
  host_limits limits;
  /// No throttle grants before; nothing: at once.
  std::optional<time_point> quiet_until;
};

/// Routes by name, spawns on first use, monitors, restarts what died and lets
/// idle identifiers go. Holds no rule of git or scheduling.
///
/// - An identifier that dies is spawned again at once and finds its entries in
///   the journal; after three deaths in ten minutes it rests for ten.
/// - A throttle that dies is spawned again on demand, with a new serial; all
///   identifiers hear `throttle_restarted`.
/// - An identifier leaves only when it has seen every event routed to it.
class supervisor_state {
public:
  using pointer = supervisor_actor::stateful_pointer<supervisor_state>;
  static inline const char* name = "supervisor";

  explicit supervisor_state(pointer self) : self_(self) {}

  supervisor_actor::behavior_type make_behavior(supervisor_factories factories,
                                                fetch_pool_actor pool,
                                                journal_actor journal,
                                                supervisor_options options);

private:
  struct known_identifier {
    identifier_actor handle;
    std::uint64_t routed = 0;
  };

  caf::result<admission> route(event_arrived& message, const identifier& repo);
  known_identifier& spawn_identifier(const identifier& repo);
  [[nodiscard]] host_limits limits_of(const host_key& host) const;
  bool is_resting(const identifier& repo) const;
  throttle_actor throttle_of(const host_key& host);
  git_actor repository_of(const tenant& repository);
  void on_retire(const retire& message);
  void on_down(const caf::down_msg& message);
  void on_identifier_death(const identifier& repo);
  caf::result<limits_set> apply(const set_limits& wanted);
  caf::result<pending_identifiers> wake_pending();
  void let_all_go();

  pointer self_;
  supervisor_factories make_;
  fetch_pool_actor pool_;
  journal_actor journal_;
  host_limits defaults_;
  std::optional<time_point> quiet_until_;
  std::map<host_key, set_limits> own_limits_; ///< What was set for one host.
  bool stopping_ = false;
  std::uint32_t next_serial_ = 1;

  std::unordered_map<identifier, known_identifier> identifiers_;
  std::unordered_map<caf::actor_id, identifier> identifier_ids_;
  std::map<host_key, throttle_actor> throttles_;
  std::unordered_map<caf::actor_id, host_key> throttle_ids_;
  std::map<identifier, std::map<tenant, git_actor>> repositories_;
  std::unordered_map<caf::actor_id, tenant> repository_ids_;
  std::unordered_map<identifier, std::deque<time_point>> deaths_;
};

/// Spawn function: `sys.spawn(supervisor, factories, pool, journal, options)`.
supervisor_actor::behavior_type supervisor(supervisor_state::pointer self,
                                           supervisor_factories factories,
                                           fetch_pool_actor pool,
                                           journal_actor journal,
                                           supervisor_options options);

} // namespace purgatory
