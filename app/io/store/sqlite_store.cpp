#include "app/io/store/sqlite_store.hpp"

#include "app/io/store/event_text.hpp"
#include "app/io/store/record_text.hpp"
#include "app/io/store/store_sql.hpp"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

namespace purgatory {

namespace {

using namespace sqlite::sql;

bool is_lively(entry_state state) {
  return is_waiting(state) || state == entry_state::verdict;
}

entry_state state_from(std::int64_t number) {
  if (number < 0 || number > static_cast<int>(entry_state::soft_expired))
    throw std::runtime_error{"journal: no such state"};
  return static_cast<entry_state>(number);
}

provenance provenance_from(std::int64_t number) {
  if (number < 0 || number > static_cast<int>(provenance::served))
    throw std::runtime_error{"journal: no such provenance"};
  return static_cast<provenance>(number);
}

nostr::event event_from(const sqlite::cursor& row) {
  if (!row.is_null(7))
    return decode_event(row.text(7));
  nostr::event ended;
  ended.id = event_id{std::string{row.text(0)}};
  ended.author = pubkey{std::string{row.text(1)}};
  ended.kind = static_cast<std::uint32_t>(row.number(2));
  ended.created_at = row.number(3);
  return ended;
}

entry_horizon horizon_from(const sqlite::cursor& row) {
  entry_horizon result;
  result.arrived = row.number(8);
  result.rounds_at_arrival = static_cast<std::uint32_t>(row.number(9));
  result.window = row.number(10);
  if (!row.is_null(11))
    result.parked_at = row.number(11);
  result.parked_round = static_cast<std::uint32_t>(row.number(12));
  return result;
}

class sqlite_store final : public event_store {
public:
  sqlite_store(file_lock lock, sqlite::connection database)
    : lock_(std::move(lock)), database_(std::move(database)) {
    note_previous_run();
  }

  void apply(const std::vector<journal_record>& records) override {
    begin();
    for (const auto& record : records)
      std::visit([this](const auto& known) { apply_one(known); }, record);
  }

  void commit() override {
    if (!in_batch_)
      return;
    stamp_(live_).run();
    database_.run("COMMIT");
    in_batch_ = false;
  }

  void stamp(live_seconds now) override { live_ = std::max(live_, now); }

  identifier_image load(const identifier& repo) override {
    identifier_image image;
    image.repo = repo;
    auto row = load_(repo.value);
    while (row.next())
      image.events.push_back({event_from(row), state_from(row.number(4)),
                              provenance_from(row.number(5)), row.number(6),
                              horizon_from(row)});
    auto attempt = load_attempts_(repo.value);
    while (attempt.next())
      image.attempts.push_back({{pubkey{std::string{attempt.text(0)}}, repo},
                                static_cast<std::uint32_t>(attempt.number(1)),
                                static_cast<std::uint32_t>(attempt.number(2)),
                                attempt.number(3)});
    auto pair = load_pairs_(repo.value);
    while (pair.next())
      image.pairs.push_back({{pubkey{std::string{pair.text(0)}}, repo},
                             remote_url{std::string{pair.text(1)}},
                             decode_memory(pair.text(2))});
    auto verdict = load_verdicts_(repo.value);
    while (verdict.next())
      image.verdicts.push_back({event_id{std::string{verdict.text(0)}},
                                verdict.number(1), std::string{verdict.text(2)},
                                decode_urls(verdict.text(3))});
    auto stone = load_tombstones_(repo.value);
    while (stone.next())
      image.tombstones.push_back({pubkey{std::string{stone.text(0)}},
                                  std::nullopt,
                                  static_cast<std::uint32_t>(stone.number(1)),
                                  repo, stone.number(2), stone.number(3)});
    return image;
  }

  std::vector<pending_identifier> pending() override {
    std::vector<pending_identifier> repos;
    auto row = pending_();
    while (row.next()) {
      pending_identifier one{identifier{std::string{row.text(0)}},
                             row.number(1) != 0, std::nullopt};
      if (one.asleep && !row.is_null(2))
        one.due = row.number(2);
      repos.push_back(std::move(one));
    }
    return repos;
  }

  std::vector<host_record> hosts() override {
    std::vector<host_record> result;
    auto row = load_hosts_();
    while (row.next())
      result.push_back(
        {host_key{std::string{row.text(0)}}, class_from(row.number(1)),
         static_cast<std::uint32_t>(row.number(2)),
         static_cast<std::uint64_t>(row.number(3)), row.number(4),
         static_cast<std::uint32_t>(row.number(5))});
    return result;
  }

  std::vector<identifier> interested_in(const host_key& host,
                                        const identifier& after,
                                        std::size_t limit) override {
    std::vector<identifier> result;
    auto row
      = interested_(host.value, after.value, static_cast<std::int64_t>(limit));
    while (row.next())
      result.emplace_back(std::string{row.text(0)});
    return result;
  }

