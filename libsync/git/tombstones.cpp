#include "libsync/git/tombstones.hpp"

#include <algorithm>

namespace purgatory::git {

bool tombstones::cover(const nostr::event& ev, const identifier& repo) const {
  if (cover(ev.author, ev.id))
    return true;
  const auto i = stones_.find({ev.author, {}, ev.kind, repo});
  return i != stones_.end() && ev.created_at <= i->second.until;
}

bool tombstones::cover(const pubkey& author, const event_id& id) const {
  return stones_.contains({author, id, 0, {}});
}

std::vector<tombstone_record> tombstones::of(const identifier& repo) const {
  std::vector<tombstone_record> result;
  const auto own = by_repo_.find(repo);
  if (own == by_repo_.end())
    return result;
  for (const auto& [number, which] : own->second) {
    const auto& known = stones_.at(which);
    result.push_back({which.author, std::nullopt, which.kind, which.repo,
                      known.until, known.since});
  }
  return result;
}

void tombstones::bury(const tombstone_record& what) {
  const key which{what.author, what.id, what.id ? 0 : what.kind,
                  what.id ? std::nullopt : what.repo};
  auto until = what.until;
  if (const auto i = stones_.find(which); i != stones_.end()) {
    until = std::max(until, i->second.until);
    remove(which);
  }
  const stone next{until, what.since, next_number_++};
  stones_.emplace(which, next);
  by_age_.emplace(age{next.since, next.number}, which);
  auto& own = by_author_[what.author];
  own.emplace(age{next.since, next.number}, which);
  if (which.repo)
    by_repo_[*which.repo].emplace(next.number, which);
  if (own.size() > limits_.per_author)
    remove(key{own.begin()->second});
  if (by_age_.size() > limits_.total)
    remove(key{by_age_.begin()->second});
}

void tombstones::expire(unix_seconds now) {
  while (!by_age_.empty()
         && std::get<0>(by_age_.begin()->first) + limits_.life <= now)
    remove(key{by_age_.begin()->second});
}

void tombstones::remove(const key& which) {
  const auto node = stones_.extract(which);
  if (node.empty())
    return;
  const age when{node.mapped().since, node.mapped().number};
  by_age_.erase(when);
  const auto own = by_author_.find(which.author);
  own->second.erase(when);
  if (own->second.empty())
    by_author_.erase(own);
  if (!which.repo)
    return;
  const auto there = by_repo_.find(*which.repo);
  there->second.erase(node.mapped().number);
  if (there->second.empty())
    by_repo_.erase(there);
}

} // namespace purgatory::git
