#include "actors/fetch_pool.hpp"
#include "actors/fetch_worker.hpp"
#include "tests/support/seed.hpp"

#include <chrono>
#include <set>

#define CAF_SUITE fetch_pool
#include "tests/support/deterministic.hpp"

using namespace purgatory;
using namespace std::chrono_literals;

namespace {

/// What the fake workers do, and what was seen of them.
struct remote {
  std::function<bool(lease_id)> throws = [](lease_id) { return false; };
  bool sends = true;        ///< Whether a job gets to its first request.
  bool obeys = true;        ///< Whether a cancelled job stops.
  std::string peer;         ///< Where the jobs find their host.
  caf::timespan takes = 1s; ///< Duration of a job.
  std::size_t running = 0;
  std::size_t peak = 0;
  std::vector<std::uint64_t> order; ///< Of the jobs that began.
  std::vector<caf::actor> workers;  ///< All that were ever made.
};

struct poll {};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, poll&) {
  return f(caf::meta::type_name("poll"));
}

using fake_worker_actor = fetch_worker_actor::extend<caf::reacts_to<poll>>;

struct fake_worker_state {
  explicit fake_worker_state(fake_worker_actor::pointer) {}
  ~fake_worker_state() {
    if (busy)
      --world->running;
  }

  remote* world = nullptr;
  bool busy = false;
  caf::typed_response_promise<fetch_outcome> answer;
  cancel_flag cancel;
  time_point end;
};

fetch_outcome outcome(fetch_class how) {
  fetch_outcome result;
  result.outcome = how;
  return result;
}

/// Looks at its cancel flag ten times a second, as the real client does.
fake_worker_actor::behavior_type
fake_worker(fake_worker_actor::stateful_pointer<fake_worker_state> self,
            remote* world, started_sink pool) {
  self->state.world = world;
  self->set_exception_handler([](std::exception_ptr&) -> caf::error {
    return caf::make_error(caf::sec::runtime_error, "boom");
  });
  return {
    [=](const fetch_job& job) -> caf::result<fetch_outcome> {
      auto& state = self->state;
      world->order.push_back(job.lease.value);
      if (world->throws(job.lease))
        throw std::runtime_error("boom");
      state.busy = true;
      world->peak = std::max(world->peak, ++world->running);
      if (world->sends)
        self->send(pool, fetch_started{job.lease, self->clock().now()});
      state.cancel = job.cancel;
      state.end = self->clock().now() + world->takes;
      state.answer = self->make_response_promise<fetch_outcome>();
      self->delayed_send(self, 100ms, poll{});
      return state.answer;
    },
    [=](const poll&) {
      auto& state = self->state;
      const bool cancelled = world->obeys && *state.cancel;
      if (!cancelled && self->clock().now() < state.end) {
        self->delayed_send(self, 100ms, poll{});
        return;
      }
      state.busy = false;
      --world->running;
      auto result
        = outcome(cancelled ? fetch_class::internal : fetch_class::ok);
      result.peer = world->peer;
      state.answer.deliver(std::move(result));
    },
  };
}

struct sink_state {
  explicit sink_state(completion_sink::pointer) {}
  std::vector<request_complete> heard;
  std::vector<lease_id> moving;
};

completion_sink::behavior_type
record_ends(completion_sink::stateful_pointer<sink_state> self) {
  return {
    [=](const request_complete& done) { self->state.heard.push_back(done); },
    [=](const fetch_moving& news) { self->state.moving.push_back(news.lease); },
  };
}

struct throttle_probe_state {
  explicit throttle_probe_state(throttle_actor::pointer) {}
  std::vector<request_complete> heard;
  std::vector<fetch_started> starts;
  std::vector<throttle_seed> seeds;
};

throttle_actor::behavior_type
throttle_probe(throttle_actor::stateful_pointer<throttle_probe_state> self) {
  return {
    [](const enqueue&, const grant_sink&) { return enqueue_answer{}; },
    [](const grant_answer&) {},
    [](const leave_queue& place) { return queue_left{place.who}; },
    [=](const fetch_started& start) { self->state.starts.push_back(start); },
    [=](const request_complete& done) { self->state.heard.push_back(done); },
    [](const backoff_tick&) {},
    [=](const throttle_seed& seed) { self->state.seeds.push_back(seed); },
    [](const set_limits&) {},
    [](const describe&) { return throttle_report{}; },
  };
}

