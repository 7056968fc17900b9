#include "libsync/engine/host_table.hpp"

namespace purgatory::engine {

bool is_plain(const host_standing& standing) {
  return standing.blocks == 0 && standing.failed_probes == 0
         && standing.blocked_until == 0 && standing.learned_per_minute == 0;
}

std::optional<host_standing> host_table::find(const host_key& host) const {
  const auto found = rows_.find(host);
  if (found == rows_.end())
    return std::nullopt;
  return found->second.standing;
}

std::optional<host_key> host_table::remember(const host_key& host,
                                             const host_standing& standing,
                                             live_seconds now) {
  if (const auto known = rows_.find(host); known != rows_.end())
    forget(known);
  if (is_plain(standing))
    return std::nullopt;
  auto left = make_room();
  const row fresh{standing, ++clock_, standing.blocked_until > now};
  const auto placed = rows_.emplace(host, fresh).first;
  index(placed->first, placed->second);
  return left;
}

std::optional<live_seconds> host_table::next_end() const {
  if (ends_.empty())
    return std::nullopt;
  return ends_.begin()->first.first;
}

std::vector<host_key> host_table::take_ended(live_seconds now,
                                             std::size_t limit) {
  std::vector<host_key> ended;
  while (!ends_.empty() && ended.size() < limit
         && ends_.begin()->first.first <= now) {
    const auto& host = *ends_.begin()->second;
    auto& r = rows_.at(host);
    unindex(r);
    r.blocked = false;
    index(host, r);
    ended.push_back(host);
  }
  return ended;
}

void host_table::index(const host_key& host, const row& r) {
  leaving_.emplace(std::pair{r.blocked, r.touched}, &host);
  if (r.blocked)
    ends_.emplace(std::pair{r.standing.blocked_until, r.touched}, &host);
}

void host_table::unindex(const row& r) {
  leaving_.erase({r.blocked, r.touched});
  ends_.erase({r.standing.blocked_until, r.touched});
}

void host_table::forget(rows::iterator who) {
  unindex(who->second);
  rows_.erase(who);
}

std::optional<host_key> host_table::make_room() {
  if (rows_.size() < capacity_)
    return std::nullopt;
  auto oldest = *leaving_.begin()->second;
  forget(rows_.find(oldest));
  return oldest;
}

std::string host_table::check_invariants() const {
  if (rows_.size() > capacity_)
    return "no more rows than there is room";
  if (leaving_.size() != rows_.size())
    return "each row can leave";
  std::size_t blocked = 0;
  for (const auto& [host, r] : rows_)
    blocked += r.blocked ? 1U : 0U;
  if (blocked != ends_.size())
    return "an end for each block";
  return {};
}

} // namespace purgatory::engine
