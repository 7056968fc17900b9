// A host is down for long; who needs it is parked and sleeps. When it is back,
// one probe finds out and everybody is called.

#define CAF_SUITE host_recovery
#include "actors/log.hpp"
#include "tests/support/deterministic.hpp"
#include "tests/support/seed.hpp"
#include "tests/support/sim_world.hpp"

#include <sstream>

using namespace purgatory;
using namespace purgatory::test;
using namespace std::chrono_literals;

namespace {

const host_key home{"home.example"};

git::plan_settings plain() {
  git::plan_settings s;
  s.jitter = 0;
  s.life.jitter = 0;
  return s;
}

struct fixture : random_schedule {
  static constexpr std::uint64_t repositories = 12;

  std::ostringstream silence;
  world_ptr world = std::make_shared<sim_world>(first_seed());
  sim_engine engine;
  std::size_t messages = 0; ///< Consumed so far, by anybody.

  fixture() : random_schedule(first_seed()) {
    log::configure({log::level::error, log::format::text, &silence});
    CAF_MESSAGE("seed " << first_seed());
    start();
  }

  ~fixture() override { log::configure({}); }

  void start(memory_image image = {}) {
    engine = start_engine(*this, world, plain(), std::move(image), 8);
    settle();
  }

  bool consume_message() override {
    const bool consumed = random_schedule::consume_message();
    messages += consumed ? 1U : 0U;
    return consumed;
  }

  supervisor_state& inside() {
    return state_of<supervisor_state>(engine.supervisor_part);
  }

  void offer(const nostr::event& ev, std::uint64_t n) {
    const auto answer = ask<admission>(engine.supervisor_part,
                                       event_arrived{ev, provenance::sync},
                                       identifier{"r" + std::to_string(n)});
    CAF_CHECK(answer.what == action::hold);
  }

  void offer_all() {
    for (std::uint64_t n = 0; n < repositories; ++n) {
      const auto d = "r" + std::to_string(n);
      offer(announcement(1 + n, key(n), d,
                         {"https://" + home.value + "/" + d + ".git"}),
            n);
      offer(state(100 + n, key(n), d,
                  {{"refs/heads/main", object(1000 + n).value}}),
            n);
    }
  }

  void fill_host() {
    for (std::uint64_t n = 0; n < repositories; ++n)
      world->hosts[home].objects.insert(object(1000 + n));
  }

  std::size_t served_states() const {
    std::size_t count = 0;
    for (std::uint64_t n = 0; n < repositories; ++n)
      count += world->released_times(id_of(100 + n));
    return count;
  }

  void check_world() {
    for (const auto& wrong : world->violations)
      CAF_ERROR(wrong);
    CAF_CHECK_EQUAL(inside().check_invariants(), "");
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(host_recovery_tests, fixture)

CAF_TEST(a host that was down for a day serves everybody soon after its return) {
  fill_host();
  world->hosts[home].failure = fetch_class::refused;
  offer_all();
  advance(24h);
  CAF_CHECK_EQUAL(served_states(), 0u);
  CAF_CHECK_EQUAL(inside().awake(), 0u);
  CAF_CHECK_GREATER(inside().asleep(), 0u);
  const auto tries = world->hosts[home].starts.size();
  // One probe for each block, not one for each repository.
  advance(24h);
  CAF_CHECK_LESS(world->hosts[home].starts.size() - tries, 24u * 3);
  CAF_CHECK_GREATER(world->hosts[home].starts.size(), tries);

  world->hosts[home].failure.reset();
  advance(40min);
  CAF_CHECK_EQUAL(served_states(), repositories);
  check_world();
}

CAF_TEST(a restart in the middle of an outage forgets nothing) {
  fill_host();
  world->hosts[home].failure = fetch_class::refused;
  offer_all();
  advance(24h);
  const auto image = engine.store->image();
  CAF_REQUIRE_EQUAL(image.hosts().size(), 1u);
  stop_engine(*this, engine);

  // Live time goes on where the last commit left it, not at zero.
  CAF_REQUIRE_GREATER(image.live, 20 * 60 * 60);
  start(image);
  const auto pending
    = ask<pending_identifiers>(engine.supervisor_part, list_pending{});
  CAF_CHECK_EQUAL(pending.repos.size(), repositories);
  // Nobody is spawned for nothing, but for a probe.
  CAF_CHECK_LESS(engine.identifiers->size(), 3u);
  world->hosts[home].failure.reset();
  advance(40min);
  CAF_CHECK_EQUAL(served_states(), repositories);
  check_world();
}

CAF_TEST(who sleeps for days costs nothing until his round comes) {
  // The host answers, but has not got it. Rounds come a day and two days after
  // the first half hour.
  offer_all();
  advance(30h);
  CAF_CHECK_EQUAL(inside().awake(), 0u);
  CAF_CHECK_EQUAL(inside().asleep(), repositories);
  CAF_CHECK_EQUAL(inside().throttles(), 0u);
  const auto before = messages;
  advance(18h);
  CAF_CHECK_EQUAL(messages - before, 0u);
  fill_host();
  advance(48h);
  CAF_CHECK_EQUAL(served_states(), repositories);
  check_world();
}

CAF_TEST(an event for a sleeper is judged by what he knew) {
  offer_all();
  advance(48h);
  CAF_REQUIRE_EQUAL(inside().awake(), 0u);
  // A newer state of the first one, and its data is here.
  world->hosts[home].objects.insert(object(5000));
  offer(
    state(500, key(0), "r0", {{"refs/heads/main", object(5000).value}}, 2000),
    0);
  advance(1min);
  CAF_CHECK_EQUAL(world->released_times(id_of(500)), 1u);
  const auto older = engine.store->find(id_of(100));
  CAF_REQUIRE(older);
  CAF_CHECK(older->state == entry_state::superseded);
  check_world();
}

CAF_TEST_FIXTURE_SCOPE_END()
