#include "libsync/git/hunt.hpp"

#include <algorithm>

namespace purgatory::git {

namespace {

/// Redirects to another host in one chain (rules §8.4).
constexpr int max_hops = 3;

/// A round does not wait longer than this for a job or a blocked host.
constexpr auto patience = std::chrono::seconds(60);

} // namespace

hunt::try_key hunt::key_of(const task& work) {
  return {work.url.text.value, work.kind, work.target};
}

// -- observers ----------------------------------------------------------------

bool hunt::has_young_job(time_point now) const {
  return std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& running) {
    return running.second.since + patience > now;
  });
}

std::vector<task> hunt::untried(std::vector<task> open) const {
  for (auto& work : open)
    for (auto i = detours_.find(work.url.text); i != detours_.end();
         i = detours_.find(work.url.text))
      work.url = i->second.to;
  auto seen = tried_;
  std::erase_if(open, [&](const task& work) {
    return work.wants.empty() || !seen.emplace(key_of(work)).second;
  });
  return open;
}

bool hunt::is_blocked(const host_key& host, time_point now) const {
  const auto i = places_.find(host);
  return i != places_.end() && i->second.where == standing::queued
         && i->second.view.blocked_until
         && *i->second.view.blocked_until > now + patience;
}

bool hunt::is_asking() const {
  return std::any_of(places_.begin(), places_.end(), [](const auto& known) {
    return known.second.where == standing::asking;
  });
}

const running_job* hunt::job(lease_id lease) const {
  const auto i = jobs_.find(lease);
  return i == jobs_.end() ? nullptr : &i->second.job;
}

bool hunt::is_in_flight(const oid& id) const {
  return std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& running) {
    const auto& wants = running.second.job.wants;
    return std::find(wants.begin(), wants.end(), id) != wants.end();
  });
}

std::optional<time_point> hunt::next_due(time_point now) const {
  std::optional<time_point> result;
  const auto consider = [&](time_point at) {
    if (at > now)
      result = result ? std::min(*result, at) : at;
  };
  if (!in_round_)
    return result;
  for (const auto& [lease, running] : jobs_) {
    consider(running.since + patience);
    if (!running.moving && !running.hedged && !running.answered)
      consider(running.since + limits_.hedge_delay);
  }
  for (const auto& [host, known] : places_)
    if (known.where == standing::queued && known.view.blocked_until)
      consider(*known.view.blocked_until - patience);
  return result;
}

bool hunt::waits_for(const task& work, const std::vector<task>& open,
                     time_point now) const {
  const auto i = places_.find(work.url.host);
  if (i != places_.end() && i->second.where == standing::asking)
    return true;
  if (i != places_.end() && i->second.where == standing::queued)
    return !is_blocked(work.url.host, now);
  return !job_at(work.url.host) && has_room_for(work, open)
         && !startable(work, now).empty();
}

// -- rounds -------------------------------------------------------------------

void hunt::begin_round() {
  in_round_ = true;
  tried_any_ = false;
  tried_.clear();
  detours_.clear();
  // Who waits at a blocked host looks how it stands, once in each round.
  for (auto& [host, known] : places_)
    if (known.where == standing::queued && known.view.blocked_until)
      known.where = standing::may_ask_again;
}

void hunt::end_round(bool still_missing) {
  in_round_ = false;
  if (still_missing)
    ++attempts_;
}

void hunt::tick(time_point now) {
  const bool due
    = std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& running) {
        return may_hedge(running.second, host_key{}, now);
      });
  if (!due)
    return;
  for (auto& [host, known] : places_)
    if (known.where == standing::deferred)
      known.where = standing::may_ask_again;
}

std::optional<task> hunt::next_to_ask(const std::vector<task>& open,
                                      time_point now) {
  if (!in_round_ || is_asking())
    return std::nullopt;
  for (const auto& work : open) {
    const auto i = places_.find(work.url.host);
    if (i != places_.end() && i->second.where != standing::may_ask_again)
      continue;
    if (job_at(work.url.host) || !has_room_for(work, open)
        || startable(work, now).empty())
      continue;
    const auto subject = i == places_.end() ? name_ : i->second.subject;
    places_[work.url.host] = {standing::asking, subject, {}};
    return work;
  }
  return std::nullopt;
}

// -- places -------------------------------------------------------------------

bool hunt::ask(const host_key& host) {
  return !job_at(host)
         && places_.try_emplace(host, place{standing::asking, name_, {}})
              .second;
}

