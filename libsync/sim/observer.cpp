#include "libsync/sim/observer.hpp"

#include <algorithm>
#include <utility>

namespace purgatory::sim {

namespace {

using std::chrono::hours;
using std::chrono::minutes;

/// A job may have begun under limits that were lowered since.
constexpr duration longest_job = minutes{15};

/// Shorter waits say nothing about how well a host is used.
constexpr duration least_backlog = minutes{5};

/// Forgets what is out of the window; how many are left.
std::size_t in_window(std::deque<time_point>& starts, duration window,
                      time_point now) {
  while (!starts.empty() && starts.front() + window <= now)
    starts.pop_front();
  return starts.size();
}

/// Failures of this kind say something about the host, not about one URL.
bool is_of_host(fetch_class outcome) {
  switch (outcome) {
  case fetch_class::limited:
  case fetch_class::server:
  case fetch_class::timeout:
  case fetch_class::refused:
  case fetch_class::dns:
  case fetch_class::tls:
    return true;
  default:
    return false;
  }
}

} // namespace

void observer::check(bool good, const std::string& what, time_point now) {
  if (good)
    return;
  ++violated_;
  if (violations_.size() < 100)
    violations_.push_back({now - begin_, what});
}

void observer::note(std::string_view what, time_point now) {
  const auto mix = [this](std::uint64_t value) {
    trace_ = (trace_ ^ value) * 1099511628211ULL;
  };
  mix(static_cast<std::uint64_t>((now - begin_).count()));
  for (const char c : what)
    mix(static_cast<unsigned char>(c));
}

void observer::limits(const host_key& host,
                      const engine::start_limits& in_force, time_point now) {
  auto& changes = seen_[host].limits;
  if (changes.empty() || changes.back().limits != in_force)
    changes.push_back({now, in_force});
}

/// The loosest limits that some start of the window may have been under.
void observer::check_windows(const host_key& host, watched& seen,
                             const host_tally& t, time_point now) {
  auto& changes = seen.limits;
  while (changes.size() > 1 && changes[1].from + hours{25} <= now)
    changes.pop_front();
  // A limit that was in force at some time within `window`; 0: none.
  const auto most = [&](duration window, auto member) {
    std::uint32_t result = 0;
    for (std::size_t i = changes.size(); i-- > 0;) {
      const auto value = changes[i].limits.*member;
      const bool last = i + 1 == changes.size();
      if (!last && changes[i + 1].from + window <= now)
        break;
      if (value == 0)
        return std::uint32_t{0};
      result = std::max(result, value);
    }
    return result;
  };
  const auto within = [&](std::deque<time_point>& starts, duration window,
                          auto member, const char* name) {
    const auto limit = most(window, member);
    const auto count = in_window(starts, window, now);
    check(limit == 0 || count <= limit,
          "too many starts in " + std::string{name} + " at " + host.value, now);
    return static_cast<std::uint32_t>(count);
  };
  using engine::start_limits;
  const auto count
    = within(seen.minute, minutes{1}, &start_limits::per_minute, "a minute");
  auto& tally = tallies_[host];
  tally.max_in_minute = std::max(tally.max_in_minute, count);
  within(seen.hour, hours{1}, &start_limits::per_hour, "an hour");
  within(seen.day, hours{24}, &start_limits::per_day, "a day");
  const auto slots = most(longest_job, &start_limits::concurrent);
  check(slots == 0 || t.in_flight <= slots,
        "too many in flight at " + host.value, now);
}

void observer::started(const host_key& host, const unit_key& who,
                       const remote_url& url, time_point now) {
  auto& seen = seen_[host];
  auto& tally = tallies_[host];
  ++starts_;
  ++tally.starts;
  tally.max_in_flight = std::max(tally.max_in_flight, ++tally.in_flight);
  seen.minute.push_back(now);
  const auto& limits
    = seen.limits.empty() ? engine::start_limits{} : seen.limits.back().limits;
  if (limits.per_hour > 0)
    seen.hour.push_back(now);
  if (limits.per_day > 0)
    seen.day.push_back(now);
  check(++seen.running[who] == 1, "two jobs of one unit at " + host.value, now);
  check_windows(host, seen, tally, now);
  auto& unit = units_[who];
  ++unit.starts;
  auto& pair = pairs_[who][url];
  unit.most_at_one_url = std::max(unit.most_at_one_url, ++pair.starts);
  note(url.value, now);
}

bool observer::brings_news(watched& seen, pair_knowledge& pair,
                           const job_course& course) {
  bool news = false;
  for (const auto& id : course.missing)
    news = pair.absent.insert(id).second || news;
  if (is_of_host(course.outcome))
    return std::exchange(seen.last, course.outcome) != course.outcome;
  seen.last = fetch_class::ok;
  const bool changed = !pair.known || pair.last != course.outcome;
  pair.known = true;
  pair.last = course.outcome;
  return changed || news;
}

void observer::ended(const host_key& host, const unit_key& who,
                     const remote_url& url, const job_course& course,
                     time_point now) {
  auto& seen = seen_[host];
  auto& tally = tallies_[host];
  --tally.in_flight;
  ++tally.by_class.at(static_cast<std::size_t>(course.outcome));
  tally.busy += course.takes;
  check(--seen.running[who] == 0, "a job ended that did not run", now);
  if (is_real_outcome(course.outcome))
    ++outcomes_[who.repo][url];
  const bool news = brings_news(seen, pairs_[who][url], course);
  if (course.got.empty() && !news)
    ++units_[who].useless;
  note(to_string(course.outcome), now);
}

std::uint64_t observer::outcomes(const identifier& repo,
                                 const remote_url& url) const {
  const auto here = outcomes_.find(repo);
  if (here == outcomes_.end())
    return 0;
  const auto i = here->second.find(url);
  return i == here->second.end() ? 0 : i->second;
}

void observer::aborted(const host_key& host, const unit_key& who,
                       time_point started, time_point now) {
  auto& tally = tallies_[host];
  --tally.in_flight;
  tally.busy += now - started;
  --seen_[host].running[who];
  note("aborted", now);
}

void observer::backlog(const host_key& host, bool is_there, time_point now) {
  auto& seen = seen_[host];
  if (!is_there) {
    end_backlog(host, seen, now);
    return;
  }
  if (seen.waiting_since)
    return;
  seen.waiting_since = now;
  seen.starts_when_waiting = tallies_[host].starts;
}

/// Whoever waits finds the window full: n starts need n / limit more windows,
/// rounded up, and at least the time of their jobs on all slots.
void observer::end_backlog(const host_key& host, watched& seen,
                           time_point now) {
  if (!seen.waiting_since)
    return;
  auto& tally = tallies_[host];
  const auto since = *std::exchange(seen.waiting_since, std::nullopt);
  const auto& limits
    = seen.limits.empty() ? engine::start_limits{} : seen.limits.back().limits;
  const auto count = tally.starts - seen.starts_when_waiting;
  const auto span = now - since;
  if (count == 0 || span < least_backlog)
    return;
  constexpr auto window = minutes{1} + std::chrono::milliseconds{200};
  auto ideal = duration::zero();
  if (limits.per_minute > 0)
    ideal = window
            * static_cast<std::int64_t>((count + limits.per_minute - 1)
                                        / limits.per_minute);
  if (limits.concurrent > 0 && tally.starts > 0)
    ideal = std::max<duration>(
      ideal, tally.busy / static_cast<std::int64_t>(tally.starts)
               * static_cast<std::int64_t>(count) / limits.concurrent);
  tally.backlog += span;
  tally.ideal += std::min(ideal, span);
}

void observer::close(time_point now) {
  for (auto& [host, seen] : seen_)
    end_backlog(host, seen, now);
}

} // namespace purgatory::sim