  bool is_buried(const pubkey& author, const event_id& id) override {
    return buried_(author.value, id.value).next();
  }

  std::optional<known_event> find(const event_id& id) override {
    auto row = find_(id.value);
    if (!row.next())
      return std::nullopt;
    return known_event{id, identifier{std::string{row.text(0)}},
                       state_from(row.number(1))};
  }

  previous_run last_run() const override { return last_run_; }

  void close_clean(unix_seconds now) override {
    commit();
    const sqlite::statement note{
      database_, "UPDATE meta SET clean = 1, stopped = ?, live = ?"};
    note(now, live_).run();
    closed_ = true;
  }

private:
  void note_previous_run() {
    const sqlite::statement meta{database_,
                                 "SELECT runs, clean, stopped, live FROM meta"};
    auto row = meta();
    if (!row.next())
      throw std::runtime_error{"journal: no record of earlier runs"};
    last_run_.first = row.number(0) == 0;
    last_run_.clean = row.number(1) != 0;
    last_run_.stopped = last_run_.clean ? row.number(2) : 0;
    last_run_.live = row.number(3);
    live_ = last_run_.live;
    database_.run("UPDATE meta SET runs = runs + 1, clean = 0");
  }

  void begin() {
    if (closed_)
      throw std::runtime_error{"journal: written to after it was closed"};
    if (in_batch_)
      return;
    database_.run("BEGIN IMMEDIATE");
    in_batch_ = true;
  }

  void apply_one(const accept_record& record) {
    const auto& ev = record.event;
    const auto before = find(ev.id);
    wake_(record.repo.value).run();
    accept_(
      ev.id.value, std::int64_t{ev.kind}, ev.author.value, record.repo.value,
      ev.created_at, encode_event(ev), static_cast<std::int64_t>(record.state),
      static_cast<std::int64_t>(record.from), record.arrived,
      record.horizon.arrived, std::int64_t{record.horizon.rounds_at_arrival},
      record.horizon.window, std::int64_t{record.horizon.parked_at.has_value()},
      record.horizon.parked_at.value_or(0),
      std::int64_t{record.horizon.parked_round})
      .run();
    // It takes the place of a verdict.
    if (before && before->state == entry_state::verdict) {
      lift_(ev.id.value).run();
      forget_pairs_(before->repo.value).run();
    }
  }

  void apply_one(const state_record& record) {
    const auto known = find(record.id);
    if (!known)
      return;
    wake_(known->repo.value).run();
    if (!can_follow(known->state, record.state))
      return;
    set_state_(static_cast<std::int64_t>(record.state), record.id.value).run();
    if (record.state != entry_state::verdict)
      lift_(record.id.value).run();
    if (!is_lively(record.state))
      forget_pairs_(known->repo.value).run();
  }

  void apply_one(const align_record& record) {
    wake_by_event_(record.id.value).run();
    align_(record.id.value, record.repository.owner.value,
           record.repository.repo.value, std::int64_t{record.finished},
           encode_changes(record.changes))
      .run();
  }

  void apply_one(const attempt_record& record) {
    wake_(record.unit.repo.value).run();
    attempt_(record.unit.repo.value, record.unit.owner.value,
             std::int64_t{record.attempts}, std::int64_t{record.rounds},
             record.due)
      .run();
  }

  void apply_one(const horizon_record& record) {
    const auto& h = record.horizon;
    wake_by_event_(record.id.value).run();
    set_horizon_(h.arrived, std::int64_t{h.rounds_at_arrival}, h.window,
                 std::int64_t{h.parked_at.has_value()}, h.parked_at.value_or(0),
                 std::int64_t{h.parked_round}, record.id.value)
      .run();
  }

  void apply_one(const pair_record& record) {
    wake_(record.unit.repo.value).run();
    pair_(record.unit.repo.value, record.unit.owner.value, record.url.value,
          encode_memory(record.memory))
      .run();
  }

  void apply_one(const verdict_record& record) {
    wake_by_event_(record.id.value).run();
    verdict_(record.id.value, record.at, record.reason,
             encode_urls(record.urls))
      .run();
  }

  void apply_one(const tombstone_record& record) {
    if (!record.id && !record.repo)
      return;
    const auto repo = record.id ? identifier{} : *record.repo;
    if (!record.id)
      wake_(repo.value).run();
    expire_tombstones_(record.since).run();
    stones_ -= database_.changes();
    if (!is_tombstone(record, repo))
      ++stones_;
    tombstone_(record.author.value, record.id.value_or(event_id{}).value,
               std::int64_t{record.id ? 0 : record.kind}, repo.value,
               record.until, record.since)
      .run();
    trim_author_(record.author.value).run();
    stones_ -= database_.changes();
    if (stones_ <= max_tombstones)
      return;
    trim_all_(stones_ - max_tombstones).run();
    stones_ -= database_.changes();
  }

