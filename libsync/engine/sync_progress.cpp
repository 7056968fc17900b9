#include "libsync/engine/sync_progress.hpp"

#include <algorithm>

namespace purgatory::engine {

namespace {

/// From the last event of history until its unit is reported.
constexpr auto settling = std::chrono::minutes(1);

using seconds = std::chrono::duration<double>;

duration rounded(seconds time) {
  return std::chrono::ceil<std::chrono::seconds>(time);
}

} // namespace

void sync_progress::report(const std::string& who,
                           const sync_standing& standing,
                           const sync_steps& steps) {
  const auto before = standings_.find(who);
  const auto last
    = before == standings_.end() ? sync_standing{} : before->second;
  sums_.held += standing.held - last.held;
  sums_.units += standing.units - last.units;
  sums_.fresh += standing.fresh - last.fresh;
  sums_.released += steps.released;
  sums_.jobs += steps.jobs;
  job_time_ += steps.job_time;
  if (standing.held + standing.units > 0)
    standings_.insert_or_assign(who, standing);
  else if (before != standings_.end())
    standings_.erase(before);
}

bool sync_progress::is_over(time_point now) const {
  const bool is_read = history_read_ && now - *history_read_ >= settling;
  return now >= end_ || (is_read && sums_.fresh == 0);
}

std::optional<duration>
sync_progress::remaining(const std::vector<host_backlog>& hosts,
                         std::size_t workers) const {
  seconds longest{0};
  std::size_t jobs = 0;
  for (const auto& host : hosts) {
    if (host.waiting == 0)
      continue;
    if (host.per_minute <= 0)
      return std::nullopt;
    jobs += host.waiting;
    const auto minutes = static_cast<double>(host.waiting) / host.per_minute;
    longest = std::max(longest, seconds{60 * minutes});
  }
  if (const auto mean = mean_job(); mean && workers > 0) {
    const auto each = std::chrono::duration_cast<seconds>(*mean);
    longest = std::max(longest, each * static_cast<double>(jobs)
                                  / static_cast<double>(workers));
  }
  return rounded(longest);
}

std::optional<duration> sync_progress::mean_job() const {
  if (sums_.jobs == 0)
    return std::nullopt;
  return job_time_ / static_cast<duration::rep>(sums_.jobs);
}

} // namespace purgatory::engine
