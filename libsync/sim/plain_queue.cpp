#include "libsync/sim/plain_process.hpp"

#include <algorithm>

namespace purgatory::sim {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr duration loop_interval = seconds{1};

/// Between the question whether a domain has room and the note that a request
/// started there.
constexpr duration check_to_act = std::chrono::milliseconds{1};

} // namespace

void plain_process::poll() {
  std::vector<identifier> ready;
  for (auto& [repo, entry] : queue_)
    if (!entry.in_progress && entry.next_attempt <= scene_.now) {
      entry.in_progress = true;
      ready.push_back(repo);
    }
  for (const auto& repo : ready)
    go_on({repo, {}, false});
  later(loop_interval, [this] { poll(); });
}

std::vector<oid> plain_process::needed(const identifier& repo) const {
  std::vector<oid> result;
  const auto here = of_.find(repo);
  if (here == of_.end())
    return result;
  for (const auto& id : here->second) {
    const auto claim = scene_.claims.all().find(id);
    if (claim == scene_.claims.all().end())
      continue;
    for (const auto& object : claim->second.objects)
      if (!scene_.repositories.has({{}, repo}, object))
        result.push_back(object);
  }
  return result;
}

std::vector<remote_url> plain_process::urls(const identifier& repo) const {
  std::vector<remote_url> result;
  for (const auto& id : of_.at(repo)) {
    const auto claim = scene_.claims.all().find(id);
    if (claim == scene_.claims.all().end())
      continue;
    for (auto& url : scene_.claims.urls(claim->second))
      if (std::find(result.begin(), result.end(), url) == result.end())
        result.push_back(std::move(url));
  }
  return result;
}

bool plain_process::has_room(const host_key& host) {
  auto& at = domains_[host];
  const auto& limits = world_.daemon.limits;
  while (!at.starts.empty() && at.starts.front() + minutes{1} <= scene_.now)
    at.starts.pop_front();
  return at.in_flight < limits.concurrent
         && at.starts.size() < limits.per_minute;
}

/// The next step of an attempt: a URL, or its end.
void plain_process::go_on(attempt now) {
  process_events(now.repo);
  if (needed(now.repo).empty()) {
    finish(now, true);
    return;
  }
  std::vector<host_key> throttled;
  for (const auto& url : urls(now.repo)) {
    if (now.tried.contains(url))
      continue;
    const auto host = host_of(url.value);
    if (!has_room(host)) {
      throttled.push_back(host);
      continue;
    }
    later(check_to_act, [this, now, url] { fetch(now, url); });
    return;
  }
  for (const auto& host : throttled)
    enqueue(host, now.repo);
  finish(now, false);
}

void plain_process::finish(const attempt& over, bool complete) {
  const auto i = queue_.find(over.repo);
  if (i == queue_.end())
    return;
  i->second.in_progress = false;
  if (complete && of_[over.repo].empty()) {
    queue_.erase(i);
    return;
  }
  if (complete && over.from_queue)
    return;
  if (!over.from_queue)
    ++i->second.attempts;
  const auto shift = std::min(i->second.attempts, 4U);
  const duration pause = seconds{20} * (1U << (shift > 0 ? shift - 1 : 0));
  i->second.next_attempt = scene_.now + std::min<duration>(pause, seconds{120});
}

void plain_process::enqueue(const host_key& host, const identifier& repo) {
  auto& at = domains_[host];
  if (std::find(at.queue.begin(), at.queue.end(), repo) == at.queue.end())
    at.queue.push_back(repo);
  process_queue(host);
}

/// Round robin over the queue, who is in progress is passed over.
void plain_process::process_queue(const host_key& host) {
  auto& at = domains_[host];
  if (at.queue.empty() || !has_room(host))
    return;
  for (std::size_t i = 0; i < at.queue.size(); ++i) {
    const auto place = (at.turn + i) % at.queue.size();
    const auto repo = at.queue[place];
    const auto entry = queue_.find(repo);
    if (entry != queue_.end() && entry->second.in_progress)
      continue;
    at.queue.erase(at.queue.begin() + static_cast<std::ptrdiff_t>(place));
    at.turn = at.queue.empty() ? 0 : place % at.queue.size();
    if (entry == queue_.end() || needed(repo).empty())
      return;
    for (const auto& url : urls(repo))
      if (host_of(url.value) == host) {
        entry->second.in_progress = true;
        later(check_to_act, [this, repo, url] {
          fetch({repo, {}, true}, url);
        });
        return;
      }
    return;
  }
}

void plain_process::fetch(attempt now, const remote_url& url) {
  const auto host = host_of(url.value);
  auto& at = domains_[host];
  at.starts.push_back(scene_.now);
  ++at.in_flight;
  scene_.watch.started(host, {{}, now.repo}, url, scene_.now);
  auto course
    = scene_.host(host).visit(url, needed(now.repo), scene_.now, scene_.random);
  later(course.takes,
        [this, now = std::move(now), url, course = std::move(course)] {
          fetched(now, url, course);
        });
}

void plain_process::fetched(attempt now, const remote_url& url,
                            const job_course& course) {
  const auto host = host_of(url.value);
  scene_.watch.ended(host, {{}, now.repo}, url, course, scene_.now);
  --domains_[host].in_flight;
  scene_.repositories.add({{}, now.repo}, course.got);
  now.tried.insert(url);
  if (now.from_queue) {
    process_events(now.repo);
    finish(now, needed(now.repo).empty());
  } else {
    go_on(std::move(now));
  }
  process_queue(host);
}

} // namespace purgatory::sim
