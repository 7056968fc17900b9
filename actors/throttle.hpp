#pragma once

#include "libsync/engine/alarm.hpp"
#include "libsync/engine/host_schedule.hpp"
#include "libsync/fetch_signal.hpp"
#include "messages/actors.hpp"

#include <caf/actor_addr.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace purgatory {

/// One host: its limits (rules §8.2) and its past.
struct throttle_config {
  host_key host;
  std::uint32_t serial = 0; ///< Distinct for every throttle ever spawned.
  engine::start_limits limits = {};
  duration window = std::chrono::seconds{60};
  /// A start counts so much longer, for what the network may shift.
  duration guard = std::chrono::milliseconds{200};
  engine::block_caps caps = {};
  host_news_sink news = {}; ///< Null: nobody wants to know.
  /// What is known of the host from before.
  std::optional<host_record> known = {};
  /// Some moment of which the live time is known.
  live_clock live = {};
};

/// Shell of a host_schedule: who to tell, whom to watch, when to wake up.
///
/// Between grant and `fetch_started` it watches the holder; a holder that dies
/// meanwhile may have handed the lease to the pool, so the pool is asked. From
/// then on the pool ends the lease.
class throttle_state {
public:
  using pointer = throttle_actor::stateful_pointer<throttle_state>;
  static inline const char* name = "throttle";

  explicit throttle_state(pointer self) : self_(self) {}

  throttle_actor::behavior_type make_behavior(throttle_config cfg,
                                              fetch_pool_actor pool);

  /// For tests: what is kept twice agrees.
  [[nodiscard]] std::string check_invariants() const;

private:
  /// A place in line, and where to send its grant.
  struct waiter {
    unit_key who;
    remote_url url;
    grant_sink sink;
  };

  /// A lease whose first request has not left yet.
  struct unsent_lease {
    engine::subject who;
    caf::actor_addr holder;
  };

  enqueue_answer on_enqueue(const enqueue& asked, const grant_sink& sink);
  void on_answer(const grant_answer& answer);
  void on_started(const fetch_started& started);
  void on_complete(const request_complete& ended);
  void on_leave(const unit_key& who);
  void on_seed(const throttle_seed& seed);
  void on_limits(const set_limits& wanted);
  void on_holder_down(const caf::actor_addr& holder);
  void on_reclaim(lease_id lease, reclaim_outcome outcome);

  /// After every change: grants what can be granted, then arms the timer. The
  /// grant for `asking` is returned instead of sent.
  std::optional<url_ready> pump(const engine::subject* asking = nullptr);
  void tell_news();
  void arm();
  [[nodiscard]] live_clock moment() const;
  void watch(lease_id lease, const engine::subject& who,
             const grant_sink& sink);
  /// Returns whose lease it was.
  std::optional<engine::subject> unwatch(lease_id lease);
  void drop_waiter_without_place(const engine::subject& who);

  pointer self_;
  fetch_pool_actor pool_;
  host_key host_;
  host_news_sink news_;
  live_clock live_;
  bool seeded_ = false;
  std::optional<engine::host_schedule> schedule_;
  engine::alarm alarm_;
  std::unordered_map<engine::subject, waiter> waiters_;
  std::unordered_map<lease_id, unsent_lease> unsent_;
  /// Watched actors with their unsent leases; nobody dead.
  std::map<caf::actor_addr, std::unordered_set<lease_id>> holders_;
};

/// Owns one domain. Grants nothing before `throttle_seed` came.
throttle_actor::behavior_type throttle(throttle_state::pointer self,
                                       throttle_config cfg,
                                       fetch_pool_actor pool);

} // namespace purgatory