void hunt::queued(const host_key& host, const host_view& view) {
  auto& known = places_[host];
  if (known.subject == unit_key{})
    known.subject = name_;
  known.where = standing::queued;
  known.view = view;
}

void hunt::lost_place(const host_key& host) {
  places_.erase(host);
}

turn hunt::granted(const unit_key& subject, const host_key& host,
                   lease_id lease, const std::vector<task>& open,
                   time_point now) {
  turn result;
  for (const auto& work : open) {
    if (work.url.host != host)
      continue;
    auto wants = startable(work, now);
    if (wants.empty() || job_at(host) || !has_room_for(work, open)) {
      result.defer = true;
      continue;
    }
    result = {true,
              false,
              {host, work.url.text, work.listed, work.kind, work.target,
               std::move(wants), work.own, subject}};
    break;
  }
  if (result.defer)
    places_[host] = {standing::deferred, subject, {}};
  else
    places_.erase(host);
  if (result.start) {
    note_hedges(result.job, now);
    jobs_.emplace(lease, job_state{result.job, now, false, false, false});
  }
  return result;
}

std::vector<queue_place>
hunt::take_useless_places(const std::vector<task>& useful) {
  std::vector<queue_place> result;
  for (auto i = places_.begin(); i != places_.end();) {
    const auto is_here
      = [&](const task& work) { return work.url.host == i->first; };
    // An open question is settled by its answer.
    if (i->second.where == standing::asking
        || std::any_of(useful.begin(), useful.end(), is_here)) {
      ++i;
      continue;
    }
    result.push_back({i->second.subject, i->first});
    i = places_.erase(i);
  }
  return result;
}

std::vector<queue_place> hunt::adopt(hunt& other) {
  std::vector<queue_place> surplus;
  for (auto& [host, theirs] : other.places_)
    if (!places_.try_emplace(host, theirs).second)
      surplus.push_back({theirs.subject, host});
  other.places_.clear();
  jobs_.merge(other.jobs_);
  return surplus;
}

// -- jobs ---------------------------------------------------------------------

void hunt::moving(lease_id lease) {
  if (const auto i = jobs_.find(lease); i != jobs_.end())
    i->second.moving = true;
}

void hunt::answered(lease_id lease, bool tried) {
  const auto i = jobs_.find(lease);
  if (i == jobs_.end())
    return;
  const auto& job = i->second.job;
  i->second.answered = true;
  if (tried)
    tried_.emplace(job.url.value, job.kind, job.target);
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
  for (auto& [host, known] : places_)
    if (known.where == standing::deferred)
      known.where = standing::may_ask_again;
}

bool hunt::may_hedge(const job_state& running, const host_key& host,
                     time_point now) const {
  return !running.moving && !running.hedged && !running.answered
         && running.job.host != host
         && running.since + limits_.hedge_delay <= now;
}

std::vector<oid> hunt::startable(const task& work, time_point now) const {
  std::vector<oid> result;
  const auto is_free = [&](const oid& want) {
    return std::none_of(jobs_.begin(), jobs_.end(), [&](const auto& running) {
      const auto& taken = running.second.job.wants;
      return !may_hedge(running.second, work.url.host, now)
             && std::find(taken.begin(), taken.end(), want) != taken.end();
    });
  };
  std::copy_if(work.wants.begin(), work.wants.end(), std::back_inserter(result),
               is_free);
  return result;
}

bool hunt::has_room_for(const task& work, const std::vector<task>& open) const {
  if (jobs_.size() >= limits_.max_jobs)
    return false;
  const bool is_last = jobs_.size() + 1 == limits_.max_jobs;
  if (!is_last || work.own || limits_.max_jobs == 1)
    return true;
  const bool own_runs
    = std::any_of(jobs_.begin(), jobs_.end(),
                  [](const auto& running) { return running.second.job.own; });
  const auto is_own = [](const task& other) { return other.own; };
  return own_runs || std::none_of(open.begin(), open.end(), is_own);
}

bool hunt::job_at(const host_key& host) const {
  // An answered job has given its lease back: the host may serve us again.
  return std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& running) {
    return running.second.job.host == host && !running.second.answered;
  });
}

void hunt::note_hedges(const running_job& started, time_point now) {
  for (auto& [lease, running] : jobs_) {
    const auto& taken = running.job.wants;
    const bool same = std::any_of(
      started.wants.begin(), started.wants.end(), [&](const oid& want) {
        return std::find(taken.begin(), taken.end(), want) != taken.end();
      });
    if (same && may_hedge(running, started.host, now))
      running.hedged = true;
  }
}

} // namespace purgatory::git
