#pragma once

#include "libsync/engine/job_board.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace purgatory::test {

/// job_board in the plainest words: one list of jobs in order of arrival, and
/// every question answered by looking at all of them.
class naive_job_board {
public:
  explicit naive_job_board(engine::board_limits limits) : limits_(limits) {}

  engine::board_orders add(lease_id id, const host_key& host, time_point now) {
    if (find(id) == jobs_.end())
      jobs_.push_back({id, host});
    return settle(now);
  }

  engine::board_orders end(lease_id id, time_point now,
                           const std::string& prefix) {
    if (const auto found = find(id); found != jobs_.end()) {
      if (!prefix.empty())
        prefixes_[found->host] = prefix;
      jobs_.erase(found);
    }
    return settle(now);
  }

  engine::board_orders tick(time_point now) { return settle(now); }

  std::vector<lease_id> give_up_waiting() {
    std::vector<lease_id> result;
    for (const auto& each : jobs_)
      if (!each.since)
        result.push_back(each.id);
    std::erase_if(jobs_, [](const job& each) { return !each.since; });
    return result;
  }

  std::size_t running() const {
    return count([](const job& each) { return each.since.has_value(); });
  }
  std::size_t waiting() const { return jobs_.size() - running(); }

  /// Every job that is here, in order of arrival.
  std::vector<lease_id> all() const {
    std::vector<lease_id> ids;
    for (const auto& each : jobs_)
      ids.push_back(each.id);
    return ids;
  }

private:
  struct job {
    lease_id id;
    host_key host;
    std::optional<time_point> since = {};
    bool slow = false;
    bool cancelled = false;
  };

  template <class Condition>
  std::size_t count(Condition holds) const {
    return static_cast<std::size_t>(
      std::count_if(jobs_.begin(), jobs_.end(), holds));
  }

  std::vector<job>::iterator find(lease_id id) {
    return std::find_if(jobs_.begin(), jobs_.end(),
                        [id](const job& each) { return each.id == id; });
  }

  std::string prefix_of(const host_key& host) const {
    const auto found = prefixes_.find(host);
    return found == prefixes_.end() ? std::string{} : found->second;
  }

  bool may_start(const job& wanted) const {
    const auto prefix = prefix_of(wanted.host);
    return !wanted.since
           && (prefix.empty() || count([&](const job& each) {
                                   return each.since
                                          && prefix_of(each.host) == prefix;
                                 }) < limits_.per_prefix);
  }

  /// The longest running job for which `holds`; null if there is none.
  template <class Condition>
  job* oldest(Condition holds) {
    job* found = nullptr;
    for (auto& each : jobs_)
      if (each.since && !each.cancelled && holds(each)
          && (found == nullptr || *each.since < *found->since))
        found = &each;
    return found;
  }

  engine::board_orders settle(time_point now) {
    engine::board_orders orders;
    while (auto* grown = oldest([&](const job& each) {
             return !each.slow && *each.since + limits_.slow_after <= now;
           })) {
      grown->slow = true;
      const auto here = [&](const job& each) {
        return each.slow && !each.cancelled && each.host == grown->host;
      };
      const auto anywhere
        = [](const job& each) { return each.slow && !each.cancelled; };
      job* victim = nullptr;
      if (count(here) > limits_.slow_per_host)
        victim = oldest(here);
      else if (count(anywhere) > std::max<std::size_t>(1, limits_.workers / 2))
        victim = oldest(anywhere);
      if (victim != nullptr) {
        victim->cancelled = true;
        orders.cancel.push_back(victim->id);
      }
    }
    for (auto& each : jobs_)
      if (running() < limits_.workers && may_start(each)) {
        each.since = now;
        orders.start.push_back(each.id);
      }
    if (const auto* next = oldest([](const job& each) { return !each.slow; }))
      orders.wake = *next->since + limits_.slow_after;
    return orders;
  }

  engine::board_limits limits_;
  std::vector<job> jobs_;
  std::map<host_key, std::string> prefixes_;
};

} // namespace purgatory::test