struct folder : quarantine {
  const std::string& directory() const override { return path; }
  std::string path = "/q";
};

constexpr lease_id lease(std::uint32_t number, std::uint32_t serial = 1) {
  return {(std::uint64_t{serial} << 32U) | number};
}

struct fixture : test::deterministic {
  remote world;
  fetch_pool_actor pool;
  completion_sink sink = track(sys.spawn(record_ends));
  throttle_actor throttle = track(sys.spawn(throttle_probe));
  const host_key host{"example.org"};

  void start_pool(std::size_t size, std::size_t per_prefix = 20) {
    const engine::board_limits limits{size, per_prefix};
    pool = track(sys.spawn(fetch_pool, limits, [this](started_sink to) {
      const auto worker = track(sys.spawn(fake_worker, &world, to));
      world.workers.push_back(caf::actor_cast<caf::actor>(worker));
      return fetch_worker_actor{worker};
    }));
    adopt(throttle, 1);
  }

  void adopt(const throttle_actor& who, std::uint32_t serial) {
    caf::anon_send(pool, adopt_throttle{host, serial, std::nullopt}, who);
    settle();
  }

  void submit(lease_id which) {
    fetch_request request{which, {pubkey{"o"}, identifier{"r"}}, host, {}};
    request.order.url = remote_url{"https://example.org/r.git"};
    caf::anon_send(pool, request, sink);
    settle();
  }

  /// A job of a host whose throttle nobody asks.
  void submit_at(const std::string& name, lease_id which) {
    caf::anon_send(
      pool,
      adopt_throttle{host_key{name}, throttle_serial(which), std::nullopt},
      throttle);
    fetch_request request{which, {}, host_key{name}, {}};
    caf::anon_send(pool, request, sink);
    settle();
  }

  void submit_all(std::uint32_t count) {
    for (std::uint32_t number = 1; number <= count; ++number)
      submit(lease(number));
  }

  /// Lets time pass until no job runs.
  void finish() {
    for (auto round = 0; round < 10000 && pending_timers() > 0; ++round)
      advance(100ms);
  }

  std::vector<request_complete>& ends() {
    return state_of<sink_state>(sink).heard;
  }
  throttle_probe_state& seen_by(const throttle_actor& who) {
    return state_of<throttle_probe_state>(who);
  }

  std::size_t count_ends(fetch_class how) {
    return static_cast<std::size_t>(
      std::count_if(ends().begin(), ends().end(), [how](const auto& done) {
        return done.result.outcome == how;
      }));
  }

