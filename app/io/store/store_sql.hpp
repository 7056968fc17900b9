#pragma once

#include "libsync/journal.hpp"

/// The statements of the store; the tables are in schema.cpp.
namespace purgatory::sqlite::sql {

// The SQL below has the numbers in it; 11 to 13 wait or may be revived.
static_assert(static_cast<int>(entry_state::publishing) == 5);
static_assert(static_cast<int>(entry_state::served) == 6);
static_assert(static_cast<int>(entry_state::dropped) == 10);
static_assert(static_cast<int>(entry_state::parked) == 11);
static_assert(static_cast<int>(entry_state::verdict) == 12);
static_assert(static_cast<int>(entry_state::soft_expired) == 13);

// A dropped event, or one given up, that comes again arrives anew, at the end
// of the order.
inline constexpr const char* accept_sql = R"(
INSERT INTO events
  (id, kind, author, d, created_at, json, state, provenance, arrived,
   live_arrived, rounds_at_arrival, hunting_window, parked_at, parked_round)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, iif(?, ?, NULL), ?)
ON CONFLICT (id) DO UPDATE SET
  seq = (SELECT max(seq) + 1 FROM events), d = excluded.d,
  json = excluded.json, state = excluded.state,
  provenance = excluded.provenance, arrived = excluded.arrived,
  live_arrived = excluded.live_arrived,
  rounds_at_arrival = excluded.rounds_at_arrival,
  hunting_window = excluded.hunting_window, parked_at = excluded.parked_at,
  parked_round = excluded.parked_round
WHERE state = 10 OR state = 12)";

inline constexpr const char* horizon_sql = R"(
UPDATE events SET live_arrived = ?, rounds_at_arrival = ?, hunting_window = ?,
  parked_at = iif(?, ?, NULL), parked_round = ? WHERE id = ?)";

inline constexpr const char* align_sql = R"(
INSERT INTO alignments (event, owner, d, finished, changes)
SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS (SELECT 1 FROM events WHERE id = ?1)
ON CONFLICT (event, owner, d) DO UPDATE SET
  changes = iif(excluded.finished, excluded.changes, changes),
  finished = excluded.finished)";

inline constexpr const char* attempt_sql = R"(
INSERT INTO attempts (d, owner, attempts, rounds, due) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (d, owner) DO UPDATE SET attempts = excluded.attempts,
  rounds = excluded.rounds, due = excluded.due)";

inline constexpr const char* pair_sql = R"(
INSERT INTO pairs (d, owner, url, memory)
SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (
  SELECT 1 FROM events WHERE d = ?1 AND (state <= 5 OR state >= 11))
ON CONFLICT (d, owner, url) DO UPDATE SET memory = excluded.memory)";

// Nobody is left who could use what was remembered.
inline constexpr const char* forget_pairs_sql = R"(
DELETE FROM pairs WHERE d = ?1 AND NOT EXISTS (
  SELECT 1 FROM events WHERE d = ?1 AND (state <= 5 OR state >= 11)))";

inline constexpr const char* verdict_sql = R"(
INSERT INTO verdicts (event, at, reason, urls)
SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (
  SELECT 1 FROM events WHERE id = ?1 AND state = 12)
ON CONFLICT (event) DO UPDATE SET at = excluded.at, reason = excluded.reason,
  urls = excluded.urls)";

inline constexpr const char* tombstone_sql = R"(
INSERT INTO tombstones (author, event, kind, d, until, since)
VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (author, event, kind, d) DO UPDATE SET
  seq = (SELECT max(seq) + 1 FROM tombstones),
  until = max(until, excluded.until), since = excluded.since)";

// Rules §2.5: 1,000 of one author, 100,000 in all, the oldest go first; none is
// older than 30 days.
inline constexpr const char* expire_tombstones_sql
  = "DELETE FROM tombstones WHERE since <= ? - 30 * 24 * 60 * 60";
inline constexpr const char* trim_author_sql = R"(
DELETE FROM tombstones WHERE seq IN (
  SELECT seq FROM tombstones WHERE author = ? ORDER BY since DESC, seq DESC
  LIMIT -1 OFFSET 1000))";
inline constexpr const char* trim_all_sql = R"(
DELETE FROM tombstones WHERE seq IN (
  SELECT seq FROM tombstones ORDER BY since, seq LIMIT ?))";
inline constexpr std::int64_t max_tombstones = 100'000;

inline constexpr const char* host_sql = R"(
INSERT INTO hosts (host, reason, blocks, failed_probes, blocked_until,
  learned_per_minute) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (host) DO UPDATE SET reason = excluded.reason,
  blocks = excluded.blocks, failed_probes = excluded.failed_probes,
  blocked_until = excluded.blocked_until,
  learned_per_minute = excluded.learned_per_minute)";

inline constexpr const char* load_sql = R"(
SELECT id, author, kind, created_at, state, provenance, arrived,
  iif(state <= 6 OR state >= 11, json, NULL),
  live_arrived, rounds_at_arrival, hunting_window, parked_at, parked_round
FROM events WHERE d = ? ORDER BY seq)";

inline constexpr const char* pending_sql = R"(
SELECT e.d, s.d IS NOT NULL, s.due FROM (
  SELECT DISTINCT d FROM events WHERE state <= 5 OR state >= 11) AS e
LEFT JOIN sleepers AS s ON s.d = e.d ORDER BY e.d)";

inline constexpr const char* interested_sql = R"(
SELECT i.d FROM interests AS i JOIN sleepers AS s ON s.d = i.d
WHERE i.host = ? AND i.d > ? AND EXISTS (
  SELECT 1 FROM events WHERE d = i.d AND (state <= 5 OR state >= 11))
ORDER BY i.d LIMIT ?)";

inline constexpr const char* wake_by_event_sql
  = "DELETE FROM sleepers WHERE d = (SELECT d FROM events WHERE id = ?)";

} // namespace purgatory::sqlite::sql
