#include "app/io/store/store_file.hpp"

#include "app/io/store/schema.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace purgatory {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error{errno, std::generic_category(), what};
}

fs::path folder_of(const std::string& path) {
  const auto folder = fs::path{path}.parent_path();
  return folder.empty() ? fs::path{"."} : folder;
}

/// Makes names that appeared in or vanished from `folder` durable.
void sync_folder(const fs::path& folder) {
  const int descriptor
    = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    fail(folder.string());
  const int result = ::fsync(descriptor);
  ::close(descriptor);
  if (result != 0)
    fail(folder.string());
}

sqlite::connection open_checked(const std::string& path) {
  sqlite::connection database{path};
  sqlite::require_ours(database, path);
  if (database.text("PRAGMA journal_mode = WAL") != "wal")
    throw std::runtime_error{path + ": no write-ahead log on this file system"};
  database.run("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  auto verdict = database.text("PRAGMA quick_check(1)");
  std::replace(verdict.begin(), verdict.end(), '\n', ' ');
  if (verdict != "ok")
    throw sqlite::error{path + ": " + verdict, sqlite::damage_code};
  sqlite::migrate(database);
  return database;
}

/// A name beside `path` that is not taken, with the time in it.
std::string aside_name(const std::string& path) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto base
    = path + ".corrupt-"
      + std::to_string(
        std::chrono::duration_cast<std::chrono::seconds>(now).count());
  auto name = base;
  for (int copy = 2; fs::exists(name); ++copy)
    name = base + "-" + std::to_string(copy);
  return name;
}

/// Gives the damaged file, with its log, a second name that stays.
std::string keep_evidence(const std::string& path) {
  auto aside = aside_name(path);
  for (const char* part : {"", "-wal"})
    if (fs::exists(path + part))
      fs::create_hard_link(path + part, aside + part);
  return aside;
}

void remove_with_log(const std::string& path) {
  for (const char* part : {"", "-wal", "-shm"})
    fs::remove(path + part);
}

bool next_readable(sqlite::cursor& row) {
  try {
    return row.next();
  } catch (const sqlite::error&) {
    return false;
  }
}

struct rescue_step {
  const char* select;
  const char* insert;
  int columns;
};

// Named columns: a damaged file may be of an older version, with fewer.
constexpr const char* insert_event
  = "INSERT OR IGNORE INTO events (seq, id, kind, author, d, created_at, json, "
    "state, provenance, arrived) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

// From both ends, so that one broken page in the middle costs little more
// than itself. A step whose columns are not there is left out.
constexpr std::array<rescue_step, 11> rescue_steps = {{
  {"SELECT seq, id, kind, author, d, created_at, json, state, provenance, "
   "arrived FROM events WHERE json_valid(json) AND state BETWEEN 0 AND 13 "
   "AND provenance BETWEEN 0 AND 3 AND json_extract(json, '$.id') = id "
   "ORDER BY seq",
   insert_event, 10},
  {"SELECT seq, id, kind, author, d, created_at, json, state, provenance, "
   "arrived FROM events WHERE json_valid(json) AND state BETWEEN 0 AND 13 "
   "AND provenance BETWEEN 0 AND 3 AND json_extract(json, '$.id') = id "
   "ORDER BY seq DESC",
   insert_event, 10},
  {"SELECT live_arrived, rounds_at_arrival, hunting_window, parked_at, "
   "parked_round, id FROM events",
   "UPDATE events SET live_arrived = ?, rounds_at_arrival = ?, "
   "hunting_window = ?, parked_at = ?, parked_round = ? WHERE id = ?",
   6},
  {"SELECT d, owner, attempts FROM attempts",
   "INSERT OR IGNORE INTO attempts (d, owner, attempts, due) "
   "VALUES (?, ?, ?, 0)",
   3},
  {"SELECT rounds, due, d, owner FROM attempts",
   "UPDATE attempts SET rounds = ?, due = ? WHERE d = ? AND owner = ?", 4},
  {"SELECT event, owner, d, finished, changes FROM alignments",
   "INSERT OR IGNORE INTO alignments SELECT ?1, ?2, ?3, ?4, ?5 "
   "WHERE EXISTS (SELECT 1 FROM events WHERE id = ?1)",
   5},
  {"SELECT d, owner, url, memory FROM pairs WHERE json_valid(memory)",
   "INSERT OR IGNORE INTO pairs VALUES (?, ?, ?, ?)", 4},
  {"SELECT event, at, reason, urls FROM verdicts WHERE json_valid(urls)",
   "INSERT OR IGNORE INTO verdicts VALUES (?, ?, ?, ?)", 4},
  {"SELECT author, event, kind, d, until, since FROM tombstones",
   "INSERT OR IGNORE INTO tombstones (author, event, kind, d, until, since) "
   "VALUES (?, ?, ?, ?, ?, ?)",
   6},
  {"SELECT host, reason, blocks, failed_probes, blocked_until, "
   "learned_per_minute FROM hosts WHERE reason BETWEEN 0 AND 16",
   "INSERT OR IGNORE INTO hosts VALUES (?, ?, ?, ?, ?, ?)", 6},
  {"SELECT live FROM meta", "UPDATE meta SET live = ?", 1},
}};

