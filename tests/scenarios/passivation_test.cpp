// Actors that leave and come back, with every interleaving: identifiers that
// have nothing to do, throttles told to go at any moment, busy or not. Nothing
// may be lost, and in the end nobody may be left. A failure prints its seed;
// run it alone with PURGATORY_TEST_SEED=<seed> PURGATORY_TEST_SEEDS=1.

#define CAF_SUITE passivation
#include "actors/log.hpp"
#include "tests/support/deterministic.hpp"
#include "tests/support/seed.hpp"
#include "tests/support/small_engine.hpp"

#include <sstream>

using namespace purgatory;
using namespace purgatory::test;
using namespace std::chrono_literals;

namespace {

struct client_state {
  static inline const char* name = "client";
};

struct tally {
  std::set<event_id> kept;
  std::size_t answers = 0;
  std::size_t errors = 0;
};

/// Offers events and notes how they were answered.
caf::behavior client(caf::stateful_actor<client_state>* self,
                     supervisor_actor supervisor, tally* heard) {
  return {[=](const event_arrived& m, const identifier& repo) {
    self->request(supervisor, caf::infinite, m, repo)
      .then(
        [heard, id = m.event.id](const admission& answer) {
          ++heard->answers;
          if (answer.what != action::reject)
            heard->kept.insert(id);
        },
        [heard](caf::error&) { ++heard->errors; });
  }};
}

/// One run: a few repositories over three hosts with small limits.
struct run : random_schedule {
  static constexpr std::uint64_t repositories = 4;
  static constexpr std::uint64_t states = 12;

  world_ptr world;
  sim_engine engine;
  std::uint64_t next_state = 0;
  std::size_t offered = 0;
  std::size_t messages = 0; ///< Consumed so far, by anybody.
  tally heard;
  caf::actor offerer;

  explicit run(std::uint64_t seed)
    : random_schedule(seed), world(std::make_shared<sim_world>(seed)) {
    world->jitter_delivery = true;
    for (const auto& name : host_names)
      add_small_host(*world, name, rng);
    engine = start_engine(*this, world, quick_plan(), {}, 3, small_limits);
    offerer = track(sys.spawn(client, engine.supervisor_part, &heard));
    for (std::uint64_t n = 0; n < repositories; ++n)
      offer(announced_everywhere(n), n);
  }

  bool consume_message() override {
    const bool consumed = random_schedule::consume_message();
    messages += consumed ? 1U : 0U;
    return consumed;
  }

  void offer(const nostr::event& ev, std::uint64_t n) {
    ++offered;
    caf::anon_send(offerer, event_arrived{ev, provenance::sync},
                   identifier{"r" + std::to_string(n)});
  }

  /// A state with a commit that one or more hosts have.
  void offer_state() {
    if (next_state == states)
      return;
    const auto number = next_state++;
    const auto n = number % repositories;
    const auto commit = object(1000 + number);
    for (const auto& name : host_names)
      if (name == host_names.back() || rng() % 2 == 0)
        world->hosts[host_key{name}].objects.insert(commit);
    offer(state(100 + number, key(n), "r" + std::to_string(n),
                {{"refs/heads/main", commit.value}},
                1000 + static_cast<unix_seconds>(number)),
          n);
  }

  void news(host_change what) {
    host_record record;
    record.host = host_key{host_names[rng() % host_names.size()]};
    record.failed_probes = rng() % 3;
    caf::anon_send(engine.supervisor_part, host_news{what, record});
  }

  supervisor_state& inside() {
    return state_of<supervisor_state>(engine.supervisor_part);
  }

  void check_books() {
    const auto wrong = inside().check_invariants();
    world->check(wrong.empty(), wrong);
  }

  /// Everybody was answered, every event met its fate, and all have left.
  void finish() {
    while (next_state < states)
      offer_state();
    advance(30min);
    world->check(heard.errors == 0, "an event was bounced");
    world->check(heard.answers == offered, "an event without answer");
    world->check(heard.kept.size() == offered, "an event was refused");
    for (const auto& id : heard.kept) {
      const auto known = engine.store->find(id);
      const bool ended = known
                         && (known->state == entry_state::served
                             || known->state == entry_state::superseded);
      world->check(ended, "no fate: " + id.value);
    }
    for (const auto& id : world->released)
      world->check(world->released_times(id) == 1,
                   "released twice: " + id.value);
    for (const auto& [name, h] : world->hosts)
      world->check(h.in_flight == 0, "a job never ended at " + name.value);
    world->check(inside().awake() == 0, "an idle identifier stayed");
    check_books();
  }
};

struct totals {
  std::size_t runs = 0;
  std::size_t identifiers = 0;
  std::size_t throttles = 0;
};

/// Runs `seeds` worlds; `disturb` acts at random moments, `afterwards` when
/// everything has settled.
template <class Disturb, class Afterwards>
totals explore_all(std::uint64_t seeds, Disturb disturb,
                   Afterwards afterwards) {
  std::ostringstream silence;
  log::configure({log::level::error, log::format::text, &silence});
  seeds = seeds_or(seeds);
  const auto first = first_seed();
  CAF_MESSAGE("seeds " << first << " to " << first + seeds - 1);
  std::uint64_t bad = 0;
  std::string example;
  totals sum{seeds, 0, 0};
  for (auto seed = first; seed < first + seeds; ++seed) {
    run r(seed);
    r.explore(
      30s,
      [&] {
        if (r.rng() % 4 == 0)
          r.offer_state();
        disturb(r);
      },
      [&] { r.check_books(); });
    r.finish();
    afterwards(r);
    sum.identifiers += r.engine.identifiers->size();
    sum.throttles += r.engine.throttles->size();
    if (r.world->violations.empty())
      continue;
    if (bad++ == 0)
      example
        = "seed " + std::to_string(seed) + ": " + r.world->violations.front();
  }
  log::configure({});
  if (bad > 0)
    CAF_MESSAGE(example);
  CAF_CHECK_EQUAL(bad, 0u);
  return sum;
}

} // namespace

CAF_TEST(identifiers that left cost no message and no timer in a day) {
  const auto sum = explore_all(
    60, [](run&) {},
    [](run& r) {
      r.advance(1h); // The last timers of throttles become void.
      const auto before = r.messages;
      r.advance(24h);
      r.world->check(r.messages == before, "somebody talked in his sleep");
      r.world->check(r.pending_timers() == 0, "a timer of nobody");
    });
  CAF_CHECK_GREATER(sum.identifiers, sum.runs * run::repositories);
}

CAF_TEST(throttles told to go at any moment take nothing with them) {
  const auto sum = explore_all(
    300,
    [](run& r) {
      if (r.rng() % 3 == 0)
        r.news(host_change::idle);
    },
    [](run&) {});
  CAF_CHECK_GREATER(sum.throttles, sum.runs * host_names.size());
}

CAF_TEST(calls for hosts that cross a farewell keep nobody and lose nothing) {
  explore_all(
    150,
    [](run& r) {
      const std::array calls
        = {host_change::recovered, host_change::unblocked, host_change::idle};
      if (r.rng() % 2 == 0)
        r.news(calls[r.rng() % calls.size()]);
    },
    [](run&) {});
}
