// Journals that older versions left behind.

#define CAF_SUITE store_migration

#include "app/io/store/schema.hpp"
#include "app/io/store/sqlite.hpp"
#include "app/io/store/sqlite_store.hpp"
#include "app/io/store/store_sql.hpp"
#include "tests/support/scratch_folder.hpp"

#include <caf/test/dsl.hpp>

#include <memory>
#include <string>
#include <vector>

using namespace purgatory;
using namespace purgatory::test;

namespace {

/// As the first version wrote it; never to be changed.
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

std::string quoted(const std::string& text) {
  return "'" + text + "'";
}

struct fixture {
  scratch_folder folder;
  std::string path = folder / "journal.sqlite";
  std::vector<std::string> notices;

  std::unique_ptr<event_store> open() {
    return open_sqlite_store(
      path, [this](const std::string& what) { notices.push_back(what); });
  }

  static event_id id_of(char digit) { return event_id{std::string(64, digit)}; }
  static std::string owner() { return std::string(64, 'a'); }

  static std::string event_row(int seq, char digit, const std::string& d,
                               int state) {
    const auto id = id_of(digit).value;
    const auto json = R"({"id":")" + id + R"(","pubkey":")" + owner()
                      + R"(","created_at":7,"kind":30618,"tags":[["d",")" + d
                      + R"("]],"content":"","sig":"x"})";
    return "INSERT INTO events VALUES (" + std::to_string(seq) + ","
           + quoted(id) + ",30618," + quoted(owner()) + "," + quoted(d) + ",7,"
           + quoted(json) + "," + std::to_string(state) + ",1,"
           + std::to_string(1000 + seq) + ");";
  }

  /// Events of all states of then, a schedule on the wall clock, an alignment.
  void write_first_version() {
    sqlite::connection old{path};
    old.run("PRAGMA journal_mode = WAL");
    old.run(first_schema);
    old.run(event_row(1, '5', "r", 1) + event_row(2, '2', "r", 6)
            + event_row(3, '9', "r", 4) + event_row(4, '4', "gone", 10)
            + event_row(5, '3', "waits", 0));
    old.run("INSERT INTO attempts VALUES ('r'," + quoted(owner())
            + ",4,1767225600);");
    old.run("INSERT INTO alignments VALUES (" + quoted(id_of('2').value) + ","
            + quoted(owner()) + R"(,'r',1,'[["refs/heads/main",null,"e"]]');)");
    old.run("UPDATE meta SET runs = 3, clean = 1, stopped = 1767225000");
    old.run("PRAGMA application_id = 1347768903; PRAGMA user_version = 1");
  }

  /// How SQLite would answer `sql`, one step a line.
  std::string plan_of(const std::string& sql) {
    const sqlite::connection database{path};
    const sqlite::statement explain{database, "EXPLAIN QUERY PLAN " + sql};
    std::string text;
    auto row = explain();
    while (row.next())
      text += std::string{row.text(3)} + "\n";
    return text;
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(store_migration_tests, fixture)

CAF_TEST(a journal of the first version opens and keeps everything) {
  write_first_version();
  auto store = open();
  CAF_CHECK(notices.empty());
  CAF_CHECK(!store->last_run().first);
  CAF_CHECK(store->last_run().clean);
  CAF_CHECK_EQUAL(store->last_run().stopped, 1767225000);
  CAF_CHECK_EQUAL(store->last_run().live, 0);
  const auto image = store->load(identifier{"r"});
  CAF_REQUIRE_EQUAL(image.events.size(), 3u);
  const std::vector<std::pair<char, entry_state>> expected
    = {{'5', entry_state::hunting},
       {'2', entry_state::served},
       {'9', entry_state::aligning}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& known = image.events[i];
    CAF_CHECK_EQUAL(known.event.id.value, id_of(expected[i].first).value);
    CAF_CHECK(known.state == expected[i].second);
    CAF_CHECK(known.from == provenance::sync);
    CAF_CHECK_EQUAL(known.arrived, static_cast<unix_seconds>(1001 + i));
    CAF_CHECK_EQUAL(known.event.tags.size(), 1u);
    // No window yet: one begins with the next restore.
    CAF_CHECK(known.horizon == entry_horizon{});
  }
  CAF_CHECK(image.pairs.empty());
  CAF_CHECK(image.verdicts.empty());
  CAF_CHECK(image.tombstones.empty());
  CAF_CHECK(store->hosts().empty());
  const std::vector<pending_identifier> pending
    = {{identifier{"r"}}, {identifier{"waits"}}};
  CAF_CHECK(store->pending() == pending);
  CAF_REQUIRE(store->find(id_of('4')));
  CAF_CHECK(store->find(id_of('4'))->state == entry_state::dropped);
  store.reset();
  sqlite::connection database{path};
  CAF_CHECK_EQUAL(database.number("SELECT count(*) FROM alignments"), 1);
  CAF_CHECK_EQUAL(database.number("PRAGMA user_version"),
                  sqlite::schema_version());
}

CAF_TEST(attempts of the first version count on and are due without delay) {
  write_first_version();
  const auto attempts = open()->load(identifier{"r"}).attempts;
  CAF_REQUIRE_EQUAL(attempts.size(), 1u);
  CAF_CHECK_EQUAL(attempts[0].unit.owner.value, owner());
  CAF_CHECK_EQUAL(attempts[0].attempts, 4u);
  // A wall time would lie half a century ahead on the live clock.
  CAF_CHECK_EQUAL(attempts[0].due, 0);
}

CAF_TEST(a migrated journal takes every new word) {
  write_first_version();
  auto store = open();
  const entry_horizon parked{5, 2, 1800, 1900, 3};
  store->apply({state_record{id_of('5'), entry_state::parked},
                horizon_record{id_of('5'), parked},
                sleep_record{identifier{"r"}, 500}});
  store->stamp(60);
  store->commit();
  store.reset();
  store = open();
  CAF_CHECK(store->load(identifier{"r"}).events.at(0).horizon == parked);
  CAF_CHECK(store->pending().at(0).asleep);
  CAF_CHECK_EQUAL(store->last_run().live, 60);
}

CAF_TEST(who waits is read from an index that the ended are not in) {
  open();
  const auto plan = plan_of(sqlite::sql::pending_sql);
  CAF_MESSAGE(plan);
  CAF_CHECK(contains(plan, "USING COVERING INDEX events_lively"));
}

CAF_TEST(whom a host concerns is found without a walk through everything) {
  open();
  const auto plan = plan_of(sqlite::sql::interested_sql);
  CAF_MESSAGE(plan);
  CAF_CHECK(!contains(plan, "SCAN"));
  CAF_CHECK(!contains(plan, "TEMP B-TREE"));
}

CAF_TEST(tombstones are trimmed without sorting them) {
  open();
  for (const char* sql :
       {sqlite::sql::trim_author_sql, sqlite::sql::trim_all_sql}) {
    const auto plan = plan_of(sql);
    CAF_MESSAGE(plan);
    CAF_CHECK(!contains(plan, "TEMP B-TREE"));
  }
}

CAF_TEST(of a hundred thousand and one tombstones the oldest goes) {
  open();
  sqlite::connection{path}.run(
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
    "WHERE i < 100000) INSERT INTO tombstones (author, event, kind, d, until, "
    "since) SELECT 'a' || (i / 500), 'e' || i, 0, '', 5, 100 + i FROM n");
  const auto author
    = [](int i) { return pubkey{"a" + std::to_string(i / 500)}; };
  const auto event = [](int i) { return event_id{"e" + std::to_string(i)}; };
  auto store = open();
  store->apply(
    {tombstone_record{author(7), event(7), 0, std::nullopt, 5, 200000}});
  CAF_CHECK(store->is_buried(author(1), event(1)));
  store->apply(
    {tombstone_record{pubkey{"b"}, id_of('1'), 0, std::nullopt, 5, 200001}});
  store->commit();
  CAF_CHECK(!store->is_buried(author(1), event(1)));
  CAF_CHECK(store->is_buried(author(2), event(2)));
  CAF_CHECK(store->is_buried(pubkey{"b"}, id_of('1')));
}

CAF_TEST_FIXTURE_SCOPE_END()
