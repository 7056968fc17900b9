#include "libsync/git/hunt.hpp"

#include <algorithm>

namespace purgatory::git {

namespace {

/// Redirects to another host in one chain (rules §8.4).
constexpr int max_hops = 3;

} // namespace

std::vector<task> hunt::untried(std::vector<task> open) const {
  for (auto& work : open)
    for (auto i = detours_.find(work.url.text); i != detours_.end();
         i = detours_.find(work.url.text))
      work.url = i->second.to;
  std::set<std::pair<std::string, wish>> seen = tried_;
  std::erase_if(open, [&](const task& work) {
    return work.wants.empty()
           || !seen.emplace(work.url.text.value, work.kind).second;
  });
  return open;
}

const running_job* hunt::job(lease_id lease) const {
  const auto i = jobs_.find(lease);
  return i == jobs_.end() ? nullptr : &i->second.job;
}

void hunt::begin_round() {
  in_round_ = true;
  tried_.clear();
  detours_.clear();
}

void hunt::end_round(bool still_missing) {
  in_round_ = false;
  if (still_missing)
    ++attempts_;
}

std::optional<task> hunt::next_to_ask(const std::vector<task>& open) {
  if (!in_round_ || jobs_.size() >= max_jobs_)
    return std::nullopt;
  const auto is_asking
    = [](const auto& entry) { return entry.second == place::asking; };
  if (std::any_of(places_.begin(), places_.end(), is_asking))
    return std::nullopt;
  for (const auto& work : open) {
    const auto i = places_.find(work.url.host);
    if (i != places_.end() && i->second != place::may_ask_again)
      continue;
    if (job_at(work.url.host) || not_in_flight(work.wants).empty())
      continue;
    places_[work.url.host] = place::asking;
    return work;
  }
  return std::nullopt;
}

void hunt::queued(const host_key& host) {
  places_[host] = place::queued;
}

void hunt::lost_place(const host_key& host) {
  places_.erase(host);
}

turn hunt::granted(const host_key& host, lease_id lease,
                   const std::vector<task>& open) {
  turn result;
  if (in_round_) {
    const bool may_start = jobs_.size() < max_jobs_ && !job_at(host);
    for (const auto& work : open) {
      if (work.url.host != host)
        continue;
      auto wants = not_in_flight(work.wants);
      if (wants.empty() || !may_start) {
        result.defer = true;
        continue;
      }
      result
        = {true, false, {host, work.url.text, work.kind, std::move(wants)}};
      break;
    }
  }
  if (result.defer)
    places_[host] = place::deferred;
  else
    places_.erase(host);
  if (result.start)
    jobs_.emplace(lease, job_state{result.job});
  return result;
}

void hunt::answered(lease_id lease, bool tried) {
  const auto i = jobs_.find(lease);
  if (i == jobs_.end())
    return;
  i->second.answered = true;
  if (tried)
    tried_.emplace(i->second.job.url.value, i->second.job.kind);
}

bool hunt::redirect(const remote_url& from, const clone_url& to) {
  int hops = 1;
  for (const auto& [source, other] : detours_)
    if (other.to.text == from)
      hops = other.hops + 1;
  // A detour that leads back would never end.
  const bool loops = detours_.contains(to.text) || from == to.text;
  if (hops > max_hops || loops)
    return false;
  detours_[from] = {to, hops};
  return true;
}

void hunt::settle(lease_id lease) {
  jobs_.erase(lease);
  // Whoever deferred because of this job may be asked once more.
  for (auto& [host, where] : places_)
    if (where == place::deferred)
      where = place::may_ask_again;
}

std::vector<host_key> hunt::take_useless_places(const std::vector<task>& open) {
  std::vector<host_key> result;
  for (auto i = places_.begin(); i != places_.end();) {
    const auto is_here
      = [&](const task& work) { return work.url.host == i->first; };
    // An open question is settled by its answer.
    if (i->second == place::asking
        || std::any_of(open.begin(), open.end(), is_here)) {
      ++i;
      continue;
    }
    result.push_back(i->first);
    i = places_.erase(i);
  }
  return result;
}

std::vector<oid> hunt::not_in_flight(const std::vector<oid>& wants) const {
  std::vector<oid> result;
  std::copy_if(
    wants.begin(), wants.end(), std::back_inserter(result),
    [&](const oid& want) {
      return std::none_of(jobs_.begin(), jobs_.end(), [&](const auto& running) {
        const auto& taken = running.second.job.wants;
        return std::find(taken.begin(), taken.end(), want) != taken.end();
      });
    });
  return result;
}

bool hunt::job_at(const host_key& host) const {
  // An answered job has given its lease back: the host may serve us again.
  return std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& running) {
    return running.second.job.host == host && !running.second.answered;
  });
}

} // namespace purgatory::git
