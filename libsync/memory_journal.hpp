#pragma once

#include "libsync/git/tombstones.hpp"
#include "libsync/ports.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace purgatory {

/// What a journal holds after its records: the meaning of each of them, in
/// plain containers. The store on disk has to agree with it.
class journal_image {
public:
  struct row {
    accept_record entry;
    std::uint64_t seq = 0;
  };

  void apply(const journal_record& record);

  [[nodiscard]] identifier_image load(const identifier& repo) const;
  [[nodiscard]] std::vector<pending_identifier> pending() const;
  [[nodiscard]] std::vector<identifier> interested_in(const host_key& host,
                                                      const identifier& after,
                                                      std::size_t limit) const;
  [[nodiscard]] const row* find(const event_id& id) const;
  [[nodiscard]] bool is_buried(const pubkey& author, const event_id& id) const;
  [[nodiscard]] std::vector<host_record> hosts() const;
  [[nodiscard]] const std::map<event_id, row>& events() const {
    return events_;
  }
  [[nodiscard]] const std::map<std::tuple<event_id, tenant>, align_record>&
  alignments() const {
    return alignments_;
  }

  std::uint64_t runs = 0;
  bool clean = true;
  unix_seconds stopped = 0;
  live_seconds live = 0;

private:
  void apply_one(const accept_record& record);
  void apply_one(const state_record& record);
  void apply_one(const align_record& record);
  void apply_one(const attempt_record& record);
  void apply_one(const horizon_record& record);
  void apply_one(const pair_record& record);
  void apply_one(const verdict_record& record);
  void apply_one(const tombstone_record& record);
  void apply_one(const sleep_record& record);
  void apply_one(const hosts_record& record);
  void apply_one(const host_record& record);
  void wake(const identifier& repo) { sleepers_.erase(repo); }
  void recount(const row& one, int by);

  std::map<event_id, row> events_;
  std::map<identifier, std::map<std::uint64_t, event_id>> arrival_order_;
  std::map<identifier, int> lively_; ///< Entries that wait or are verdicts.
  std::map<std::tuple<event_id, tenant>, align_record> alignments_;
  std::map<identifier, std::map<pubkey, attempt_record>> attempts_;
  std::map<identifier, std::map<std::tuple<pubkey, remote_url>, pair_record>>
    pairs_;
  std::map<event_id, verdict_record> verdicts_;
  git::tombstones stones_;
  std::map<identifier, sleep_record> sleepers_;
  std::map<identifier, std::vector<host_key>> hosts_of_;
  std::map<host_key, std::set<identifier>> interested_;
  std::map<host_key, host_record> hosts_;
  std::uint64_t next_seq_ = 0;
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

  explicit memory_store(journal_image from = {});

  const journal_image& image() const { return disk_; }
  const counters& count() const { return count_; }

  void apply(const std::vector<journal_record>& records) override;
  void commit() override;
  void stamp(live_seconds now) override;
  identifier_image load(const identifier& repo) override;
  std::vector<pending_identifier> pending() override;
  std::vector<host_record> hosts() override { return live_.hosts(); }
  std::vector<identifier> interested_in(const host_key& host,
                                        const identifier& after,
                                        std::size_t limit) override {
    return live_.interested_in(host, after, limit);
  }
  bool is_buried(const pubkey& author, const event_id& id) override {
    return live_.is_buried(author, id);
  }
  std::optional<known_event> find(const event_id& id) override;
  previous_run last_run() const override { return last_run_; }
  void close_clean(unix_seconds now) override;

private:
  journal_image disk_;
  journal_image live_;
  std::vector<journal_record> batch_;
  previous_run last_run_;
  counters count_;
  live_seconds stamped_ = 0;
  bool in_batch_ = false;
  bool closed_ = false;
};

} // namespace purgatory
