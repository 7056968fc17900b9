#pragma once

#include "libsync/engine/adaptive_rate.hpp"
#include "libsync/engine/host_health.hpp"
#include "libsync/engine/rate_set.hpp"
#include "libsync/engine/sliding_window.hpp"
#include "libsync/engine/slot_queue.hpp"
#include "libsync/engine/start_limits.hpp"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace purgatory::engine {

/// What does not change in the life of a schedule.
struct schedule_settings {
  std::uint32_t serial = 0; ///< Upper half of the lease ids.
  duration minute = std::chrono::minutes{1};
  /// A start counts so much longer, for what the network may shift.
  duration guard = std::chrono::milliseconds{200};
  block_caps caps = {};
};

/// All of a host that outlives its schedule.
struct host_image {
  health_image health;
  std::uint32_t learned_per_minute = 0; ///< 0: the ceiling.
  friend bool operator==(const host_image&, const host_image&) = default;
};

/// One host, complete: a slot_queue under minute, hour and day windows, a rate
/// that is learned from the host's complaints, and the host's health.
///
/// - While the host is blocked nothing is granted. Then exactly one probe; as
///   soon as its outcome is known, either all goes on or the next block begins.
///   A probe that says nothing (given back, our own failure) is repeated.
/// - After every change call `pump`, and again at `wake_at`; then `take_news`.
///
/// Logarithmic or constant time, independent of how many wait.
class host_schedule {
public:
  host_schedule(const schedule_settings& settings, const start_limits& limits);

  // -- how it stands ---------------------------------------------------------

  [[nodiscard]] std::size_t waiting() const { return slots_.waiting(); }
  [[nodiscard]] std::size_t leases() const { return slots_.leases(); }
  [[nodiscard]] const start_limits& limits() const { return limits_; }
  [[nodiscard]] bool has_place(const subject& who) const {
    return slots_.has_place(who);
  }
  [[nodiscard]] bool has_lease(lease_id lease) const {
    return slots_.has_lease(lease);
  }

  /// For who waits: when the block ends, and how many probes failed, ever.
  [[nodiscard]] host_view view(time_point now) const;

  /// Starts per minute that were learned; nothing: the ceiling.
  [[nodiscard]] std::optional<double> learned() const {
    return pace_.learned();
  }

  /// Earliest time at which `pump` has something to do. Nothing if that takes
  /// a message first: a new place, a free slot, the outcome of a probe.
  [[nodiscard]] std::optional<time_point> wake_at(time_point now);

  /// When the host will have been idle for ten minutes, and for as long as its
  /// hour and day windows count anything, if nothing happens. Nothing while
  /// there is work or a block, and once it was told.
  [[nodiscard]] std::optional<time_point> idle_at() const;

  [[nodiscard]] host_image image() const;

  /// Recomputes everything that is kept twice. What is wrong, or nothing.
  [[nodiscard]] std::string check_invariants() const;

  // -- what happened ---------------------------------------------------------

  /// As in slot_queue, which see for all of them.
  void enqueue(const subject& who, const subject_owner& owner, lane turn);
  bool leave(const subject& who) { return slots_.leave(who); }
  bool start(lease_id lease) { return slots_.start(lease); }
  bool defer(lease_id lease);
  bool withdraw(lease_id lease);
  bool started(lease_id lease, time_point at);
  bool reclaim(lease_id lease);

  /// The lease has ended, and that is what it says about the host.
  /// `retry_after`: how long the host asks to be left alone, with `limited`.
  bool completed(lease_id lease, host_signal signal,
                 std::optional<std::chrono::seconds> retry_after,
                 time_point now);

  /// Raising lets `pump` grant more, lowering stops nothing.
  void set_limits(const start_limits& limits);

  /// Nothing is granted before.
  void quiet_until(time_point end) { quiet_until_ = end; }

  /// Takes over what counts already. Call both before the first `pump`.
  void seed(std::vector<inherited_lease> inherited);
  void restore(const host_image& image, time_point now);

  /// Grants until slots, queue or rate are exhausted.
  [[nodiscard]] std::vector<grant> pump(time_point now);

  /// What has become known since the last call, in order.
  [[nodiscard]] std::vector<host_event> take_news();

private:
  /// A lease, as far as it matters for the host.
  struct request {
    std::optional<time_point> sent;
    std::size_t recent = 0; ///< Starts in the minute before it was sent.
  };

  void learn(const request& ended, const host_outcome& outcome, time_point now);
  void forget(lease_id lease);
  [[nodiscard]] host_company company_of(const host_outcome& outcome) const;
  void look_for_news(time_point now);

  start_limits limits_;
  sliding_window minute_;
  sliding_window hour_;
  sliding_window day_;
  adaptive_rate pace_;
  host_health health_;
  slot_queue slots_;
  std::unordered_map<lease_id, request> requests_;
  std::optional<lease_id> probe_; ///< In the time after a block.
  std::optional<time_point> quiet_until_;
  std::vector<host_event> news_;
  bool unblocked_told_ = false;
  std::optional<time_point> idle_since_;
  bool idle_told_ = false;
};

} // namespace purgatory::engine
