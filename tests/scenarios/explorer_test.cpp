// Seeded schedules: identifiers, throttles and pool with every interleaving
// of their messages, deaths at the worst moments, and the rules that have to
// hold all the same (rules §15). A failure prints its seed; run it alone with
// PURGATORY_TEST_SEED=<seed> PURGATORY_TEST_SEEDS=1.

#define CAF_SUITE explorer
#include "actors/log.hpp"
#include "tests/support/deterministic.hpp"
#include "tests/support/seed.hpp"
#include "tests/support/small_engine.hpp"

#include <cstdlib>
#include <sstream>

using namespace purgatory;
using namespace purgatory::test;
using namespace std::chrono_literals;

namespace {

/// Deaths are logged as errors; here they are wanted.
std::ostream& silence() {
  static std::ostringstream nowhere;
  nowhere.str({});
  return nowhere;
}

struct client_state {
  static inline const char* name = "client";
};

/// Offers events and notes which ones were acknowledged.
caf::behavior client(caf::stateful_actor<client_state>* self,
                     supervisor_actor supervisor, std::set<event_id>* kept) {
  return {[=](const event_arrived& m, const identifier& repo) {
    self->request(supervisor, caf::infinite, m, repo)
      .then(
        [kept, id = m.event.id](const admission& answer) {
          if (answer.what != action::reject)
            kept->insert(id);
        },
        [](caf::error&) {});
  }};
}

/// One run: a few repositories over three hosts with small limits, and events
/// that come at random moments.
struct run : random_schedule {
  static constexpr std::uint64_t repositories = 4;

  world_ptr world;
  sim_engine engine;
  std::uint64_t next_event = 0;
  std::map<event_id, std::uint64_t> offered; ///< With its repository.
  std::set<event_id> acknowledged;
  caf::actor offerer;

  explicit run(std::uint64_t seed)
    : random_schedule(seed), world(std::make_shared<sim_world>(seed)) {
    world->jitter_delivery = true;
    for (const auto& name : host_names) {
      auto& h = add_small_host(*world, name, rng);
      if (rng() % 4 == 0)
        h.failure
          = rng() % 2 == 0 ? fetch_class::refused : fetch_class::not_here;
    }
    // The last one works, so that everything is reachable in the end.
    world->hosts[host_key{host_names.back()}].failure.reset();
    engine = start_engine(*this, world, quick_plan(), {}, 3, small_limits);
    offerer = track(sys.spawn(client, engine.supervisor_part, &acknowledged));
    for (std::uint64_t n = 0; n < repositories; ++n)
      offer(announced_everywhere(n), n);
  }

  /// Sends an event; `send` in place of `request`, so that nothing runs yet.
  void offer(const nostr::event& ev, std::uint64_t n) {
    offered[ev.id] = n;
    caf::anon_send(
      offerer,
      event_arrived{ev, rng() % 2 == 0 ? provenance::sync : provenance::direct},
      identifier{"r" + std::to_string(n)});
  }

  /// A newer state of a random repository, with one or two new commits.
  void offer_state() {
    const auto n = rng() % repositories;
    const auto id = 100 + next_event++;
    refs values;
    for (std::uint64_t i = 0; i <= rng() % 2; ++i) {
      const auto commit = object(1000 + id * 2 + i);
      values.emplace_back("refs/heads/b" + std::to_string(i), commit.value);
      for (const auto& name : host_names)
        if (name == host_names.back() || rng() % 2 == 0)
          world->hosts[host_key{name}].objects.insert(commit);
    }
    offer(state(id, key(n), "r" + std::to_string(n), values,
                1000 + static_cast<unix_seconds>(id)),
          n);
  }

  template <class Handle>
  void kill_one_of(std::vector<Handle>& all) {
    if (!all.empty())
      caf::anon_send_exit(all[rng() % all.size()], caf::exit_reason::kill);
  }

  /// A worker dies in the middle of its job; its server notices.
  void kill_worker() {
    auto& all = *engine.workers;
    if (all.empty())
      return;
    auto& victim = all[rng() % all.size()];
    world->doomed.insert(victim->id());
    world->abandon(victim->id());
    caf::anon_send_exit(victim, caf::exit_reason::kill);
  }

  /// In the end every acknowledged event has a fate: served, or superseded by
  /// a newer state. Only an announcement without any state still waits, and
  /// a state whose announcement got lost before it was acknowledged.
  void finish() {
    advance(20min);
    std::set<std::uint64_t> with_state;
    for (const auto& id : acknowledged)
      if (id >= id_of(100))
        with_state.insert(offered[id]);
    for (const auto& id : acknowledged) {
      const auto known = engine.store->find(id);
      world->check(known.has_value(), "lost event " + id.value);
      if (!known)
        continue;
      const auto n = offered[id];
      const bool may_wait
        = !with_state.contains(n) || !acknowledged.contains(id_of(1 + n));
      world->check(known->state == entry_state::served
                     || known->state == entry_state::superseded || may_wait,
                   "event " + id.value + " ended as "
                     + to_string(known->state));
    }
    for (auto& [name, h] : world->hosts)
      world->check(h.in_flight == 0, "a job never ended at " + name.value);
  }
};

/// Runs `seeds` worlds; `disturb` acts at random moments.
template <class Disturb>
void explore_all(const char* what, std::uint64_t seeds, Disturb disturb,
                 bool releases_once) {
  log::configure({log::level::error, log::format::text, &silence()});
  const auto first = first_seed();
  CAF_MESSAGE(what << ": seeds " << first << " to " << first + seeds - 1);
  std::uint64_t bad = 0;
  std::string example;
  for (auto seed = first; seed < first + seeds; ++seed) {
    run r(seed);
    r.explore(
      15s,
      [&] {
        if (r.next_event < 8 && r.rng() % 4 == 0)
          r.offer_state();
        disturb(r);
      },
      [] {});
    r.finish();
    if (releases_once) {
      r.world->check(r.acknowledged.size() == r.offered.size(),
                     "an offer without answer");
      for (const auto& id : r.world->released)
        r.world->check(r.world->released_times(id) == 1,
                       "released twice: " + id.value);
    }
    if (r.world->violations.empty())
      continue;
    if (bad++ == 0)
      example
        = "seed " + std::to_string(seed) + ": " + r.world->violations.front();
  }
  if (bad > 0)
    CAF_MESSAGE(example);
  CAF_CHECK_EQUAL(bad, 0u);
}

} // namespace

CAF_TEST(in ten thousand schedules limits hold and nothing is lost) {
  explore_all(
    "calm", seeds_or(8000), [](run&) {}, true);
}

CAF_TEST(identifiers that die at any moment are restarted and end their work) {
  explore_all(
    "identifiers die", seeds_or(800),
    [](run& r) {
      // Two deaths at most: the third one makes it rest for ten minutes.
      if (r.engine.identifiers->size() < run::repositories + 2
          && r.rng() % 8 == 0)
        r.kill_one_of(*r.engine.identifiers);
    },
    // Published, but not journaled: released again, as the relay allows.
    false);
}

CAF_TEST(throttles that die with waiters and leases are replaced) {
  explore_all(
    "throttles die", seeds_or(800),
    [](run& r) {
      if (r.rng() % 12 == 0)
        r.kill_one_of(*r.engine.throttles);
    },
    true);
}

CAF_TEST(workers that die fail their job alone) {
  explore_all(
    "workers die", seeds_or(800),
    [](run& r) {
      if (r.rng() % 12 == 0)
        r.kill_worker();
    },
    true);
}
