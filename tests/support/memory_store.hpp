#pragma once

#include "libsync/ports.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace purgatory::test {

/// What a disk would hold: the committed part of a journal.
struct memory_image {
  struct row {
    accept_record entry;
    std::uint64_t seq = 0;
  };
  std::map<event_id, row> events;
  std::map<identifier, std::map<std::uint64_t, event_id>> arrival_order;
  std::map<std::tuple<event_id, tenant>, align_record> alignments;
  std::map<identifier, std::map<pubkey, attempt_record>> attempts;
  std::map<identifier, std::optional<live_seconds>> asleep;
  std::map<identifier, std::set<host_key>> hosts_of;
  std::map<host_key, host_record> hosts;
  std::uint64_t next_seq = 0;
  std::uint64_t runs = 0;
  bool clean = true;
  unix_seconds stopped = 0;

  void apply(const journal_record& record) {
    std::visit([this](const auto& known) { apply_one(known); }, record);
  }

private:
  void apply_one(const sleep_record& record) {
    asleep[record.repo] = record.due;
  }

  void apply_one(const hosts_record& record) {
    hosts_of[record.repo] = {record.hosts.begin(), record.hosts.end()};
  }

  void apply_one(const host_record& record) { hosts[record.host] = record; }

  void apply_one(const accept_record& record) {
    asleep.erase(record.repo);
    const auto& id = record.event.id;
    if (const auto known = events.find(id); known != events.end()) {
      const auto& [entry, seq] = known->second;
      if (entry.state != entry_state::dropped)
        return;
      arrival_order[entry.repo].erase(seq);
    }
    arrival_order[record.repo].emplace(next_seq, id);
    events[id] = {record, next_seq++};
  }

  void apply_one(const state_record& record) {
    const auto known = events.find(record.id);
    if (known != events.end()
        && can_follow(known->second.entry.state, record.state))
      known->second.entry.state = record.state;
    if (known != events.end())
      asleep.erase(known->second.entry.repo);
  }

  void apply_one(const align_record& record) {
    if (!events.contains(record.id))
      return;
    auto& kept = alignments[{record.id, record.repository}];
    auto changes = record.finished ? record.changes : std::move(kept.changes);
    kept = record;
    kept.changes = std::move(changes);
  }

  void apply_one(const attempt_record& record) {
    asleep.erase(record.unit.repo);
    attempts[record.unit.repo][record.unit.owner] = record;
  }
};

/// A journal in memory that behaves like the one on disk. A crash is a new
/// store made from `image()`: what was not committed is gone.
class memory_store : public event_store {
public:
  struct counters {
    std::size_t batches = 0; ///< Calls of apply().
    std::size_t records = 0;
    std::size_t commits = 0; ///< That had something to commit.
  };

  explicit memory_store(memory_image from = {})
    : disk_(std::move(from)), last_run_{disk_.runs == 0, disk_.clean,
                                        disk_.clean ? disk_.stopped : 0} {
    ++disk_.runs;
    disk_.clean = false;
    live_ = disk_;
  }

  const memory_image& image() const { return disk_; }
  const counters& count() const { return count_; }

  void apply(const std::vector<journal_record>& records) override {
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

  void commit() override {
    if (!in_batch_)
      return;
    in_batch_ = false;
    ++count_.commits;
    for (const auto& record : std::exchange(batch_, {}))
      disk_.apply(record);
  }

  identifier_image load(const identifier& repo) override {
    identifier_image image{repo, {}, {}};
    for (const auto& [seq, id] : live_.arrival_order[repo])
      image.events.push_back(stored(live_.events.at(id).entry));
    for (const auto& [owner, attempt] : live_.attempts[repo])
      image.attempts.push_back(attempt);
    return image;
  }

  std::vector<pending_identifier> pending() override {
    std::map<identifier, pending_identifier> repos;
    for (const auto& [id, row] : live_.events) {
      const auto& repo = row.entry.repo;
      if (!is_waiting(row.entry.state))
        continue;
      const auto slept = live_.asleep.find(repo);
      repos[repo] = slept == live_.asleep.end()
                      ? pending_identifier{repo, false, {}}
                      : pending_identifier{repo, true, slept->second};
    }
    std::vector<pending_identifier> all;
    for (auto& [repo, known] : repos)
      all.push_back(std::move(known));
    return all;
  }

  std::vector<host_record> hosts() override {
    std::vector<host_record> all;
    for (const auto& [host, record] : live_.hosts)
      all.push_back(record);
    return all;
  }

  std::vector<identifier> interested(const host_key& host,
                                     const identifier& after,
                                     std::size_t limit) override {
    std::vector<identifier> page;
    for (auto i = live_.hosts_of.upper_bound(after);
         i != live_.hosts_of.end() && page.size() < limit; ++i)
      if (i->second.contains(host))
        page.push_back(i->first);
    return page;
  }

  std::optional<known_event> find(const event_id& id) override {
    const auto known = live_.events.find(id);
    if (known == live_.events.end())
      return std::nullopt;
    const auto& entry = known->second.entry;
    return known_event{id, entry.repo, entry.state};
  }

  previous_run last_run() const override { return last_run_; }

  void close_clean(unix_seconds now) override {
    commit();
    disk_.clean = true;
    disk_.stopped = now;
    closed_ = true;
  }

private:
  static stored_event stored(const accept_record& entry) {
    stored_event whole{entry.event, entry.state, entry.from, entry.arrived};
    if (!is_waiting(entry.state) && entry.state != entry_state::served) {
      whole.event.tags.clear();
      whole.event.content.clear();
      whole.event.sig.clear();
    }
    return whole;
  }

  memory_image disk_;
  memory_image live_;
  std::vector<journal_record> batch_;
  previous_run last_run_;
  counters count_;
  bool in_batch_ = false;
  bool closed_ = false;
};

} // namespace purgatory::test