  bool is_tombstone(const tombstone_record& record, const identifier& repo) {
    return known_tombstone_(
             record.author.value, record.id.value_or(event_id{}).value,
             std::int64_t{record.id ? 0 : record.kind}, repo.value)
      .next();
  }

  void apply_one(const sleep_record& record) {
    sleep_(record.repo.value, std::int64_t{record.due.has_value()},
           record.due.value_or(0))
      .run();
  }

  void apply_one(const hosts_record& record) {
    lose_interest_(record.repo.value).run();
    for (const auto& host : record.hosts)
      interest_(host.value, record.repo.value).run();
  }

  void apply_one(const host_record& record) {
    host_(record.host.value, static_cast<std::int64_t>(record.reason),
          std::int64_t{record.blocks},
          static_cast<std::int64_t>(record.failed_probes), record.blocked_until,
          std::int64_t{record.learned_per_minute})
      .run();
  }

  file_lock lock_;
  sqlite::connection database_;
  sqlite::statement accept_{database_, accept_sql};
  sqlite::statement set_state_{database_,
                               "UPDATE events SET state = ? WHERE id = ?"};
  sqlite::statement align_{database_, align_sql};
  sqlite::statement attempt_{database_, attempt_sql};
  sqlite::statement load_{database_, load_sql};
  sqlite::statement load_attempts_{
    database_, "SELECT owner, attempts, rounds, due FROM attempts WHERE d = ? "
               "ORDER BY owner"};
  sqlite::statement set_horizon_{database_, horizon_sql};
  sqlite::statement pair_{database_, pair_sql};
  sqlite::statement forget_pairs_{database_, forget_pairs_sql};
  sqlite::statement load_pairs_{
    database_,
    "SELECT owner, url, memory FROM pairs WHERE d = ? ORDER BY owner, url"};
  sqlite::statement verdict_{database_, verdict_sql};
  sqlite::statement lift_{database_, "DELETE FROM verdicts WHERE event = ?"};
  sqlite::statement load_verdicts_{
    database_, "SELECT v.event, v.at, v.reason, v.urls FROM events AS e "
               "JOIN verdicts AS v ON v.event = e.id WHERE e.d = ? "
               "ORDER BY e.seq"};
  sqlite::statement tombstone_{database_, tombstone_sql};
  sqlite::statement expire_tombstones_{database_, expire_tombstones_sql};
  sqlite::statement known_tombstone_{
    database_, "SELECT 1 FROM tombstones WHERE author = ? AND event = ? "
               "AND kind = ? AND d = ?"};
  sqlite::statement trim_author_{database_, trim_author_sql};
  sqlite::statement trim_all_{database_, trim_all_sql};
  sqlite::statement load_tombstones_{
    database_, "SELECT author, kind, until, since FROM tombstones "
               "WHERE d = ? AND event = '' ORDER BY seq"};
  sqlite::statement buried_{
    database_, "SELECT 1 FROM tombstones WHERE author = ? AND event = ?"};
  sqlite::statement sleep_{database_,
                           "INSERT INTO sleepers VALUES (?, iif(?, ?, NULL)) "
                           "ON CONFLICT (d) DO UPDATE SET due = excluded.due"};
  sqlite::statement wake_{database_, "DELETE FROM sleepers WHERE d = ?"};
  sqlite::statement wake_by_event_{database_, wake_by_event_sql};
  sqlite::statement interest_{database_,
                              "INSERT OR IGNORE INTO interests VALUES (?, ?)"};
  sqlite::statement lose_interest_{database_,
                                   "DELETE FROM interests WHERE d = ?"};
  sqlite::statement interested_{database_, interested_sql};
  sqlite::statement host_{database_, host_sql};
  sqlite::statement load_hosts_{
    database_, "SELECT host, reason, blocks, failed_probes, blocked_until, "
               "learned_per_minute FROM hosts ORDER BY host"};
  sqlite::statement stamp_{database_, "UPDATE meta SET live = ?"};
  sqlite::statement pending_{database_, pending_sql};
  sqlite::statement find_{database_,
                          "SELECT d, state FROM events WHERE id = ?"};
  previous_run last_run_;
  live_seconds live_ = 0; ///< Stamped last.
  /// Number of tombstones: to count them each time would walk them all.
  std::int64_t stones_ = database_.number("SELECT count(*) FROM tombstones");
  bool in_batch_ = false;
  bool closed_ = false;
};

} // namespace

std::unique_ptr<event_store> open_sqlite_store(const std::string& path,
                                               const notice_sink& notice) {
  const auto folder = std::filesystem::path{path}.parent_path();
  if (!folder.empty())
    std::filesystem::create_directories(folder);
  file_lock lock{path + ".lock"};
  return std::make_unique<sqlite_store>(std::move(lock),
                                        open_database(path, notice));
}

} // namespace purgatory
