#pragma once

#include "libsync/sim/world.hpp"
#include "libsync/types.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace purgatory::sim {

/// How a job at a host goes, decided when its first request arrives.
struct job_course {
  fetch_class outcome = fetch_class::internal;
  std::vector<oid> got;
  std::vector<oid> missing;
  std::optional<std::chrono::seconds> retry_after;
  std::string redirect; ///< Host that has it, with `redirected`.
  duration takes = duration::zero();
};

/// One git server of the world: what it answers to whom and when.
class remote_host {
public:
  remote_host(const host_model& model, time_point begin,
              std::optional<time_point> faults_end);

  void put(const remote_url& url, time_point from, const oid& object);

  /// True when it serves at `at`.
  [[nodiscard]] bool is_up(time_point at) const;

  /// Earliest moment from `at` on at which it is up; nothing: never again.
  [[nodiscard]] std::optional<time_point> up_from(time_point at) const;

  /// When `object` is there under `url`; nothing: never.
  [[nodiscard]] std::optional<time_point> holds_from(const remote_url& url,
                                                     const oid& object) const;

  /// Requests a minute that it bears at `at`; 0: any number.
  [[nodiscard]] std::uint32_t bears(time_point at) const;

  [[nodiscard]] const host_model& model() const { return model_; }

  /// A job for `wants` under `url` arrives.
  job_course visit(const remote_url& url, const std::vector<oid>& wants,
                   time_point at, std::mt19937_64& random);

private:
  [[nodiscard]] const outage* outage_at(time_point at) const;
  [[nodiscard]] const hidden_limit* limit_at(time_point at) const;
  [[nodiscard]] bool has_faults(time_point at) const;
  std::optional<job_course> refuse(time_point at, std::mt19937_64& random);
  void serve(const remote_url& url, const std::vector<oid>& wants,
             time_point at, job_course& course) const;

  host_model model_;
  time_point begin_;
  std::optional<time_point> faults_end_;
  std::map<remote_url, std::map<oid, time_point>> contents_;
  std::deque<time_point> welcome_; ///< Of the last minute.
};

} // namespace purgatory::sim
