#include "app/io/store/sqlite_store.hpp"

#include "app/io/store/event_text.hpp"

#include <filesystem>
#include <stdexcept>
#include <utility>

namespace purgatory {

namespace {

// The SQL below has the numbers in it.
static_assert(static_cast<int>(entry_state::publishing) == 5);
static_assert(static_cast<int>(entry_state::served) == 6);
static_assert(static_cast<int>(entry_state::dropped) == 10);

// A dropped event that comes again arrives anew, at the end of the order.
constexpr const char* accept_sql = R"(
INSERT INTO events
  (id, kind, author, d, created_at, json, state, provenance, arrived)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
  seq = (SELECT max(seq) + 1 FROM events), d = excluded.d,
  json = excluded.json, state = excluded.state,
  provenance = excluded.provenance, arrived = excluded.arrived
WHERE state = 10)";

constexpr const char* align_sql = R"(
INSERT INTO alignments (event, owner, d, finished, changes)
SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS (SELECT 1 FROM events WHERE id = ?1)
ON CONFLICT (event, owner, d) DO UPDATE SET
  changes = iif(excluded.finished, excluded.changes, changes),
  finished = excluded.finished)";

constexpr const char* attempt_sql = R"(
INSERT INTO attempts (d, owner, attempts, due) VALUES (?, ?, ?, ?)
ON CONFLICT (d, owner) DO UPDATE SET
  attempts = excluded.attempts, due = excluded.due)";

constexpr const char* load_sql = R"(
SELECT id, author, kind, created_at, state, provenance, arrived,
  iif(state <= 6, json, NULL)
FROM events WHERE d = ? ORDER BY seq)";

entry_state state_from(std::int64_t number) {
  if (number < 0 || number > static_cast<int>(entry_state::dropped))
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
    database_.run("COMMIT");
    in_batch_ = false;
  }

  identifier_image load(const identifier& repo) override {
    identifier_image image{repo, {}, {}};
    auto row = load_(repo.value);
    while (row.next())
      image.events.push_back({event_from(row), state_from(row.number(4)),
                              provenance_from(row.number(5)), row.number(6)});
    auto attempt = load_attempts_(repo.value);
    while (attempt.next())
      image.attempts.push_back({{pubkey{std::string{attempt.text(0)}}, repo},
                                static_cast<std::uint32_t>(attempt.number(1)),
                                attempt.number(2)});
    return image;
  }

  std::vector<identifier> pending() override {
    std::vector<identifier> repos;
    auto row = pending_();
    while (row.next())
      repos.emplace_back(std::string{row.text(0)});
    return repos;
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
    const sqlite::statement note{database_,
                                 "UPDATE meta SET clean = 1, stopped = ?"};
    note(now).run();
    closed_ = true;
  }

private:
  void note_previous_run() {
    const sqlite::statement meta{database_,
                                 "SELECT runs, clean, stopped FROM meta"};
    auto row = meta();
    if (!row.next())
      throw std::runtime_error{"journal: no record of earlier runs"};
    last_run_.first = row.number(0) == 0;
    last_run_.clean = row.number(1) != 0;
    last_run_.stopped = last_run_.clean ? row.number(2) : 0;
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
    accept_(ev.id.value, std::int64_t{ev.kind}, ev.author.value,
            record.repo.value, ev.created_at, encode_event(ev),
            static_cast<std::int64_t>(record.state),
            static_cast<std::int64_t>(record.from), record.arrived)
      .run();
  }

  void apply_one(const state_record& record) {
    const auto known = find(record.id);
    if (known && can_follow(known->state, record.state))
      set_state_(static_cast<std::int64_t>(record.state), record.id.value)
        .run();
  }

  void apply_one(const align_record& record) {
    align_(record.id.value, record.repository.owner.value,
           record.repository.repo.value, std::int64_t{record.finished},
           encode_changes(record.changes))
      .run();
  }

  void apply_one(const attempt_record& record) {
    attempt_(record.unit.repo.value, record.unit.owner.value,
             std::int64_t{record.attempts}, record.due)
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
    database_,
    "SELECT owner, attempts, due FROM attempts WHERE d = ? ORDER BY owner"};
  sqlite::statement pending_{
    database_, "SELECT DISTINCT d FROM events WHERE state <= 5 ORDER BY d"};
  sqlite::statement find_{database_,
                          "SELECT d, state FROM events WHERE id = ?"};
  previous_run last_run_;
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