  /// True when exactly the leases 1 to `count` ended, once each, for both.
  bool each_ended_once(std::uint32_t count) {
    for (const auto* heard : {&ends(), &seen_by(throttle).heard}) {
      std::set<std::uint64_t> leases;
      for (const auto& done : *heard)
        leases.insert(done.lease.value);
      if (heard->size() != count || leases.size() != count)
        return false;
    }
    return true;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(fetch_pool_tests, fixture)

CAF_TEST(never more jobs at once than workers and none is lost) {
  start_pool(5);
  submit_all(50);
  CAF_CHECK_EQUAL(world.running, 5u);
  finish();
  CAF_CHECK_EQUAL(world.peak, 5u);
  CAF_CHECK_EQUAL(world.workers.size(), 5u);
  CAF_CHECK(each_ended_once(50));
  CAF_CHECK_EQUAL(count_ends(fetch_class::ok), 50u);
}

CAF_TEST(workers are made only when they are needed) {
  start_pool(100);
  CAF_CHECK_EQUAL(world.workers.size(), 0u);
  submit_all(3);
  CAF_CHECK_EQUAL(world.workers.size(), 3u);
  finish();
  submit(lease(4));
  CAF_CHECK_EQUAL(world.workers.size(), 3u);
}

CAF_TEST(jobs start in the order of arrival) {
  start_pool(1);
  submit_all(20);
  finish();
  std::vector<std::uint64_t> expected;
  for (std::uint32_t number = 1; number <= 20; ++number)
    expected.push_back(lease(number).value);
  CAF_CHECK(world.order == expected);
}

CAF_TEST(a throwing job fails alone and the next has a fresh worker) {
  world.throws
    = [](lease_id which) { return (which.value & 0xffffffffU) % 7 == 0; };
  start_pool(1);
  submit_all(100);
  finish();
  CAF_CHECK(each_ended_once(100));
  CAF_CHECK_EQUAL(count_ends(fetch_class::internal), 14u);
  CAF_CHECK_EQUAL(count_ends(fetch_class::ok), 86u);
  CAF_CHECK_EQUAL(world.workers.size(), 15u);
  CAF_CHECK_EQUAL(world.peak, 1u);
  for (const auto& done : ends())
    if (done.result.outcome == fetch_class::internal)
      CAF_CHECK(done.result.detail.find("boom") != std::string::npos);
}

CAF_TEST(a killed worker ends its job once and is replaced) {
  start_pool(1);
  submit_all(2);
  kill(world.workers.front());
  CAF_REQUIRE_EQUAL(ends().size(), 1u);
  CAF_CHECK_EQUAL(ends().front().result.outcome, fetch_class::internal);
  CAF_CHECK_EQUAL(world.running, 1u);
  finish();
  CAF_CHECK(each_ended_once(2));
  CAF_CHECK_EQUAL(world.workers.size(), 2u);
  // An idle one may die, too.
  kill(world.workers.back());
  submit(lease(3));
  finish();
  CAF_CHECK(each_ended_once(3));
  CAF_CHECK_EQUAL(world.workers.size(), 3u);
}

CAF_TEST(a lease of another throttle is refused and only the holder hears it) {
  start_pool(2);
  submit(lease(1, 2));
  CAF_REQUIRE_EQUAL(ends().size(), 1u);
  CAF_CHECK_EQUAL(ends().front().result.outcome, fetch_class::internal);
  CAF_CHECK_EQUAL(ends().front().result.detail, "lease refused");
  CAF_CHECK(seen_by(throttle).heard.empty());
  CAF_CHECK(world.order.empty());
  const auto next = track(sys.spawn(throttle_probe));
  adopt(next, 2);
  submit(lease(2, 1));
  submit(lease(3, 2));
  CAF_CHECK_EQUAL(ends().back().lease.value, lease(2, 1).value);
  CAF_CHECK(world.order == (std::vector{lease(3, 2).value}));
}

CAF_TEST(a lease runs only once) {
  start_pool(2);
  submit(lease(1));
  submit(lease(1));
  CAF_CHECK_EQUAL(count_ends(fetch_class::internal), 1u);
  finish();
  submit(lease(1));
  CAF_CHECK_EQUAL(count_ends(fetch_class::internal), 2u);
  CAF_CHECK_EQUAL(count_ends(fetch_class::ok), 1u);
  CAF_CHECK_EQUAL(world.order.size(), 1u);
  CAF_CHECK_EQUAL(seen_by(throttle).heard.size(), 1u);
}

CAF_TEST(a reclaimed lease is refused whether it waits or is still to come) {
  start_pool(1);
  submit_all(3);
  const auto queued = ask<reclaim_answer>(pool, reclaim{lease(2)});
  CAF_CHECK_EQUAL(queued.outcome, reclaim_outcome::reclaimed);
  const auto unknown = ask<reclaim_answer>(pool, reclaim{lease(9)});
  CAF_CHECK_EQUAL(unknown.outcome, reclaim_outcome::reclaimed);
  const auto running = ask<reclaim_answer>(pool, reclaim{lease(1)});
  CAF_CHECK_EQUAL(running.outcome, reclaim_outcome::running);
  submit(lease(9));
  CAF_REQUIRE_EQUAL(ends().size(), 1u);
  CAF_CHECK_EQUAL(ends().front().result.detail, "lease refused");
  finish();
  CAF_CHECK(world.order == (std::vector{lease(1).value, lease(3).value}));
  CAF_CHECK_EQUAL(seen_by(throttle).heard.size(), 2u);
  CAF_CHECK_EQUAL(ends().size(), 3u);
}

CAF_TEST(the memory of spent leases is bounded) {
  spent_leases spent;
  for (std::uint32_t number = 0; number < 10000; ++number)
    spent.add(lease(number));
  CAF_CHECK(!spent.contains(lease(0)));
  CAF_CHECK(!spent.contains(lease(10000 - 4097)));
  CAF_CHECK(spent.contains(lease(10000 - 4096)));
  CAF_CHECK(spent.contains(lease(9999)));
}

CAF_TEST(the first request of a job is told to the throttle) {
  start_pool(2);
  const auto at = now();
  submit(lease(1));
  CAF_REQUIRE_EQUAL(seen_by(throttle).starts.size(), 1u);
  CAF_CHECK_EQUAL(seen_by(throttle).starts.front().lease.value, lease(1).value);
  CAF_CHECK(seen_by(throttle).starts.front().at == at);
}

CAF_TEST(a new throttle is told what runs and what started in its window) {
  start_pool(2);
  CAF_REQUIRE_EQUAL(seen_by(throttle).seeds.size(), 1u);
  CAF_CHECK(seen_by(throttle).seeds.front().leases.empty());
  const auto begin = now();
  submit(lease(1));
  advance(30s);
  world.takes = 100s;
  submit(lease(2));
  world.sends = false;
  submit(lease(3));
  submit(lease(4));
  advance(30s);

  const auto heir = track(sys.spawn(throttle_probe));
  adopt(heir, 2);
  CAF_REQUIRE_EQUAL(seen_by(heir).seeds.size(), 1u);
  std::map<std::uint64_t, seeded_lease> seeded;
  for (const auto& known : seen_by(heir).seeds.front().leases)
    seeded[known.lease.value] = known;
  CAF_REQUIRE_EQUAL(seeded.size(), 4u);
  CAF_CHECK_EQUAL(seeded[lease(1).value].running, false);
  CAF_CHECK(seeded[lease(1).value].started == begin);
  CAF_CHECK_EQUAL(seeded[lease(2).value].running, true);
  CAF_CHECK(seeded[lease(2).value].started == begin + 30s);
  CAF_CHECK_EQUAL(seeded[lease(3).value].running, true);
  CAF_CHECK(!seeded[lease(3).value].started);
  CAF_CHECK_EQUAL(seeded[lease(4).value].running, true);

  // Of what the first throttle granted, the end goes to its heir.
  finish();
  CAF_CHECK_EQUAL(seen_by(throttle).heard.size(), 1u);
  CAF_CHECK_EQUAL(seen_by(heir).heard.size(), 3u);
  CAF_CHECK_EQUAL(ends().size(), 4u);

  const auto last = track(sys.spawn(throttle_probe));
  adopt(last, 3);
  CAF_CHECK(seen_by(last).seeds.front().leases.empty());
}

CAF_TEST(a start counts for sixty one seconds) {
  start_pool(1);
  submit(lease(1));
  advance(61s);
  const auto before = track(sys.spawn(throttle_probe));
  adopt(before, 2);
  CAF_CHECK_EQUAL(seen_by(before).seeds.front().leases.size(), 1u);
  advance(1ms);
  const auto after = track(sys.spawn(throttle_probe));
  adopt(after, 3);
  CAF_CHECK(seen_by(after).seeds.front().leases.empty());
}

CAF_TEST(a new throttle is seeded for its own host and told when to begin) {
  start_pool(1);
  submit(lease(1));
  const auto other = track(sys.spawn(throttle_probe));
  const auto later = now() + 60s;
  caf::anon_send(pool, adopt_throttle{host_key{"other.example"}, 2, later},
                 other);
  settle();
  CAF_REQUIRE_EQUAL(seen_by(other).seeds.size(), 1u);
  CAF_CHECK(seen_by(other).seeds.front().leases.empty());
  CAF_CHECK(seen_by(other).seeds.front().quiet_until == later);
}

CAF_TEST(draining refuses what is new and fails what waits) {
  start_pool(1);
  submit_all(3);
  auto pending = self->request(pool, caf::infinite, drain{4s});
  settle();
  CAF_CHECK_EQUAL(ends().size(), 2u);
  CAF_CHECK_EQUAL(count_ends(fetch_class::internal), 2u);
  submit(lease(4));
  CAF_CHECK_EQUAL(count_ends(fetch_class::internal), 3u);
  CAF_CHECK(self->mailbox().empty());
  advance(1s);
  CAF_CHECK(!self->mailbox().empty());
  pending.receive(
    [](const drained& end) { CAF_CHECK_EQUAL(end.cancelled, 0u); },
    [](caf::error&) { CAF_FAIL("drain refused"); });
  CAF_CHECK(each_ended_once(4));
  CAF_CHECK_EQUAL(count_ends(fetch_class::ok), 1u);
  // Nothing is accepted any more, and there is nothing left to wait for.
  submit(lease(5));
  CAF_CHECK_EQUAL(ends().back().result.detail, "draining");
  CAF_CHECK_EQUAL(ask<drained>(pool, drain{4s}).cancelled, 0u);
}

CAF_TEST(what still runs after the grace is cancelled) {
  world.takes = 1h;
  start_pool(3);
  submit_all(3);
  auto pending = self->request(pool, caf::infinite, drain{4s});
  advance(3900ms);
  CAF_CHECK_EQUAL(world.running, 3u);
  caf::anon_send(pool, backoff_tick{0});
  settle();
  advance(99ms);
  CAF_CHECK(self->mailbox().empty());
  advance(101ms);
  CAF_CHECK_EQUAL(world.running, 0u);
  CAF_CHECK(!self->mailbox().empty());
  pending.receive(
    [](const drained& end) { CAF_CHECK_EQUAL(end.cancelled, 3u); },
    [](caf::error&) { CAF_FAIL("drain refused"); });
  CAF_CHECK(each_ended_once(3));
}

CAF_TEST(hosts at one address share its workers and let others pass) {
  start_pool(10, 2);
  world.peer = "192.0.2.7";
  submit(lease(1));
  finish();
  world.peer = "192.0.2.8";
  submit_at("b.example", lease(2, 2));
  finish();
  world.peer.clear();
  world.order.clear();
  submit(lease(3));
  submit(lease(4));
  submit_at("b.example", lease(5, 2)); // Deferred, keeps its place.
  submit_at("c.example", lease(6, 3));
  CAF_CHECK(
    world.order
    == (std::vector{lease(3).value, lease(4).value, lease(6, 3).value}));
  finish();
  CAF_CHECK_EQUAL(world.order.back(), lease(5, 2).value);
  CAF_CHECK_EQUAL(count_ends(fetch_class::ok), 6u);
}

CAF_TEST(slow jobs beyond two of a host are cancelled as too slow) {
  world.takes = 10min;
  start_pool(8);
  submit(lease(1));
  advance(10s);
  submit(lease(2));
  submit(lease(3));
  advance(59'900ms);
  CAF_CHECK(ends().empty());
  advance(200ms);
  CAF_REQUIRE_EQUAL(ends().size(), 1u);
  CAF_CHECK_EQUAL(ends().front().lease.value, lease(1).value);
  CAF_CHECK_EQUAL(ends().front().result.outcome, fetch_class::timeout);
  CAF_CHECK_EQUAL(seen_by(throttle).heard.front().result.outcome,
                  fetch_class::timeout);
  CAF_CHECK_EQUAL(world.running, 2u);
  finish();
  CAF_CHECK(each_ended_once(3));
  CAF_CHECK_EQUAL(count_ends(fetch_class::ok), 2u);
}

CAF_TEST(half of the workers stay free of slow jobs) {
  world.takes = 10min;
  start_pool(4);
  for (std::uint32_t number = 1; number <= 6; ++number)
    submit_at("h" + std::to_string(number), lease(number, number));
  CAF_CHECK_EQUAL(world.running, 4u);
  advance(60'100ms);
  CAF_CHECK_EQUAL(count_ends(fetch_class::timeout), 2u);
  CAF_CHECK_EQUAL(world.order.size(), 6u);
  CAF_CHECK_EQUAL(world.running, 4u);
  advance(60'100ms);
  CAF_CHECK_EQUAL(count_ends(fetch_class::timeout), 4u);
  finish();
  CAF_CHECK_EQUAL(count_ends(fetch_class::ok), 2u);
}

CAF_TEST(a job that succeeds although it was cancelled has succeeded) {
  world.takes = 60'050ms;
  world.obeys = false;
  start_pool(2);
  submit_at("a.example", lease(1, 2));
  submit_at("b.example", lease(2, 3));
  finish();
  CAF_CHECK_EQUAL(ends().size(), 2u);
  CAF_CHECK_EQUAL(count_ends(fetch_class::ok), 2u);
}

CAF_TEST(one timer looks after all slow jobs) {
  world.takes = 10min;
  start_pool(100);
  submit_all(50);
  // One for each fake worker, and the pool's own.
  CAF_CHECK_EQUAL(pending_timers(), 51u);
}

CAF_TEST(the first pack byte is told to who waits for the job) {
  start_pool(2);
  submit(lease(1));
  caf::anon_send(pool, fetch_moving{lease(1)});
  caf::anon_send(pool, fetch_moving{lease(2)});
  settle();
  CAF_CHECK((state_of<sink_state>(sink).moving == std::vector{lease(1)}));
  finish();
  caf::anon_send(pool, fetch_moving{lease(1)});
  settle();
  CAF_CHECK_EQUAL(state_of<sink_state>(sink).moving.size(), 1u);
}

CAF_TEST(a drain without jobs is answered at once) {
  start_pool(3);
  CAF_CHECK_EQUAL(ask<drained>(pool, drain{4s}).cancelled, 0u);
}

CAF_TEST(an exit of the pool cancels its jobs and ends its workers) {
  world.takes = 1h;
  start_pool(2);
  submit_all(2);
  caf::anon_send_exit(pool, caf::exit_reason::user_shutdown);
  settle();
  CAF_CHECK_EQUAL(world.running, 0u);
}

CAF_TEST(the throttle gets no pack and an unheard one is let go) {
  struct bringer : git_transport {
    fetch_outcome fetch(const fetch_order& order, const std::atomic<bool>&,
                        const fetch_watch& watch) override {
      watch.first_send();
      watch.first_pack_byte();
      auto result = outcome(fetch_class::ok);
      result.pack = std::make_shared<folder>();
      result.got = order.wants;
      last = result.pack;
      return result;
    }
    std::weak_ptr<quarantine> last;
  };
  const auto transport = std::make_shared<bringer>();
  pool = track(
    sys.spawn(fetch_pool, engine::board_limits{1}, [&](started_sink to) {
      return track(sys.spawn(fetch_worker, transport, to));
    }));
  adopt(throttle, 1);
  submit(lease(1));
  CAF_REQUIRE_EQUAL(ends().size(), 1u);
  CAF_CHECK(ends().front().result.pack != nullptr);
  CAF_CHECK_EQUAL(ends().front().url.value, "https://example.org/r.git");
  CAF_REQUIRE_EQUAL(seen_by(throttle).heard.size(), 1u);
  CAF_CHECK(seen_by(throttle).heard.front().result.pack == nullptr);
  CAF_CHECK_EQUAL(seen_by(throttle).starts.size(), 1u);
  CAF_CHECK_EQUAL(state_of<sink_state>(sink).moving.size(), 1u);
  ends().clear();
  CAF_CHECK(transport->last.expired());
  kill(sink);
  submit(lease(2));
  CAF_CHECK(transport->last.expired());
  CAF_CHECK_EQUAL(seen_by(throttle).heard.size(), 2u);
}

CAF_TEST(an exception of the fetch client becomes an internal failure) {
  struct thrower : git_transport {
    fetch_outcome fetch(const fetch_order&, const std::atomic<bool>&,
                        const fetch_watch&) override {
      throw std::runtime_error("disk on fire");
    }
  };
  pool = track(
    sys.spawn(fetch_pool, engine::board_limits{1}, [&](started_sink to) {
      return track(sys.spawn(fetch_worker, std::make_shared<thrower>(), to));
    }));
  adopt(throttle, 1);
  submit(lease(1));
  CAF_REQUIRE_EQUAL(ends().size(), 1u);
  CAF_CHECK_EQUAL(ends().front().result.outcome, fetch_class::internal);
  CAF_CHECK(ends().front().result.detail.find("disk on fire")
            != std::string::npos);
  CAF_CHECK(seen_by(throttle).starts.empty());
}

CAF_TEST_FIXTURE_SCOPE_END()

namespace {

/// Jobs, deaths, reclaims and a heir at random moments.
void run_random_world(std::uint64_t seed) {
  test::random_schedule sim{seed};
  remote world;
  world.throws = [&](lease_id) { return sim.rng() % 8 == 0; };
  std::uint32_t serial = 1;
  const host_key host{"example.org"};
  const auto sink = sim.track(sim.sys.spawn(record_ends));
  const auto pool = sim.track(
    sim.sys.spawn(fetch_pool, engine::board_limits{3}, [&](started_sink to) {
      // Some are slow and have to go, which may cross their end.
      const auto longest = sim.rng() % 4 == 0 ? 90'000U : 5000U;
      world.takes = std::chrono::milliseconds{100 + sim.rng() % longest};
      const auto worker = sim.track(sim.sys.spawn(fake_worker, &world, to));
      world.workers.push_back(caf::actor_cast<caf::actor>(worker));
      return fetch_worker_actor{worker};
    }));
  std::vector<throttle_actor> throttles;
  const auto adopt = [&] {
    throttles.push_back(sim.track(sim.sys.spawn(throttle_probe)));
    caf::anon_send(pool, adopt_throttle{host, serial, std::nullopt},
                   throttles.back());
  };
  adopt();
  std::vector<lease_id> submitted;
  std::set<std::uint64_t> reclaimed;
  std::uint32_t number = 0;
  const auto disturb = [&] {
    const auto dice = sim.rng() % 16;
    if (dice < 12 && number < 60) {
      const auto which = lease(++number, serial);
      submitted.push_back(which);
      fetch_request request{which, {}, host, {}};
      caf::anon_send(pool, request, sink);
    } else if (dice == 12 && !world.workers.empty()) {
      caf::anon_send_exit(world.workers[sim.rng() % world.workers.size()],
                          caf::exit_reason::kill);
    } else if (dice == 13 && !submitted.empty()) {
      const auto which = submitted[sim.rng() % submitted.size()];
      reclaimed.insert(which.value);
      caf::anon_send(pool, reclaim{which});
    } else if (dice == 14) {
      ++serial;
      adopt();
    }
  };
  disturb();
  sim.explore(std::chrono::hours{1}, disturb, [&] {
    if (world.running > 3)
      CAF_FAIL("seed " << seed << ": too many jobs");
  });
  std::map<std::uint64_t, int> ends;
  for (const auto& done : sim.state_of<sink_state>(sink).heard)
    ++ends[done.lease.value];
  for (const auto which : submitted) {
    const auto times = ends[which.value];
    if (times > 1 || (times == 0 && !reclaimed.contains(which.value)))
      CAF_FAIL("seed " << seed << ": lease " << which.value << " ended "
                       << times << " times");
  }
  if (world.running != 0)
    CAF_FAIL("seed " << seed << ": a job never ended");
}

} // namespace

CAF_TEST(in any order of events every lease ends exactly once) {
  const auto first = test::first_seed();
  CAF_MESSAGE("PURGATORY_TEST_SEED=" << first);
  constexpr std::uint64_t rounds = 1000;
  for (auto seed = first; seed < first + rounds; ++seed)
    run_random_world(seed);
  CAF_CHECK_EQUAL(rounds, 1000u);
}
