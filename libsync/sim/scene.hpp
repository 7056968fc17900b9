#pragma once

#include "libsync/git/effects.hpp"
#include "libsync/sim/agenda.hpp"
#include "libsync/sim/claims.hpp"
#include "libsync/sim/names.hpp"
#include "libsync/sim/observer.hpp"
#include "libsync/sim/remote_host.hpp"
#include "libsync/sim/sim_relay.hpp"
#include "libsync/sim/tenants.hpp"
#include "libsync/sim/world.hpp"

#include <functional>
#include <map>
#include <random>
#include <set>

namespace purgatory::sim {

/// All that is outside the process and outlives it: hosts, relay, disk,
/// clocks, and who watches.
struct scene {
  explicit scene(const world& what);

  /// The virtual clock starts well after zero: times before it are legal.
  static constexpr time_point begin{std::chrono::hours{24 * 365}};
  /// Wall time at `begin`.
  static constexpr unix_seconds wall_begin = 1'768'867'200;

  [[nodiscard]] unix_seconds wall() const;
  [[nodiscard]] time_point at(milliseconds since_begin) const {
    return begin + since_begin;
  }
  /// The host of that name; one that nobody described has nothing.
  remote_host& host(const host_key& name);

  /// The relay gets an event from us; what may be released is checked.
  publish_outcome take_at_relay(const nostr::event& ev);

  /// Where the refs have to stand once nothing is under way.
  void check_refs();

  const world& plan;
  time_point now = begin;
  std::chrono::seconds clock_shift{0};
  std::mt19937_64 random;
  std::map<host_key, remote_host> hosts;
  sim_relay relay;
  tenants repositories;
  observer watch;
  sim::claims claims;
  std::set<event_id> acknowledged; ///< Answered OK true, and not served then.
  std::uint64_t verdicts = 0;
  std::function<void(duration, const git::fact&)> log; ///< May be empty.
  agenda<std::function<void()>> outside; ///< What happens without the process.

private:
  void check_release(const nostr::event& ev);
};

} // namespace purgatory::sim
