#define CAF_SUITE store_file

#include "app/io/store/schema.hpp"
#include "app/io/store/sqlite.hpp"
#include "app/io/store/sqlite_store.hpp"
#include "tests/support/scratch_folder.hpp"

#include <caf/test/dsl.hpp>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

using namespace purgatory;
using namespace purgatory::test;

namespace {

namespace fs = std::filesystem;

std::string hex_id(int number) {
  auto digits = std::to_string(number);
  return std::string(64 - digits.size(), '0') + digits;
}

accept_record event_number(int number) {
  accept_record record;
  record.event.id = event_id{hex_id(number)};
  record.event.author = pubkey{std::string(64, 'a')};
  record.event.kind = nostr::kind_state;
  record.event.tags = {{"d", "repo"}};
  record.event.content = std::string(1000, 'x');
  record.repo = identifier{"repo"};
  return record;
}

struct fixture {
  scratch_folder folder;
  std::string path = folder / "data/journal.sqlite";
  std::vector<std::string> notices;

  std::unique_ptr<event_store> open() {
    return open_sqlite_store(
      path, [this](const std::string& what) { notices.push_back(what); });
  }

  void fill(int events) {
    auto store = open();
    for (int number = 0; number < events; ++number)
      store->apply({event_number(number)});
    store->apply({attempt_record{
      {pubkey{std::string(64, 'a')}, identifier{"repo"}}, 4, 4, 400}});
    store->commit();
    store->close_clean(1);
  }

  /// Overwrites bytes in the middle of the file.
  void scribble(std::uintmax_t from, std::size_t size) {
    std::fstream file{path, std::ios::binary | std::ios::in | std::ios::out};
    file.seekp(static_cast<std::streamoff>(from));
    file << std::string(size, '\x5A');
  }

  std::vector<std::string> files_with(const std::string& part) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator{folder.path() / "data"})
      if (entry.path().filename().string().find(part) != std::string::npos)
        names.push_back(entry.path().string());
    return names;
  }

  /// What opening is refused with, or nothing.
  std::string refusal() {
    try {
      open();
    } catch (const std::runtime_error& problem) {
      return problem.what();
    }
    return {};
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(store_file_tests, fixture)

CAF_TEST(the folder and the file are made when they are missing) {
  CAF_CHECK(open()->pending().empty());
  CAF_CHECK(fs::exists(path));
  CAF_CHECK(notices.empty());
}

CAF_TEST(a new journal is a write ahead log in the newest schema) {
  const auto store = open();
  sqlite::connection other{path};
  CAF_CHECK_EQUAL(other.text("PRAGMA journal_mode"), "wal");
  CAF_CHECK_EQUAL(other.number("PRAGMA user_version"),
                  sqlite::schema_version());
}

CAF_TEST(a second daemon can not open the same journal) {
  const auto store = open();
  const auto why = refusal();
  CAF_MESSAGE(why);
  CAF_CHECK(contains(why, "another purgatoryd works in this folder"));
}

CAF_TEST(the journal is free again when its owner has gone) {
  open().reset();
  CAF_CHECK_EQUAL(refusal(), "");
}

CAF_TEST(a journal of a newer version is refused and left as it is) {
  fill(1);
  sqlite::connection{path}.run("PRAGMA user_version = 999");
  const auto why = refusal();
  CAF_MESSAGE(why);
  CAF_CHECK(contains(why, "newer purgatoryd (schema 999"));
  CAF_CHECK(contains(why, path));
  CAF_CHECK(files_with("corrupt").empty());
  CAF_CHECK_EQUAL(sqlite::connection{path}.number("PRAGMA user_version"), 999);
}

CAF_TEST(the database of another program is refused and left as it is) {
  fs::create_directories(folder / "data");
  sqlite::connection{path}.run("CREATE TABLE theirs (x)");
  const auto why = refusal();
  CAF_MESSAGE(why);
  CAF_CHECK(contains(why, "not a database of purgatoryd"));
  CAF_CHECK_EQUAL(
    sqlite::connection{path}.number("SELECT count(*) FROM sqlite_master"), 1);
}

CAF_TEST(a file that is no database is kept aside and the journal is empty) {
  fill(10);
  scribble(0, 4096);
  auto store = open();
  CAF_CHECK(store->pending().empty());
  CAF_CHECK(!store->last_run().clean);
  CAF_REQUIRE_EQUAL(notices.size(), 1u);
  CAF_MESSAGE(notices[0]);
  const auto aside = files_with("corrupt-");
  CAF_REQUIRE_EQUAL(aside.size(), 1u);
  CAF_CHECK(contains(notices[0], aside[0]));
  CAF_CHECK(contains(notices[0], "0 events"));
  store->apply({event_number(1)});
  store->commit();
  store.reset();
  notices.clear();
  CAF_CHECK_EQUAL(open()->pending().size(), 1u);
  CAF_CHECK(notices.empty());
}

CAF_TEST(what is readable in a damaged file is taken over) {
  constexpr int events = 400;
  fill(events);
  scribble(fs::file_size(path) / 2, 8192);
  auto store = open();
  CAF_REQUIRE_EQUAL(notices.size(), 1u);
  CAF_MESSAGE(notices[0]);
  const auto image = store->load(identifier{"repo"});
  CAF_MESSAGE("rescued " << image.events.size() << " of " << events);
  CAF_CHECK(image.events.size() > events * 9 / 10);
  CAF_CHECK(image.events.size() < events);
  CAF_CHECK_EQUAL(image.events.front().event.id.value, hex_id(0));
  CAF_CHECK_EQUAL(image.events.back().event.id.value, hex_id(events - 1));
  CAF_REQUIRE_EQUAL(image.attempts.size(), 1u);
  CAF_CHECK_EQUAL(image.attempts[0].attempts, 4u);
  CAF_CHECK(files_with(".rescue").empty());
}

CAF_TEST(a log cut off in the middle leaves the batches before the cut) {
  {
    auto store = open();
    for (int number = 0; number < 20; ++number) {
      store->apply({event_number(number)});
      store->commit();
    }
    fs::copy_file(path, folder / "torn");
    fs::copy_file(path + "-wal", folder / "torn-wal");
  }
  path = folder / "torn";
  fs::resize_file(path + "-wal", fs::file_size(path + "-wal") * 2 / 3);
  const auto image = open()->load(identifier{"repo"});
  CAF_MESSAGE("left: " << image.events.size());
  CAF_CHECK(!image.events.empty());
  CAF_CHECK(image.events.size() < 20);
  for (std::size_t i = 0; i < image.events.size(); ++i)
    CAF_CHECK_EQUAL(image.events[i].event.id.value,
                    hex_id(static_cast<int>(i)));
  CAF_CHECK(notices.empty());
}

CAF_TEST(a file that can not be opened is an error and nothing else) {
  fs::create_directories(path);
  CAF_CHECK(!refusal().empty());
  CAF_CHECK(files_with("corrupt").empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
