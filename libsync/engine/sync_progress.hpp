#pragma once

#include "libsync/types.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace purgatory::engine {

/// How one name stands at the moment.
struct sync_standing {
  std::size_t held = 0;  ///< Entries that wait.
  std::size_t units = 0; ///< That wait for something.
  std::size_t fresh = 0; ///< Of these: without a full round so far.
  friend bool operator==(const sync_standing&, const sync_standing&) = default;
};

/// What became of it since it reported last.
struct sync_steps {
  std::size_t released = 0;
  std::size_t jobs = 0; ///< That ended.
  duration job_time{};  ///< Of all of them.
  friend bool operator==(const sync_steps&, const sync_steps&) = default;
};

/// What a host has to do.
struct host_backlog {
  std::size_t waiting = 0;
  double per_minute = 0; ///< Starts that it bears.
};

/// The first filling of an empty journal (rules §7): how far it is, how long it
/// will take, and when it is over: history was read a minute ago, so that what
/// came last is known, and every unit had a full round; or seven days have
/// passed.
class sync_progress {
public:
  explicit sync_progress(time_point start,
                         duration longest = std::chrono::hours{24 * 7})
    : end_(start + longest) {}

  /// The sums over all names.
  struct totals {
    std::size_t held = 0;
    std::size_t released = 0;
    std::size_t units = 0;
    std::size_t fresh = 0;
    std::size_t jobs = 0;
  };

  void report(const std::string& who, const sync_standing& standing,
              const sync_steps& steps);

  /// All that the relay had to tell was offered. The first time counts.
  void history_read(time_point now) {
    if (!history_read_)
      history_read_ = now;
  }

  [[nodiscard]] const totals& sums() const { return sums_; }

  [[nodiscard]] bool is_over(time_point now) const;

  /// How long what waits will take under the budgets: the slowest host, or all
  /// workers together, whichever takes longer. Who waits at several hosts is
  /// counted at each, so this is an upper bound of what can be known. Nothing
  /// while nobody can tell: a host that bears no start.
  [[nodiscard]] std::optional<duration>
  remaining(const std::vector<host_backlog>& hosts, std::size_t workers) const;

  /// Mean time of a job so far; nothing before the first one ended.
  [[nodiscard]] std::optional<duration> mean_job() const;

private:
  time_point end_;
  std::optional<time_point> history_read_;
  totals sums_;
  duration job_time_{};
  /// Only names with something that waits; bounded by what the journal holds.
  std::map<std::string, sync_standing> standings_;
};

} // namespace purgatory::engine
