// The store on disk against the plain containers that define its meaning:
// random histories, the same answers to every question.

#define CAF_SUITE store_differential

#include "app/io/store/event_text.hpp"
#include "app/io/store/sqlite.hpp"
#include "app/io/store/sqlite_store.hpp"
#include "libsync/memory_journal.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/seed.hpp"

#include <caf/test/dsl.hpp>

#include <memory>
#include <random>
#include <string>
#include <vector>

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
    switch (below(12)) {
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
      // Some are older than tombstones get.
      const auto since = static_cast<unix_seconds>(below(40 * 24 * 60 * 60));
      tombstone_record stone{author(), std::nullopt, 30618,
                             repo(),   time(),       since};
      if (below(2) == 0)
        stone = {author(), id(), 0, std::nullopt, time(), since};
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
    case 10: {
      align_record r{id(), {author(), repo()}, below(2) == 0, {}};
      if (r.finished)
        r.changes = {{"refs/heads/" + digits(1, 3), std::nullopt,
                      oid{std::string(40, 'e')}}};
      return r;
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
    const auto other = right.load(repo);
    if (one.attempts != other.attempts)
      return "attempts";
    if (one.pairs != other.pairs)
      return "pairs";
    if (one.verdicts != other.verdicts)
      return "verdicts";
    if (one.tombstones != other.tombstones)
      return "tombstones";
    if (one.events.size() != other.events.size())
      return "events";
    for (std::size_t i = 0; i < one.events.size(); ++i) {
      const auto& a = one.events[i];
      const auto& b = other.events[i];
      if (a.event.id != b.event.id || a.state != b.state
          || a.horizon != b.horizon || a.arrived != b.arrived
          || a.from != b.from || a.event.tags != b.event.tags)
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
  for (const char digit : {'1', '2', '3', '4', '5', '6'}) {
    const event_id id{std::string(64, digit)};
    const auto one = left.find(id);
    const auto other = right.find(id);
    if (one.has_value() != other.has_value()
        || (one && (one->repo != other->repo || one->state != other->state)))
      return "find";
  }
  return "";
}

std::string alignments_of(const journal_image& image) {
  std::string text;
  for (const auto& [key, kept] : image.alignments())
    text += kept.id.value + kept.repository.owner.value
            + kept.repository.repo.value + (kept.finished ? "1" : "0")
            + encode_changes(kept.changes) + "\n";
  return text;
}

/// Nobody reads them back yet but an operator.
std::string alignments_in(const std::string& path) {
  const sqlite::connection database{path};
  const sqlite::statement all{
    database, "SELECT event || owner || d || finished || changes "
              "FROM alignments ORDER BY event, owner, d"};
  std::string text;
  auto row = all();
  while (row.next())
    text += std::string{row.text(0)} + "\n";
  return text;
}

/// Both stores, and what happens to both.
struct pair_of_stores {
  scratch_folder folder;
  std::string path = folder / "journal.sqlite";
  std::unique_ptr<memory_store> memory = std::make_unique<memory_store>();
  std::unique_ptr<event_store> disk = open();

  std::unique_ptr<event_store> open() {
    return open_sqlite_store(path, [](const std::string&) {});
  }
  template <class Step>
  void both(Step step) {
    step(*memory);
    step(*disk);
  }
  void crash() {
    memory = std::make_unique<memory_store>(journal_image{memory->image()});
    disk.reset();
    disk = open();
  }
};

} // namespace

CAF_TEST(the store on disk answers as the plain containers do) {
  const auto first = first_seed();
  const auto seeds = seeds_or(10);
  CAF_MESSAGE("seeds " << first << " to " << first + seeds - 1);
  std::size_t waiting = 0;
  std::size_t crashes = 0;
  live_seconds live = 0;
  for (auto seed = first; seed < first + seeds; ++seed) {
    histories next(seed);
    pair_of_stores stores;
    for (int step = 0; step < 150; ++step) {
      std::vector<journal_record> batch;
      for (auto size = next.below(4); size > 0; --size)
        batch.push_back(next.record());
      stores.both([&](event_store& store) { store.apply(batch); });
      auto what = difference(*stores.memory, *stores.disk);
      if (next.below(3) > 0) {
        live += static_cast<live_seconds>(next.below(100));
        stores.both([&](event_store& store) {
          store.stamp(live);
          store.commit();
        });
        if (what.empty()
            && alignments_of(stores.memory->image())
                 != alignments_in(stores.path))
          what = "alignments";
      }
      if (next.below(20) == 0) {
        stores.crash();
        ++crashes;
        if (what.empty()
            && stores.memory->last_run().live != stores.disk->last_run().live)
          what = "live time";
        if (what.empty())
          what = difference(*stores.memory, *stores.disk);
      }
      if (!what.empty())
        CAF_FAIL("seed " << seed << " step " << step << ": " << what);
      waiting += stores.memory->pending().size();
    }
  }
  CAF_CHECK_GREATER(waiting, 0u);
  CAF_CHECK_GREATER(crashes, 0u);
}
