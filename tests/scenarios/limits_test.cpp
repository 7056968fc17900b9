// Limits of one host under load, as its socket sees them, and their change
// while the daemon runs.

#define CAF_SUITE limits
#include "tests/support/deterministic.hpp"
#include "tests/support/sim_world.hpp"

using namespace purgatory;
using namespace purgatory::test;
using namespace std::chrono_literals;

namespace {

const host_key host{"h.example"};

git::plan_settings plain() {
  git::plan_settings s;
  s.jitter = 0;
  return s;
}

struct fixture : deterministic {
  world_ptr world = std::make_shared<sim_world>(1);
  sim_engine engine = start_engine(*this, world, plain());

  sim_host& h() { return world->hosts[host]; }

  /// Announcement and state of repository `n`, whose commit the host has.
  void offer(std::uint64_t n, provenance from = provenance::sync) {
    const auto d = "r" + std::to_string(n);
    const identifier repo{d};
    h().objects.insert(object(n));
    caf::anon_send(
      engine.supervisor_part,
      event_arrived{announcement(10'000 + n, key(n), d,
                                 {"https://h.example/" + d + ".git"}),
                    from},
      repo);
    caf::anon_send(engine.supervisor_part,
                   event_arrived{state(20'000 + n, key(n), d,
                                       {{"refs/heads/main", object(n).value}}),
                                 from},
                   repo);
    settle();
  }

  std::size_t states_released() {
    return static_cast<std::size_t>(
      std::count_if(world->released.begin(), world->released.end(),
                    [](const event_id& id) { return id >= id_of(20'000); }));
  }

  limits_set change(set_limits wanted) {
    return ask<limits_set>(engine.supervisor_part, wanted);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(limit_tests, fixture)

CAF_TEST(two hundred identifiers on one host never exceed five at once nor
           thirty a minute) {
  h().latency = 7s;
  world->jitter_delivery = true;
  for (std::uint64_t n = 0; n < 200; ++n)
    offer(n);
  advance(9min);
  CAF_CHECK_EQUAL(h().max_in_flight, 5);
  CAF_CHECK_EQUAL(h().starts.size(), 200u);
  CAF_CHECK_EQUAL(states_released(), 200u);
  CAF_CHECK(world->violations.empty());
  for (const auto& v : world->violations)
    CAF_MESSAGE(v);
}

CAF_TEST(a window that frees with nothing in flight wakes the host) {
  h().latency = 10ms;
  for (std::uint64_t n = 0; n < 31; ++n)
    offer(n);
  advance(30s);
  CAF_CHECK_EQUAL(h().starts.size(), 30u);
  CAF_CHECK_EQUAL(h().in_flight, 0);
  advance(31s);
  CAF_CHECK_EQUAL(h().starts.size(), 31u);
  CAF_CHECK_EQUAL(states_released(), 31u);
}

CAF_TEST(raising five to ten starts exactly five more at once) {
  h().latency = 10min;
  h().concurrent = 10;
  for (std::uint64_t n = 0; n < 55; ++n)
    offer(n);
  advance(1s);
  CAF_REQUIRE_EQUAL(h().starts.size(), 5u);
  CAF_CHECK(change({host, 10, std::nullopt}).accepted);
  advance(0s);
  CAF_CHECK_EQUAL(h().starts.size(), 10u);
  CAF_CHECK_EQUAL(h().in_flight, 10);
}

CAF_TEST(lowering stops nothing and loses nobody) {
  h().latency = 20s;
  for (std::uint64_t n = 0; n < 12; ++n)
    offer(n);
  advance(1s);
  CAF_REQUIRE_EQUAL(h().in_flight, 5);
  CAF_CHECK(change({std::nullopt, 1, std::nullopt}).accepted);
  CAF_CHECK_EQUAL(h().in_flight, 5);
  advance(20s);
  CAF_CHECK_EQUAL(h().in_flight, 1);
  advance(5min);
  CAF_CHECK_EQUAL(states_released(), 12u);
}

CAF_TEST(five identifiers run in parallel) {
  h().latency = 10s;
  for (std::uint64_t n = 0; n < 5; ++n)
    offer(n);
  advance(501ms);
  CAF_CHECK_EQUAL(h().in_flight, 5);
}

CAF_TEST(a throttled domain does not stop another one) {
  h().latency = 10min;
  for (std::uint64_t n = 0; n < 5; ++n)
    offer(n);
  advance(1s);
  world->hosts[host_key{"other.example"}].objects.insert(object(99));
  const identifier repo{"both"};
  caf::anon_send(engine.supervisor_part,
                 event_arrived{announcement(31, key(99), "both",
                                            {"https://h.example/both.git",
                                             "https://other.example/both.git"}),
                               provenance::sync},
                 repo);
  caf::anon_send(engine.supervisor_part,
                 event_arrived{state(32, key(99), "both",
                                     {{"refs/heads/main", object(99).value}}),
                               provenance::sync},
                 repo);
  settle();
  advance(2s);
  CAF_CHECK_EQUAL(world->released_times(id_of(32)), 1u);
}

CAF_TEST(after an unclean stop no host is asked for a minute) {
  supervisor_options quiet;
  quiet.quiet_until = now() + 60s;
  auto second = start_engine(*this, world, plain(), engine.store->image(), 128,
                             {}, quiet.quiet_until);
  engine = second;
  offer(1);
  advance(59s);
  CAF_CHECK(h().starts.empty());
  advance(3s);
  CAF_CHECK_EQUAL(states_released(), 1u);
}

CAF_TEST(idle identifiers leave and come back with their memory) {
  offer(1);
  advance(5s);
  CAF_CHECK_EQUAL(states_released(), 1u);
  const auto spawned = engine.identifiers->size();
  const auto again = ask<admission>(
    engine.supervisor_part,
    event_arrived{
      state(20'001, key(1), "r1", {{"refs/heads/main", object(1).value}}),
      provenance::direct},
    identifier{"r1"});
  CAF_CHECK(again.what == action::accept);
  CAF_CHECK_EQUAL(engine.identifiers->size(), spawned + 1);
  CAF_CHECK_EQUAL(states_released(), 1u);
  // The answer left nothing to do, so it has gone again.
  ask<admission>(engine.supervisor_part,
                 event_arrived{state(20'001, key(1), "r1",
                                     {{"refs/heads/main", object(1).value}}),
                               provenance::direct},
                 identifier{"r1"});
  CAF_CHECK_EQUAL(engine.identifiers->size(), spawned + 2);
}

CAF_TEST_FIXTURE_SCOPE_END()
