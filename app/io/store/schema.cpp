#include "app/io/store/schema.hpp"

#include "app/io/store/sqlite.hpp"
#include "libsync/journal.hpp"

#include <array>
#include <stdexcept>

namespace purgatory::sqlite {

namespace {

/// "PURG": tells our files from other programs' databases.
constexpr std::int64_t application_id = 0x50555247;

// The waiting index has the number in it.
static_assert(static_cast<int>(entry_state::publishing) == 5);

constexpr const char* first_schema = R"(
CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind INTEGER NOT NULL,
  author TEXT NOT NULL,
  d TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  json TEXT NOT NULL,
  state INTEGER NOT NULL,
  provenance INTEGER NOT NULL,
  arrived INTEGER NOT NULL);
CREATE INDEX events_by_identifier ON events (d);
CREATE INDEX events_waiting ON events (d) WHERE state <= 5;
CREATE TABLE alignments (
  event TEXT NOT NULL REFERENCES events (id),
  owner TEXT NOT NULL,
  d TEXT NOT NULL,
  finished INTEGER NOT NULL,
  changes TEXT NOT NULL,
  PRIMARY KEY (event, owner, d)) WITHOUT ROWID;
CREATE TABLE attempts (
  d TEXT NOT NULL,
  owner TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  due INTEGER NOT NULL,
  PRIMARY KEY (d, owner)) WITHOUT ROWID;
CREATE TABLE meta (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  runs INTEGER NOT NULL,
  clean INTEGER NOT NULL,
  stopped INTEGER NOT NULL);
INSERT INTO meta VALUES (1, 0, 1, 0);
)";

static_assert(static_cast<int>(entry_state::parked) == 11);
static_assert(static_cast<int>(entry_state::soft_expired) == 13);

/// The long horizon: windows, parked rounds, verdicts, what URLs answered, who
/// sleeps, how hosts stand. `due` of an attempt is on the live clock from here
/// on; what was there before is due at once.
constexpr const char* second_schema = R"(
ALTER TABLE events ADD COLUMN live_arrived INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN rounds_at_arrival INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN hunting_window INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN parked_at INTEGER;
ALTER TABLE events ADD COLUMN parked_round INTEGER NOT NULL DEFAULT 0;
DROP INDEX events_waiting;
CREATE INDEX events_lively ON events (d, state)
  WHERE state <= 5 OR state >= 11;
ALTER TABLE attempts ADD COLUMN rounds INTEGER NOT NULL DEFAULT 0;
UPDATE attempts SET due = 0;
CREATE TABLE pairs (
  d TEXT NOT NULL,
  owner TEXT NOT NULL,
  url TEXT NOT NULL,
  memory TEXT NOT NULL,
  PRIMARY KEY (d, owner, url)) WITHOUT ROWID;
CREATE TABLE verdicts (
  event TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  reason TEXT NOT NULL,
  urls TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tombstones (
  seq INTEGER PRIMARY KEY,
  author TEXT NOT NULL,
  event TEXT NOT NULL,
  kind INTEGER NOT NULL,
  d TEXT NOT NULL,
  until INTEGER NOT NULL,
  since INTEGER NOT NULL,
  UNIQUE (author, event, kind, d));
CREATE INDEX tombstones_by_author ON tombstones (author, since);
CREATE INDEX tombstones_by_age ON tombstones (since);
CREATE INDEX tombstones_by_identifier ON tombstones (d);
CREATE TABLE sleepers (
  d TEXT PRIMARY KEY,
  due INTEGER) WITHOUT ROWID;
CREATE TABLE interests (
  host TEXT NOT NULL,
  d TEXT NOT NULL,
  PRIMARY KEY (host, d)) WITHOUT ROWID;
CREATE INDEX interests_by_identifier ON interests (d);
CREATE TABLE hosts (
  host TEXT PRIMARY KEY,
  reason INTEGER NOT NULL,
  blocks INTEGER NOT NULL,
  failed_probes INTEGER NOT NULL,
  blocked_until INTEGER NOT NULL,
  learned_per_minute INTEGER NOT NULL) WITHOUT ROWID;
ALTER TABLE meta ADD COLUMN live INTEGER NOT NULL DEFAULT 0;
)";

/// In order; released ones never change. `PRAGMA user_version` counts them.
constexpr std::array<const char*, 2> migrations = {first_schema, second_schema};

} // namespace

int schema_version() {
  return static_cast<int>(migrations.size());
}

void require_ours(connection& database, const std::string& path) {
  const auto id = database.number("PRAGMA application_id");
  const auto version = database.number("PRAGMA user_version");
  const bool blank
    = id == 0 && version == 0
      && database.number("SELECT count(*) FROM sqlite_master") == 0;
  if (!blank && id != application_id)
    throw std::runtime_error{path + ": not a database of purgatoryd"};
  if (version > schema_version())
    throw std::runtime_error{path + ": written by a newer purgatoryd (schema "
                             + std::to_string(version)
                             + ", this version knows up to "
                             + std::to_string(schema_version()) + ")"};
}

void migrate(connection& database) {
  const auto version = database.number("PRAGMA user_version");
  for (auto next = static_cast<std::size_t>(version); next < migrations.size();
       ++next)
    database.run("BEGIN IMMEDIATE; " + std::string{migrations.at(next)}
                 + "PRAGMA application_id = " + std::to_string(application_id)
                 + "; PRAGMA user_version = " + std::to_string(next + 1)
                 + "; COMMIT");
}

} // namespace purgatory::sqlite