void copy_rows(const sqlite::statement& source, const sqlite::statement& target,
               int columns) {
  auto row = source();
  while (next_readable(row)) {
    auto copy = target();
    for (int column = 0; column < columns; ++column)
      copy.bind_column(row, column);
    copy.run();
  }
}

void copy_readable(const sqlite::connection& from, const sqlite::connection& to,
                   const rescue_step& step) {
  const sqlite::statement target{to, step.insert};
  std::optional<sqlite::statement> source;
  try {
    source.emplace(from, step.select);
  } catch (const sqlite::error& problem) {
    if (problem.is_damage() || problem.is_mismatch())
      return;
    throw;
  }
  copy_rows(*source, target, step.columns);
}

/// Fills a new database at `rescued` with what can be read in `damaged`; the
/// number of events that came across.
std::int64_t rescue(const std::string& damaged, const std::string& rescued) {
  remove_with_log(rescued);
  auto fresh = open_checked(rescued);
  sqlite::connection old{damaged};
  old.keep_log_on_close();
  fresh.run("BEGIN IMMEDIATE; UPDATE meta SET runs = 1, clean = 0");
  for (const auto& step : rescue_steps)
    copy_readable(old, fresh, step);
  fresh.run("COMMIT");
  return fresh.number("SELECT count(*) FROM events");
}

/// Puts a rescued database in the place of the damaged one. A crash on the way
/// leaves the damaged one in place, so that the next start does it again.
void heal(const std::string& path, const std::string& why,
          const notice_sink& notice) {
  const auto aside = keep_evidence(path);
  const auto rescued = path + ".rescue";
  const auto events = rescue(aside, rescued);
  // A log beside a new database would be taken for that one's.
  fs::remove(path + "-wal");
  fs::remove(path + "-shm");
  fs::rename(rescued, path);
  sync_folder(folder_of(path));
  notice("The journal was damaged (" + why + "); it is kept as " + aside
         + ", and " + std::to_string(events) + " events in it could be read");
}

} // namespace

file_lock::file_lock(const std::string& path)
  : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
  if (descriptor_ < 0)
    fail(path);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0)
    return;
  const int problem = errno;
  ::close(descriptor_);
  if (problem != EWOULDBLOCK)
    throw std::system_error{problem, std::generic_category(), path};
  throw std::runtime_error{
    path + ": another purgatoryd works in this folder; stop it first"};
}

file_lock::~file_lock() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

file_lock::file_lock(file_lock&& other) noexcept
  : descriptor_(std::exchange(other.descriptor_, -1)) {}

sqlite::connection open_database(const std::string& path,
                                 const notice_sink& notice) {
  const bool is_new = !fs::exists(path);
  try {
    auto database = open_checked(path);
    if (is_new)
      sync_folder(folder_of(path));
    return database;
  } catch (const sqlite::error& problem) {
    if (!problem.is_damage())
      throw;
    heal(path, problem.what(), notice);
  }
  return open_checked(path);
}

} // namespace purgatory
