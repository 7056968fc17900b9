// The store on disk against the plain containers that define its meaning:
// random histories, the same answers to every question.

#define CAF_SUITE store_differential

#include "app/io/store/sqlite_store.hpp"
#include "libsync/memory_journal.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/seed.hpp"

#include <caf/test/dsl.hpp>

#include <algorithm>
#include <memory>
#include <random>
#include <string>

using namespace purgatory;
using namespace purgatory::test;

namespace {

struct histories {
  explicit histories(std::uint64_t seed) : rng(seed) {}

  std::mt19937_64 rng;

  std::uint64_t below(std::uint64_t limit) { return rng() % limit; }
  std::string digits(std::size_t length, std::uint64_t kinds) {
    return std::string(length, static_cast<char>('1' + below(kinds)));
  }
  event_id id() { return event_id{digits(64, 6)}; }
  pubkey author() { return pubkey{digits(64, 2)}; }
  identifier repo() { return identifier{digits(1, 3)}; }
  host_key host() { return host_key{digits(3, 2)}; }
  remote_url url() { return remote_url{digits(5, 2)}; }
  live_seconds time() { return static_cast<live_seconds>(below(1000)); }
  std::uint32_t count() { return static_cast<std::uint32_t>(below(9)); }
  entry_state state() { return static_cast<entry_state>(below(14)); }
  fetch_class outcome() {
    return static_cast<fetch_class>(below(fetch_class_count));
  }

  entry_horizon horizon() {
    entry_horizon h{time(), count(), time(), std::nullopt, count()};
    if (below(2) == 0)
      h.parked_at = time();
    return h;
  }

  journal_record record() {
    switch (below(11)) {
    case 0: {
      // An event belongs to one repository.
      accept_record r;
      r.event.id = id();
      r.event.author = pubkey{std::string(64, r.event.id.value[0])};
      r.event.kind = 30618;
      r.event.tags = {{"d", "x"}};
      r.repo = identifier{
        std::string(1, static_cast<char>('1' + (r.event.id.value[0] % 3)))};
      r.state = state();
      r.arrived = time();
      r.horizon = horizon();
      r.horizon.parked_at.reset();
      r.horizon.parked_round = 0;
      return r;
    }
    case 1:
    case 2:
      return state_record{id(), state()};
    case 3:
      return attempt_record{{author(), repo()}, count(), count(), time()};
    case 4:
      return horizon_record{id(), horizon()};
    case 5: {
      pair_memory memory;
      memory.last = outcome();
      memory.failures = count();
      memory.score = static_cast<double>(below(100)) / 8;
      return pair_record{{author(), repo()}, url(), memory};
    }
    case 6:
      return verdict_record{id(), time(), "why", {{url(), outcome()}}};
    case 7: {
      tombstone_record stone{author(), std::nullopt, 30618,
                             repo(),   time(),       time()};
      if (below(2) == 0)
        stone = {author(), id(), 0, std::nullopt, time(), time()};
      return stone;
    }
    case 8: {
      sleep_record rest{repo(), std::nullopt};
      if (below(2) == 0)
        rest.due = time();
      return rest;
    }
    case 9: {
      hosts_record hosts{repo(), {host_key{"111"}, host_key{"222"}}};
      hosts.hosts.resize(below(3));
      return hosts;
    }
    default:
      return host_record{host(), outcome(), count(), count(), time(), count()};
    }
  }
};

/// What is the first thing that the two answer differently?
std::string difference(event_store& left, event_store& right) {
  if (left.pending() != right.pending())
    return "pending";
  if (left.hosts() != right.hosts())
    return "hosts";
  for (const char digit : {'1', '2', '3'}) {
    const identifier repo{std::string(1, digit)};
    const auto one = left.load(repo);
    auto other = right.load(repo);
    if (one.attempts != other.attempts)
      return "attempts";
    if (one.pairs != other.pairs)
      return "pairs";
    if (one.verdicts != other.verdicts)
      return "verdicts";
    const auto same_stones
      = std::is_permutation(one.tombstones.begin(), one.tombstones.end(),
                            other.tombstones.begin(), other.tombstones.end());
    if (!same_stones)
      return "tombstones";
    if (one.events.size() != other.events.size())
      return "events";
    for (std::size_t i = 0; i < one.events.size(); ++i) {
      const auto& a = one.events[i];
      const auto& b = other.events[i];
      if (a.event.id != b.event.id || a.state != b.state
          || a.horizon != b.horizon || a.arrived != b.arrived
          || a.event.tags != b.event.tags)
        return "event " + a.event.id.value;
    }
    const host_key host{std::string(3, digit)};
    if (left.interested_in(host, {}, 9) != right.interested_in(host, {}, 9))
      return "interests";
    for (const char id : {'1', '2', '3', '4', '5', '6'})
      if (left.is_buried(pubkey{std::string(64, digit)},
                         event_id{std::string(64, id)})
          != right.is_buried(pubkey{std::string(64, digit)},
                             event_id{std::string(64, id)}))
        return "burials";
  }
  return "";
}

} // namespace

CAF_TEST(the store on disk answers as the plain containers do) {
  const auto first = first_seed();
  CAF_MESSAGE("seeds " << first << " to " << first + 9);
  std::size_t waiting = 0;
  for (auto seed = first; seed < first + 10; ++seed) {
    scratch_folder folder;
    histories next(seed);
    memory_store memory;
    const auto disk
      = open_sqlite_store(folder / "journal.sqlite", [](const auto&) {});
    for (int step = 0; step < 120; ++step) {
      const auto record = next.record();
      for (auto* store : {static_cast<event_store*>(&memory), disk.get()}) {
        store->apply({record});
        store->commit();
      }
      const auto what = difference(memory, *disk);
      if (!what.empty())
        CAF_FAIL("seed " << seed << " step " << step << ": " << what);
      waiting += memory.pending().size();
    }
  }
  CAF_CHECK(waiting > 0);
}
