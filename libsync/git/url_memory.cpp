#include "libsync/git/url_memory.hpp"

#include <algorithm>
#include <cmath>

namespace purgatory::git {

namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

/// After `free` failures in a row: `first`, times `factor` each time, at most
/// `cap` (rules §8.4).
struct wait_rule {
  std::uint32_t free;
  duration first;
  int factor;
  duration cap;
};

wait_rule rule_of(fetch_class outcome) {
  switch (outcome) {
  case fetch_class::not_here:
    return {4, minutes(5), 2, hours(4)};
  case fetch_class::no_repo:
    return {2, minutes(10), 2, hours(24)};
  case fetch_class::server:
    return {4, minutes(1), 2, hours(1)};
  case fetch_class::timeout:
  case fetch_class::refused:
    return {4, minutes(1), 2, hours(4)};
  case fetch_class::dns:
    return {4, minutes(15), 4, hours(12)};
  case fetch_class::tls:
    return {0, minutes(15), 4, hours(12)};
  case fetch_class::auth:
  case fetch_class::corrupt:
    return {0, hours(1), 4, hours(24)};
  case fetch_class::policy:
  case fetch_class::oversize:
  case fetch_class::unsupported:
    return {0, hours(24), 1, hours(24)};
  default: // The host's limits are the throttle's to keep.
    return {~std::uint32_t{0}, duration::zero(), 1, duration::zero()};
  }
}

constexpr double jitter = 0.1;

duration wait_after(fetch_class outcome, std::uint32_t failures, double share) {
  const auto rule = rule_of(outcome);
  if (failures <= rule.free)
    return duration::zero();
  auto wait = rule.first;
  for (auto n = failures - rule.free; n > 1 && wait < rule.cap; --n)
    wait *= rule.factor;
  const auto factor = 1.0 - jitter + 2.0 * jitter * share;
  return std::chrono::duration_cast<duration>(
    std::chrono::duration<double>(std::min(wait, rule.cap)) * factor);
}

bool is_waivable(fetch_class outcome) {
  return outcome == fetch_class::not_here || outcome == fetch_class::no_repo
         || outcome == fetch_class::server || outcome == fetch_class::timeout;
}

double decayed(double score, duration age) {
  const auto days = std::chrono::duration<double>(age) / hours(24);
  return score * std::exp2(-std::max(days, 0.0));
}

} // namespace

time_point url_memory::allowed_at(bool waived) const {
  return waived && is_waivable(last_) ? time_point::min() : next_allowed_;
}

time_point url_memory::allowed_at(const oid& id, bool waived) const {
  const auto i = absent_.find(id);
  const bool free = waived || i == absent_.end();
  return std::max(allowed_at(waived),
                  free ? time_point::min() : i->second.next_allowed);
}

double url_memory::score(time_point now) const {
  return decayed(score_, now - scored_at_);
}

std::size_t url_memory::outcomes_since(time_point since) const {
  return static_cast<std::size_t>(
    recent_.end() - std::lower_bound(recent_.begin(), recent_.end(), since));
}

void url_memory::note_outcome(time_point now) {
  recent_.push_back(now);
  if (recent_.size() > max_recent)
    recent_.pop_front();
}

void url_memory::miss(const oid& id, time_point now, double share) {
  if (!absent_.contains(id) && absent_.size() >= max_absent)
    return;
  auto& known = absent_[id];
  ++known.failures;
  known.next_allowed
    = now + wait_after(fetch_class::not_here, known.failures, share);
}

void url_memory::ended(const fetch_outcome& result, time_point now,
                       double share) {
  for (const auto& id : result.got)
    absent_.erase(id);
  const auto outcome = result.outcome;
  if (!is_real_outcome(outcome))
    return;
  note_outcome(now);
  for (const auto& id : result.missing)
    miss(id, now, share);
  if (outcome == fetch_class::ok) {
    score_ = score(now) + 1;
    scored_at_ = now;
    last_ok_ = now;
    failures_ = 0;
    next_allowed_ = time_point{};
    last_ = outcome;
    return;
  }
  failures_ = outcome == last_ ? failures_ + 1 : 1;
  last_ = outcome;
  // What is missing has its own wait; the URL answered and may be asked for
  // something else.
  next_allowed_ = outcome == fetch_class::not_here
                    ? time_point{}
                    : now + wait_after(outcome, failures_, share);
}

bool url_memory::saw_probes(std::uint64_t probes, time_point now) {
  if (probes <= host_probes_)
    return false;
  host_probes_ = probes;
  note_outcome(now);
  return true;
}

void url_memory::host_recovered() {
  switch (last_) {
  case fetch_class::server:
  case fetch_class::timeout:
  case fetch_class::refused:
  case fetch_class::dns:
  case fetch_class::tls:
    failures_ = 0;
    next_allowed_ = time_point{};
    break;
  default:
    break;
  }
}

void url_memory::forgive() {
  failures_ = 0;
  next_allowed_ = time_point{};
  absent_.clear();
}

void url_memory::keep_only(const std::set<oid>& needed) {
  std::erase_if(
    absent_, [&](const auto& known) { return !needed.contains(known.first); });
}

void url_memory::unite(const url_memory& other) {
  if (other.next_allowed_ > next_allowed_) {
    next_allowed_ = other.next_allowed_;
    last_ = other.last_;
    failures_ = other.failures_;
  }
  const auto at = std::max(scored_at_, other.scored_at_);
  score_ = std::max(score(at), other.score(at));
  scored_at_ = at;
  last_ok_ = std::max(last_ok_, other.last_ok_);
  host_probes_ = std::max(host_probes_, other.host_probes_);
  for (const auto& [id, theirs] : other.absent_) {
    auto& ours = absent_[id];
    if (theirs.next_allowed > ours.next_allowed)
      ours = theirs;
  }
  // Fewer known outcomes: a verdict must not come early.
  if (other.recent_.size() < recent_.size())
    recent_ = other.recent_;
}

pair_memory url_memory::image(live_clock at) const {
  pair_memory result;
  result.last = last_;
  result.failures = failures_;
  result.next_allowed = at.stored(next_allowed_);
  result.score = score_;
  result.scored_at = at.stored(scored_at_);
  if (last_ok_)
    result.last_ok = at.stored(*last_ok_);
  result.host_probes = host_probes_;
  for (const auto when : recent_)
    result.recent.push_back(at.stored(when));
  for (const auto& [id, known] : absent_)
    result.absent.push_back(
      {id, known.failures, at.stored(known.next_allowed)});
  return result;
}

url_memory url_memory::from(const pair_memory& image, live_clock at) {
  url_memory result;
  result.last_ = image.last;
  result.failures_ = image.failures;
  result.next_allowed_ = at.moment_of(image.next_allowed);
  result.score_ = image.score;
  result.scored_at_ = at.moment_of(image.scored_at);
  if (image.last_ok)
    result.last_ok_ = at.moment_of(*image.last_ok);
  result.host_probes_ = image.host_probes;
  for (const auto when : image.recent)
    result.recent_.push_back(at.moment_of(when));
  for (const auto& known : image.absent)
    if (result.absent_.size() < max_absent)
      result.absent_[known.id]
        = {known.failures, at.moment_of(known.next_allowed)};
  return result;
}

} // namespace purgatory::git
