#include "libsync/engine/job_board.hpp"

#include <algorithm>

namespace purgatory::engine {

// -- observers ----------------------------------------------------------------

bool job_board::is_running(lease_id id) const {
  const auto found = jobs_.find(id);
  return found != jobs_.end() && found->second.state != phase::waiting;
}

bool job_board::is_cancelled(lease_id id) const {
  const auto found = jobs_.find(id);
  return found != jobs_.end() && found->second.state == phase::cancelled;
}

bool job_board::has_room(const gate& g) const {
  return g.hosts == 0 || g.running < limits_.per_prefix;
}

std::size_t job_board::slow_in_all() const {
  return std::max<std::size_t>(1, limits_.workers / 2);
}

job_board::age job_board::age_of(lease_id id, const job& entry) {
  return {entry.since, entry.arrival, id};
}

// -- what happened ------------------------------------------------------------

board_orders job_board::add(lease_id id, const host_key& name, time_point now) {
  if (jobs_.contains(id))
    return settle(now);
  auto& h = busy(name);
  const auto arrival = next_++;
  jobs_.emplace(id, job{&h, arrival, {}, phase::waiting});
  change(*h.at, [&] {
    hide_head(h);
    h.waiting.emplace(arrival, id);
    show_head(h);
  });
  return settle(now);
}

board_orders job_board::end(lease_id id, time_point now,
                            const std::string& prefix) {
  remove(id, prefix);
  return settle(now);
}

board_orders job_board::tick(time_point now) {
  return settle(now);
}

std::vector<lease_id> job_board::give_up_waiting() {
  std::map<number, lease_id> in_order;
  for (const auto& [id, entry] : jobs_)
    if (entry.state == phase::waiting)
      in_order.emplace(entry.arrival, id);
  std::vector<lease_id> given_up;
  for (const auto& [arrival, id] : in_order) {
    given_up.push_back(id);
    remove(id, {});
  }
  return given_up;
}

board_orders job_board::settle(time_point now) {
  board_orders orders;
  grow_old(now, orders);
  start_next(now, orders);
  if (!young_.empty())
    orders.wake = young_.begin()->since + limits_.slow_after;
  return orders;
}

// -- gates and hosts ----------------------------------------------------------

template <class Change>
void job_board::change(gate& g, Change&& what) {
  if (!g.heads.empty())
    ready_.erase(g.heads.begin()->first);
  what();
  if (!g.heads.empty() && has_room(g))
    ready_.emplace(g.heads.begin()->first, &g);
}

void job_board::hide_head(host& h) {
  if (!h.waiting.empty())
    h.at->heads.erase(h.waiting.begin()->first);
}

void job_board::show_head(host& h) {
  if (!h.waiting.empty())
    h.at->heads.emplace(h.waiting.begin()->first, &h);
}

job_board::host& job_board::busy(const host_key& name) {
  auto& h = hosts_[name];
  if (h.at == nullptr) {
    h.name = name;
    h.at = &h.own;
  }
  if (h.idle_since != 0)
    idle_.erase(std::exchange(h.idle_since, 0));
  return h;
}

void job_board::rest_if_idle(host& h) {
  if (h.running > 0 || !h.waiting.empty())
    return;
  if (!h.prefix.empty()) {
    h.idle_since = next_++;
    idle_.emplace(h.idle_since, &h);
    if (idle_.size() <= limits_.known_hosts)
      return;
  }
  // Without prefix there is nothing to remember of it; else the oldest goes.
  auto& leaving = h.prefix.empty() ? h : *idle_.begin()->second;
  if (leaving.idle_since != 0)
    idle_.erase(leaving.idle_since);
  leave_gate(leaving);
  hosts_.erase(host_key{leaving.name});
}

void job_board::leave_gate(host& h) {
  if (h.at != &h.own && --h.at->hosts == 0)
    prefixes_.erase(h.prefix);
}

void job_board::move_to(host& h, const std::string& prefix) {
  if (prefix.empty() || prefix == h.prefix)
    return;
  change(*h.at, [&] {
    hide_head(h);
    h.at->running -= h.running;
  });
  leave_gate(h);
  h.prefix = prefix;
  h.at = &prefixes_[prefix];
  change(*h.at, [&] {
    ++h.at->hosts;
    h.at->running += h.running;
    show_head(h);
  });
}

// -- jobs ---------------------------------------------------------------------

void job_board::remove(lease_id id, const std::string& prefix) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end())
    return;
  const auto entry = found->second;
  auto& h = *entry.where;
  jobs_.erase(found);
  if (entry.state == phase::waiting) {
    change(*h.at, [&] {
      hide_head(h);
      h.waiting.erase(entry.arrival);
      show_head(h);
    });
  } else {
    change(*h.at, [&] {
      --h.running;
      --h.at->running;
    });
    --running_;
    young_.erase(age_of(id, entry));
    slow_.erase(age_of(id, entry));
    h.slow.erase(age_of(id, entry));
  }
  move_to(h, prefix);
  rest_if_idle(h);
}

