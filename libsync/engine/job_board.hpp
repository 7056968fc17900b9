#pragma once

#include "libsync/types.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace purgatory::engine {

/// What a pool of workers may do at once (rules §8.2).
struct board_limits {
  std::size_t workers = 128;   ///< Running jobs in all; from 1.
  std::size_t per_prefix = 20; ///< Running jobs at one address prefix; from 1.
  std::size_t slow_per_host = 2;                  ///< Slow jobs at one host.
  duration slow_after = std::chrono::seconds{60}; ///< A job this old is slow.
  std::size_t known_hosts = 100'000; ///< Idle hosts whose prefix is kept.
};

/// What has to be done now.
struct board_orders {
  std::vector<lease_id> start; ///< In this order.
  /// Each job is named once and holds its worker until `end`.
  std::vector<lease_id> cancel;
  std::optional<time_point> wake; ///< Call `tick` then at the latest.
  friend bool operator==(const board_orders&, const board_orders&) = default;
};

/// Which jobs run on a limited number of workers.
///
/// - First come, first served; but while `per_prefix` jobs run at hosts of one
///   address prefix, their waiting jobs let others pass and keep their places.
///   A host without known prefix is not held back. The prefix is any text; it
///   is learned when a job ends.
/// - Slow jobs hold at most `slow_per_host` workers per host and half of all,
///   but one at least. Beyond, the oldest is to be cancelled first.
///
/// Logarithmic time, independent of how many wait.
class job_board {
public:
  explicit job_board(board_limits limits = {}) : limits_(limits) {}
  job_board(const job_board&) = delete;
  job_board& operator=(const job_board&) = delete;

  // -- observers --------------------------------------------------------------

  [[nodiscard]] std::size_t waiting() const { return jobs_.size() - running_; }
  [[nodiscard]] std::size_t running() const { return running_; }
  [[nodiscard]] bool contains(lease_id id) const { return jobs_.contains(id); }
  [[nodiscard]] bool is_running(lease_id id) const;
  /// True from the order to cancel it until its end.
  [[nodiscard]] bool is_cancelled(lease_id id) const;
  /// Hosts that are remembered, busy or not.
  [[nodiscard]] std::size_t hosts() const { return hosts_.size(); }
  /// For tests: what is kept twice agrees; empty if so.
  [[nodiscard]] std::string check_invariants() const;

  // -- what happened ----------------------------------------------------------

  /// A new job; one that is known already is ignored.
  board_orders add(lease_id id, const host_key& host, time_point now);

  /// A job ended, or a waiting one is given up; unknown ones are ignored.
  /// `prefix` is where its host was found, empty if it was not.
  board_orders end(lease_id id, time_point now, const std::string& prefix = {});

  /// Time has passed.
  board_orders tick(time_point now);

  /// Forgets all waiting jobs and names them in the order of their arrival.
  std::vector<lease_id> give_up_waiting();

private:
  using number = std::uint64_t; ///< Of an arrival; ascending.
  struct host;

  /// Hosts that share one cap: those of a prefix, or a single one without cap.
  struct gate {
    std::size_t running = 0;
    std::size_t hosts = 0;         ///< Members; 0: not shared.
    std::map<number, host*> heads; ///< By each member's first waiting job.
  };

  struct age {
    time_point since;
    number arrival = 0;
    lease_id id;
    friend auto operator<=>(const age&, const age&) = default;
  };

  struct host {
    host_key name;
    std::string prefix; ///< Empty: unknown.
    gate own;
    gate* at = nullptr; ///< `own` as long as the prefix is unknown.
    std::map<number, lease_id> waiting;
    std::size_t running = 0;
    std::set<age> slow; ///< Without those that are cancelled.
    number idle_since = 0;
  };

  enum class phase : std::uint8_t { waiting, young, slow, cancelled };

  struct job {
    host* where = nullptr;
    number arrival = 0;
    time_point since; ///< Start; meaningful once it runs.
    phase state = phase::waiting;
  };

  [[nodiscard]] bool has_room(const gate& g) const;
  [[nodiscard]] std::size_t slow_in_all() const;
  [[nodiscard]] static age age_of(lease_id id, const job& entry);

  /// Changes a gate or its members; what may start next is put right after.
  template <class Change>
  void change(gate& g, Change&& what);
  static void hide_head(host& h);
  static void show_head(host& h);

  host& busy(const host_key& name);
  void rest_if_idle(host& h);
  void move_to(host& h, const std::string& prefix);
  void leave_gate(host& h);
  void remove(lease_id id, const std::string& prefix);
  void grow_old(time_point now, board_orders& orders);
  void cancel(age which, board_orders& orders);
  void start_next(time_point now, board_orders& orders);
  board_orders settle(time_point now);

  board_limits limits_;
  number next_ = 1;
  std::size_t running_ = 0;
  std::unordered_map<lease_id, job> jobs_;
  std::unordered_map<host_key, host> hosts_;
  std::unordered_map<std::string, gate> prefixes_;
  std::map<number, gate*> ready_; ///< Gates with room, by their first job.
  std::set<age> young_;
  std::set<age> slow_;
  std::map<number, host*> idle_; ///< Longest idle first.
};

} // namespace purgatory::engine
