#include "libsync/memory_journal.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

namespace purgatory {

namespace {

bool is_lively(entry_state state) {
  return is_waiting(state) || state == entry_state::verdict;
}

stored_event stored(const accept_record& entry) {
  stored_event whole{entry.event, entry.state, entry.from, entry.arrived,
                     entry.horizon};
  if (!is_lively(entry.state) && entry.state != entry_state::served) {
    whole.event.tags.clear();
    whole.event.content.clear();
    whole.event.sig.clear();
  }
  return whole;
}

} // namespace

// -- records ------------------------------------------------------------------

void journal_image::apply(const journal_record& record) {
  std::visit([this](const auto& known) { apply_one(known); }, record);
}

void journal_image::recount(const row& one, int by) {
  if (!is_lively(one.entry.state))
    return;
  auto& count = lively_[one.entry.repo];
  count += by;
  if (count > 0)
    return;
  // Nobody is left who could use what was remembered.
  lively_.erase(one.entry.repo);
  pairs_.erase(one.entry.repo);
}

void journal_image::apply_one(const accept_record& record) {
  wake(record.repo);
  const auto& id = record.event.id;
  if (const auto known = events_.find(id); known != events_.end()) {
    const auto before = known->second;
    if (before.entry.state != entry_state::dropped
        && before.entry.state != entry_state::verdict)
      return;
    arrival_order_[before.entry.repo].erase(before.seq);
    arrival_order_[record.repo].emplace(next_seq_, id);
    known->second = {record, next_seq_++};
    verdicts_.erase(id);
    recount(known->second, 1);
    recount(before, -1);
    return;
  }
  arrival_order_[record.repo].emplace(next_seq_, id);
  events_[id] = {record, next_seq_++};
  recount(events_[id], 1);
}

void journal_image::apply_one(const state_record& record) {
  const auto known = events_.find(record.id);
  if (known == events_.end())
    return;
  wake(known->second.entry.repo);
  if (!can_follow(known->second.entry.state, record.state))
    return;
  const auto before = known->second;
  known->second.entry.state = record.state;
  recount(known->second, 1);
  recount(before, -1);
  if (record.state != entry_state::verdict)
    verdicts_.erase(record.id);
}

void journal_image::apply_one(const align_record& record) {
  const auto known = events_.find(record.id);
  if (known == events_.end())
    return;
  wake(known->second.entry.repo);
  auto& kept = alignments_[{record.id, record.repository}];
  auto changes = record.finished ? record.changes : std::move(kept.changes);
  kept = record;
  kept.changes = std::move(changes);
}

void journal_image::apply_one(const attempt_record& record) {
  wake(record.unit.repo);
  attempts_[record.unit.repo][record.unit.owner] = record;
}

void journal_image::apply_one(const horizon_record& record) {
  const auto known = events_.find(record.id);
  if (known == events_.end())
    return;
  wake(known->second.entry.repo);
  known->second.entry.horizon = record.horizon;
}

void journal_image::apply_one(const pair_record& record) {
  wake(record.unit.repo);
  if (lively_.contains(record.unit.repo))
    pairs_[record.unit.repo][{record.unit.owner, record.url}] = record;
}

void journal_image::apply_one(const verdict_record& record) {
  const auto known = events_.find(record.id);
  if (known == events_.end())
    return;
  wake(known->second.entry.repo);
  if (known->second.entry.state == entry_state::verdict)
    verdicts_[record.id] = record;
}

void journal_image::apply_one(const tombstone_record& record) {
  if (!record.id && !record.repo)
    return;
  if (!record.id)
    wake(*record.repo);
  stones_.expire(record.since);
  stones_.bury(record);
}

void journal_image::apply_one(const sleep_record& record) {
  sleepers_[record.repo] = record;
}

void journal_image::apply_one(const hosts_record& record) {
  for (const auto& host : std::exchange(hosts_of_[record.repo], record.hosts))
    interested_[host].erase(record.repo);
  for (const auto& host : record.hosts)
    interested_[host].insert(record.repo);
}

void journal_image::apply_one(const host_record& record) {
  hosts_[record.host] = record;
}

// -- questions ----------------------------------------------------------------

identifier_image journal_image::load(const identifier& repo) const {
  identifier_image image;
  image.repo = repo;
  if (const auto order = arrival_order_.find(repo);
      order != arrival_order_.end())
    for (const auto& [seq, id] : order->second) {
      image.events.push_back(stored(events_.at(id).entry));
      if (const auto old = verdicts_.find(id); old != verdicts_.end())
        image.verdicts.push_back(old->second);
    }
  if (const auto found = attempts_.find(repo); found != attempts_.end())
    for (const auto& [owner, attempt] : found->second)
      image.attempts.push_back(attempt);
  if (const auto found = pairs_.find(repo); found != pairs_.end())
    for (const auto& [key, pair] : found->second)
      image.pairs.push_back(pair);
  image.tombstones = stones_.of(repo);
  return image;
}

std::vector<pending_identifier> journal_image::pending() const {
  std::vector<pending_identifier> result;
  for (const auto& [repo, count] : lively_) {
    const auto rest = sleepers_.find(repo);
    if (rest == sleepers_.end())
      result.push_back({repo, false, std::nullopt});
    else
      result.push_back({repo, true, rest->second.due});
  }
  return result;
}

std::vector<identifier> journal_image::interested_in(const host_key& host,
                                                     const identifier& after,
                                                     std::size_t limit) const {
  std::vector<identifier> result;
  const auto found = interested_.find(host);
  if (found == interested_.end())
    return result;
  const auto& all = found->second;
  for (auto i = all.upper_bound(after); i != all.end() && result.size() < limit;
       ++i)
    if (lively_.contains(*i) && sleepers_.contains(*i))
      result.push_back(*i);
  return result;
}

const journal_image::row* journal_image::find(const event_id& id) const {
  const auto known = events_.find(id);
  return known == events_.end() ? nullptr : &known->second;
}

bool journal_image::is_buried(const pubkey& author, const event_id& id) const {
  return stones_.cover(author, id);
}

std::vector<host_record> journal_image::hosts() const {
  std::vector<host_record> result;
  for (const auto& [name, host] : hosts_)
    result.push_back(host);
  return result;
}

// -- store --------------------------------------------------------------------

memory_store::memory_store(journal_image from)
  : disk_(std::move(from)), last_run_{disk_.runs == 0, disk_.clean,
                                      disk_.clean ? disk_.stopped : 0,
                                      disk_.live},
    stamped_(disk_.live) {
  ++disk_.runs;
  disk_.clean = false;
  live_ = disk_;
}

void memory_store::apply(const std::vector<journal_record>& records) {
  if (closed_)
    throw std::runtime_error{"journal: written to after it was closed"};
  ++count_.batches;
  count_.records += records.size();
  in_batch_ = true;
  for (const auto& record : records) {
    live_.apply(record);
    batch_.push_back(record);
  }
}

void memory_store::commit() {
  if (!in_batch_)
    return;
  in_batch_ = false;
  ++count_.commits;
  for (const auto& record : std::exchange(batch_, {}))
    disk_.apply(record);
  disk_.live = stamped_;
}

void memory_store::stamp(live_seconds now) {
  stamped_ = std::max(stamped_, now);
}

identifier_image memory_store::load(const identifier& repo) {
  return live_.load(repo);
}

std::vector<pending_identifier> memory_store::pending() {
  return live_.pending();
}

std::optional<known_event> memory_store::find(const event_id& id) {
  const auto* known = live_.find(id);
  if (known == nullptr)
    return std::nullopt;
  return known_event{id, known->entry.repo, known->entry.state};
}

void memory_store::close_clean(unix_seconds now) {
  commit();
  disk_.clean = true;
  disk_.stopped = now;
  disk_.live = stamped_;
  closed_ = true;
}

} // namespace purgatory