void job_board::grow_old(time_point now, board_orders& orders) {
  while (!young_.empty() && young_.begin()->since + limits_.slow_after <= now) {
    const auto oldest = *young_.begin();
    young_.erase(young_.begin());
    auto& entry = jobs_.at(oldest.id);
    entry.state = phase::slow;
    auto& at_host = entry.where->slow;
    at_host.insert(oldest);
    slow_.insert(oldest);
    if (at_host.size() > limits_.slow_per_host)
      cancel(*at_host.begin(), orders);
    else if (slow_.size() > slow_in_all())
      cancel(*slow_.begin(), orders);
  }
}

void job_board::cancel(age which, board_orders& orders) {
  auto& entry = jobs_.at(which.id);
  entry.state = phase::cancelled;
  entry.where->slow.erase(which);
  slow_.erase(which);
  orders.cancel.push_back(which.id);
}

void job_board::start_next(time_point now, board_orders& orders) {
  while (running_ < limits_.workers && !ready_.empty()) {
    auto& g = *ready_.begin()->second;
    auto& h = *g.heads.begin()->second;
    const auto id = h.waiting.begin()->second;
    change(g, [&] {
      hide_head(h);
      h.waiting.erase(h.waiting.begin());
      show_head(h);
      ++h.running;
      ++g.running;
    });
    auto& entry = jobs_.at(id);
    entry.since = now;
    entry.state = phase::young;
    young_.insert(age_of(id, entry));
    ++running_;
    orders.start.push_back(id);
  }
}

// -- for tests ----------------------------------------------------------------

std::string job_board::check_invariants() const {
  std::size_t waiting_jobs = 0;
  std::size_t running_jobs = 0;
  std::size_t slow_jobs = 0;
  std::size_t idle_hosts = 0;
  std::unordered_map<const gate*, std::size_t> running_at;
  for (const auto& [name, h] : hosts_) {
    waiting_jobs += h.waiting.size();
    running_jobs += h.running;
    slow_jobs += h.slow.size();
    idle_hosts += h.idle_since != 0 ? 1 : 0;
    running_at[h.at] += h.running;
    if ((h.at == &h.own) != h.prefix.empty())
      return "a host stands at the wrong gate";
    if (h.waiting.empty() && h.running == 0 && h.idle_since == 0)
      return "an idle host is not known as idle";
  }
  for (const auto& [g, count] : running_at) {
    if (g->running != count)
      return "a gate counts wrong";
    const bool listed
      = !g->heads.empty() && ready_.contains(g->heads.begin()->first);
    if (listed != (!g->heads.empty() && has_room(*g)))
      return "a gate is listed wrong";
  }
  if (waiting_jobs != waiting() || running_jobs != running_)
    return "jobs are lost";
  if (slow_jobs != slow_.size() || slow_.size() > slow_in_all())
    return "slow jobs are counted wrong";
  if (idle_hosts != idle_.size() || idle_.size() > limits_.known_hosts)
    return "idle hosts are counted wrong";
  if (prefixes_.size() > hosts_.size())
    return "a gate without hosts";
  return {};
}

} // namespace purgatory::engine
