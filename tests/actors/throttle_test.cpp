#define CAF_SUITE throttle
#include "actors/log.hpp"
#include "actors/throttle.hpp"
#include "tests/support/deterministic.hpp"

#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace purgatory;
using namespace std::chrono_literals;

namespace {

constexpr auto window_end = 60s + 200ms;

/// An identifier that only notes its grants.
struct holder_state {
  explicit holder_state(grant_sink::stateful_pointer<holder_state>) {}
};

grant_sink::behavior_type holder(grant_sink::stateful_pointer<holder_state>,
                                 std::vector<url_ready>* grants) {
  return {[grants](const url_ready& grant) { grants->push_back(grant); }};
}

/// A supervisor that only notes what it hears of the host.
struct listener_state {
  explicit listener_state(host_news_sink::stateful_pointer<listener_state>) {}
};

host_news_sink::behavior_type
listener(host_news_sink::stateful_pointer<listener_state>,
         std::vector<host_news>* heard) {
  return {[heard](const host_news& news) { heard->push_back(news); }};
}

/// A pool that only answers `reclaim`, as told.
struct pool_state {
  explicit pool_state(fetch_pool_actor::stateful_pointer<pool_state>) {}
  std::set<lease_id> running;
  std::vector<lease_id> reclaims;
};

fetch_pool_actor::behavior_type
fake_pool(fetch_pool_actor::stateful_pointer<pool_state> self) {
  return {
    [](const fetch_request&, const completion_sink&) {},
    [](const fetch_started&) {},
    [](const fetch_moving&) {},
    [](const adopt_throttle&, const throttle_actor&) {},
    [self](const reclaim& lost) {
      auto& state = self->state;
      state.reclaims.push_back(lost.lease);
      return reclaim_answer{lost.lease, state.running.contains(lost.lease)
                                          ? reclaim_outcome::running
                                          : reclaim_outcome::reclaimed};
    },
    [](const backoff_tick&) {},
    [](const drain&) { return drained{}; },
  };
}

unit_key unit(const std::string& name) {
  return {pubkey{std::string(64, name[0])}, identifier{name}};
}

struct world : purgatory::test::deterministic {
  std::vector<url_ready> grants; ///< All, in order.
  std::vector<host_news> news;   ///< Likewise.
  fetch_pool_actor pool;
  throttle_actor domain;
  grant_sink anyone;

  world() {
    pool = track(sys.spawn(fake_pool));
    anyone = new_holder();
    spawn_throttle({host_key{"example.org"}, 9});
    caf::anon_send(domain, throttle_seed{});
    settle();
  }

  ~world() override { CAF_CHECK_EQUAL(problem(), ""); }

  void spawn_throttle(throttle_config config) {
    domain = track(sys.spawn(throttle, std::move(config), pool));
    settle();
  }

  grant_sink new_holder() { return track(sys.spawn(holder, &grants)); }

  enqueue_answer ask_turn(const std::string& name, grant_sink sink,
                          lane turn = lane::fresh) {
    const enqueue wanted{unit(name), remote_url{"https://example.org/" + name},
                         turn};
    auto answer = ask<enqueue_answer>(domain, wanted, std::move(sink));
    if (answer.outcome == enqueue_outcome::granted)
      grants.push_back(answer.grant);
    return answer;
  }

  void ask_many(int count, int from = 0) {
    for (int i = from; i < from + count; ++i)
      ask_turn(std::string(1, static_cast<char>('A' + i)), anyone);
  }

  template <class Word>
  void tell(Word word) {
    caf::anon_send(domain, std::move(word));
    settle();
  }

  void answer(const url_ready& grant, grant_decision decision) {
    tell(grant_answer{grant.lease, decision});
  }

  void send(const url_ready& grant) {
    answer(grant, grant_decision::start);
    tell(fetch_started{grant.lease, now()});
  }

  void complete(const url_ready& grant) {
    tell(request_complete{grant.lease, grant.who, grant.host, grant.url, {}});
  }

  void end(const url_ready& grant, fetch_class outcome,
           std::optional<std::chrono::seconds> retry_after = {}) {
    fetch_outcome result;
    result.outcome = outcome;
    result.retry_after = retry_after;
    tell(request_complete{grant.lease, grant.who, grant.host, grant.url,
                          std::move(result)});
  }

  /// Asks, is granted at once, is sent and ends like that.
  void turn(const std::string& name, fetch_class outcome,
            std::optional<std::chrono::seconds> retry_after = {}) {
    CAF_REQUIRE(ask_turn(name, anyone).outcome == enqueue_outcome::granted);
    const auto grant = take_grant();
    send(grant);
    end(grant, outcome, retry_after);
  }

  url_ready take_grant() {
    CAF_REQUIRE(!grants.empty());
    auto grant = grants.front();
    grants.erase(grants.begin());
    return grant;
  }

  /// A throttle that is listened to; `known`: what its predecessor told.
  void spawn_heard(throttle_config config) {
    config.news = track(sys.spawn(listener, &news));
    spawn_throttle(std::move(config));
    tell(throttle_seed{});
  }

  throttle_config heard_config(std::uint32_t serial = 10) {
    throttle_config config;
    config.host = host_key{"example.org"};
    config.serial = serial;
    config.live = {now(), 1000};
    return config;
  }

  void block_by_three() {
    for (const auto* name : {"A", "B", "C"})
      turn(name, fetch_class::refused);
  }

  /// Runs every granted lease to its end until no more are granted.
  std::size_t run_all() {
    std::size_t ran = 0;
    for (; !grants.empty(); ++ran) {
      const auto grant = grants.front();
      grants.erase(grants.begin());
      send(grant);
      complete(grant);
    }
    return ran;
  }

  throttle_report report() { return ask<throttle_report>(domain, describe{}); }
  std::string problem() {
    return state_of<throttle_state>(domain).check_invariants();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(throttle_tests, world)

CAF_TEST(enqueue grants five at once and queues the sixth) {
  for (const auto* name : {"A", "B", "C", "D", "E"})
    CAF_CHECK(ask_turn(name, anyone).outcome == enqueue_outcome::granted);
  CAF_CHECK(ask_turn("F", anyone).outcome == enqueue_outcome::queued);
  CAF_CHECK_EQUAL(grants.size(), 5u);
  CAF_CHECK_EQUAL(grants[2].who, unit("C"));
  CAF_CHECK_EQUAL(grants[2].url, remote_url{"https://example.org/C"});
  CAF_CHECK_EQUAL(grants[2].host, host_key{"example.org"});
  CAF_CHECK_EQUAL(throttle_serial(grants[2].lease), 9u);
}

CAF_TEST(request_complete frees the slot for the next by url_ready) {
  ask_many(7);
  send(grants[0]);
  complete(grants[0]);
  CAF_CHECK_EQUAL(grants.size(), 6u);
  CAF_CHECK_EQUAL(grants[5].who, unit("F"));
}

CAF_TEST(thirty per window and the next exactly at its end plus guard) {
  ask_many(40);
  CAF_CHECK_EQUAL(run_all(), 30u);
  advance(window_end - 1us);
  CAF_CHECK_EQUAL(grants.size(), 0u);
  advance(1us);
  CAF_CHECK_EQUAL(run_all(), 10u);
}

CAF_TEST(the window frees with nothing in flight by the throttles own timer) {
  ask_many(30);
  CAF_CHECK_EQUAL(run_all(), 30u);
  CAF_CHECK_EQUAL(report().leases, 0u);
  CAF_CHECK(ask_turn("z", anyone).outcome == enqueue_outcome::queued);
  CAF_CHECK_EQUAL(pending_timers(), 1u);
  advance(window_end);
  CAF_CHECK_EQUAL(grants.size(), 1u);
}

CAF_TEST(the window counts from the first send and not from the grant) {
  tell(set_limits{{}, {}, 1});
  ask_many(2);
  advance(10min);
  CAF_CHECK_EQUAL(grants.size(), 1u);
  send(grants[0]);
  complete(grants[0]);
  advance(window_end - 1us);
  CAF_CHECK_EQUAL(grants.size(), 1u);
  advance(1us);
  CAF_CHECK_EQUAL(grants.size(), 2u);
}

CAF_TEST(an idle throttle has no pending timer) {
  CAF_CHECK_EQUAL(pending_timers(), 0u);
  ask_many(20);
  run_all();
  CAF_CHECK_EQUAL(pending_timers(), 0u);
}

CAF_TEST(one timer is armed however often the queue changes) {
  ask_many(35);
  run_all();
  ask_many(20, 35);
  CAF_CHECK_EQUAL(pending_timers(), 1u);
}

CAF_TEST(defer keeps the place and skips it until it asks again) {
  tell(set_limits{{}, 1, {}});
  ask_many(3);
  answer(grants[0], grant_decision::defer);
  CAF_CHECK_EQUAL(grants.back().who, unit("B"));
  send(grants.back());
  complete(grants.back());
  CAF_CHECK_EQUAL(grants.back().who, unit("C"));
  CAF_CHECK_EQUAL(report().waiting, 2u);
  send(grants.back());
  complete(grants.back());
  advance(1h);
  CAF_CHECK_EQUAL(grants.size(), 3u);
  CAF_CHECK(ask_turn("A", anyone).outcome == enqueue_outcome::granted);
}

CAF_TEST(withdraw gives the turn to the next at once) {
  tell(set_limits{{}, 1, 1});
  ask_many(2);
  answer(grants[0], grant_decision::withdraw);
  CAF_CHECK_EQUAL(grants.size(), 2u);
  CAF_CHECK_EQUAL(grants[1].who, unit("B"));
  CAF_CHECK_EQUAL(report().waiting, 1u);
}

CAF_TEST(leave_queue takes the place away) {
  ask_many(7);
  CAF_CHECK_EQUAL(ask<queue_left>(domain, leave_queue{unit("F")}).who,
                  unit("F"));
  CAF_CHECK_EQUAL(ask<queue_left>(domain, leave_queue{unit("x")}).who,
                  unit("x"));
  complete(grants[0]);
  CAF_CHECK_EQUAL(grants.back().who, unit("G"));
}

CAF_TEST(a grant goes to the sink that asked last) {
  tell(set_limits{{}, 1, {}});
  std::vector<url_ready> newer_grants;
  const auto newer = track(sys.spawn(holder, &newer_grants));
  ask_many(2);
  ask_turn("B", newer);
  complete(grants[0]);
  CAF_CHECK_EQUAL(grants.size(), 1u);
  CAF_CHECK_EQUAL(newer_grants.size(), 1u);
}

CAF_TEST(enqueue twice keeps one place) {
  tell(set_limits{{}, 1, {}});
  ask_many(2);
  ask_turn("B", anyone);
  CAF_CHECK_EQUAL(report().waiting, 2u);
}

CAF_TEST(no subject has two leases at one domain) {
  ask_turn("A", anyone);
  send(grants[0]);
  CAF_CHECK(ask_turn("A", anyone).outcome == enqueue_outcome::queued);
  CAF_CHECK_EQUAL(report().leases, 1u);
  complete(grants[0]);
  CAF_CHECK_EQUAL(grants.size(), 2u);
}

CAF_TEST(fetch_started and request_complete may overtake the answer) {
  ask_many(2);
  tell(fetch_started{grants[0].lease, now()});
  complete(grants[1]);
  CAF_CHECK_EQUAL(problem(), "");
  CAF_CHECK_EQUAL(report().waiting, 0u);
  answer(grants[0], grant_decision::start);
  answer(grants[1], grant_decision::start);
  CAF_CHECK_EQUAL(report().leases, 1u);
  CAF_CHECK_EQUAL(grants.size(), 2u);
}

CAF_TEST(holder dies before its answer and the lease is reclaimed) {
  tell(set_limits{{}, 1, 1});
  const auto mortal = new_holder();
  ask_turn("A", mortal);
  ask_turn("B", anyone);
  kill(mortal);
  CAF_CHECK_EQUAL(state_of<pool_state>(pool).reclaims.size(), 1u);
  CAF_CHECK_EQUAL(grants.back().who, unit("B"));
  CAF_CHECK_EQUAL(report().waiting, 1u);
}

CAF_TEST(holder dies between start and first send and the pool has the job) {
  tell(set_limits{{}, 1, {}});
  const auto mortal = new_holder();
  ask_turn("A", mortal);
  ask_turn("B", anyone);
  const auto lost = grants[0];
  answer(lost, grant_decision::start);
  state_of<pool_state>(pool).running.insert(lost.lease);
  kill(mortal);
  advance(1h);
  CAF_CHECK_EQUAL(report().leases, 1u);
  CAF_CHECK_EQUAL(grants.size(), 1u);
  tell(fetch_started{lost.lease, now()});
  complete(lost);
  CAF_CHECK_EQUAL(grants.size(), 2u);
}

CAF_TEST(holder dies after the first send and nobody is asked) {
  const auto mortal = new_holder();
  ask_turn("A", mortal);
  send(grants[0]);
  caf::anon_send_exit(mortal, caf::exit_reason::kill);
  // Only the exit itself: the throttle does not watch it any more.
  CAF_CHECK_EQUAL(consume_messages(), 1u);
  CAF_CHECK_EQUAL(state_of<pool_state>(pool).reclaims.size(), 0u);
  CAF_CHECK_EQUAL(report().leases, 1u);
}

CAF_TEST(a holder that died waiting bounces and starves nobody) {
  tell(set_limits{{}, 1, 2});
  const auto mortal = new_holder();
  ask_turn("A", anyone);
  for (const auto* name : {"B", "C", "D"})
    ask_turn(name, mortal);
  ask_turn("E", anyone);
  kill(mortal);
  send(grants[0]);
  complete(grants[0]);
  CAF_CHECK_EQUAL(grants.back().who, unit("E"));
  CAF_CHECK_EQUAL(report().waiting, 1u);
  CAF_CHECK_EQUAL(state_of<pool_state>(pool).reclaims.size(), 3u);
}

CAF_TEST(a successor keeps the place of a dead holder) {
  tell(set_limits{{}, 1, {}});
  const auto mortal = new_holder();
  ask_turn("A", mortal);
  // The successor asks before the throttle hears of the death.
  ask_turn("A", anyone);
  kill(mortal);
  CAF_CHECK_EQUAL(grants.size(), 2u);
  CAF_CHECK_EQUAL(grants[1].who, unit("A"));
  CAF_CHECK(grants[0].lease != grants[1].lease);
}

CAF_TEST(without a pool a lost lease ends and counts as sent) {
  tell(set_limits{{}, 1, 1});
  const auto mortal = new_holder();
  ask_turn("A", mortal);
  ask_turn("B", anyone);
  kill(pool);
  kill(mortal);
  CAF_CHECK_EQUAL(report().leases, 0u);
  CAF_CHECK_EQUAL(grants.size(), 1u);
  advance(window_end);
  CAF_CHECK_EQUAL(grants.size(), 2u);
}

CAF_TEST(set_limits from five to ten starts exactly five more at once) {
  ask_many(50);
  CAF_CHECK_EQUAL(grants.size(), 5u);
  tell(set_limits{{}, 10, {}});
  CAF_CHECK_EQUAL(grants.size(), 10u);
  CAF_CHECK_EQUAL(report().concurrent, 10u);
  CAF_CHECK_EQUAL(report().waiting, 50u);
}

CAF_TEST(set_limits downwards stops nothing and loses nobody) {
  ask_many(10);
  tell(set_limits{host_key{"example.org"}, 1, {}});
  CAF_CHECK_EQUAL(report().leases, 5u);
  for (std::size_t i = 0; i < 4; ++i) {
    send(grants[i]);
    complete(grants[i]);
    CAF_CHECK_EQUAL(grants.size(), 5u);
  }
  grants.erase(grants.begin(), grants.begin() + 4);
  CAF_CHECK_EQUAL(run_all(), 6u);
}

CAF_TEST(set_limits for another host changes nothing) {
  ask_many(6);
  tell(set_limits{host_key{"elsewhere.org"}, 10, 1});
  CAF_CHECK_EQUAL(grants.size(), 5u);
  CAF_CHECK_EQUAL(report().per_minute, 30u);
}

CAF_TEST(raising per_minute wakes the queue) {
  tell(set_limits{{}, {}, 2});
  ask_many(4);
  CAF_CHECK_EQUAL(run_all(), 2u);
  tell(set_limits{{}, {}, 3});
  CAF_CHECK_EQUAL(run_all(), 1u);
  CAF_CHECK_EQUAL(report().per_minute, 3u);
}

CAF_TEST(nothing is granted before the seed) {
  spawn_throttle({host_key{"example.org"}, 10});
  CAF_CHECK(ask_turn("A", anyone).outcome == enqueue_outcome::queued);
  tell(set_limits{{}, 10, 100});
  advance(1h);
  CAF_CHECK_EQUAL(grants.size(), 0u);
  tell(throttle_seed{});
  CAF_CHECK_EQUAL(grants.size(), 1u);
}

CAF_TEST(seeded leases and starts count) {
  spawn_throttle({host_key{"example.org"}, 10, 2, 3});
  const lease_id running{77};
  tell(throttle_seed{{{running, unit("A"), true, now() - 10s},
                      {lease_id{78}, unit("B"), false, now() - 20s}}});
  ask_many(3);
  CAF_CHECK_EQUAL(grants.size(), 1u);
  CAF_CHECK_EQUAL(grants[0].who, unit("B"));
  send(grants[0]);
  tell(request_complete{running, unit("A"), host_key{"example.org"}, {}, {}});
  CAF_CHECK_EQUAL(grants.size(), 1u);
  advance(window_end - 20s - 1us);
  CAF_CHECK_EQUAL(grants.size(), 1u);
  advance(1us);
  CAF_CHECK_EQUAL(grants.size(), 2u);
}

CAF_TEST(a second seed is ignored) {
  tell(throttle_seed{{{lease_id{77}, unit("A"), true, now()}}});
  CAF_CHECK_EQUAL(report().leases, 0u);
}

CAF_TEST(answers about unknown leases are harmless) {
  ask_many(6);
  tell(grant_answer{lease_id{5}, grant_decision::withdraw});
  tell(fetch_started{lease_id{5}, now()});
  tell(request_complete{lease_id{5}, unit("A"), {}, {}, {}});
  CAF_CHECK_EQUAL(report().leases, 5u);
  CAF_CHECK_EQUAL(grants.size(), 5u);
}

CAF_TEST(a queued enqueue is a debug line with identifier and domain) {
  std::ostringstream lines;
  log::configure({log::level::debug, log::format::text, &lines});
  ask_many(6);
  log::configure({});
  CAF_CHECK(lines.str().ends_with(
    "debug Enqueueing with throttled domain identifier=\"F\" "
    "domain=\"example.org\"\n"));
}

CAF_TEST(hour and day limits hold and can be set while it runs) {
  throttle_config config = heard_config();
  config.limits.per_hour = 3;
  spawn_heard(config);
  ask_many(6);
  CAF_CHECK_EQUAL(run_all(), 3u);
  advance(59min);
  CAF_CHECK_EQUAL(run_all(), 0u);
  advance(1min + 200ms);
  CAF_CHECK_EQUAL(run_all(), 3u);
  tell(set_limits{{}, {}, {}, 0, 8});
  CAF_CHECK_EQUAL(report().per_hour, 0u);
  CAF_CHECK_EQUAL(report().per_day, 8u);
  ask_many(6, 6);
  CAF_CHECK_EQUAL(run_all(), 2u);
  advance(21h);
  CAF_CHECK_EQUAL(run_all(), 0u);
  // The first three are a day old.
  advance(3h);
  CAF_CHECK_EQUAL(run_all(), 3u);
}

CAF_TEST(429 with Retry - After is obeyed and seen in the answer) {
  turn("A", fetch_class::limited, 300s);
  const auto answer = ask_turn("B", anyone);
  CAF_REQUIRE(answer.outcome == enqueue_outcome::queued);
  CAF_CHECK(answer.host.blocked_until == now() + 300s);
  advance(300s - 1us);
  CAF_CHECK_EQUAL(grants.size(), 0u);
  advance(1us);
  CAF_CHECK_EQUAL(grants.size(), 1u);
}

CAF_TEST(429 without Retry - After is a minute) {
  turn("A", fetch_class::limited);
  ask_turn("B", anyone);
  advance(60s - 1us);
  CAF_CHECK_EQUAL(grants.size(), 0u);
  advance(1us);
  CAF_CHECK_EQUAL(grants.size(), 1u);
}

CAF_TEST(two failing units block nothing and the third does) {
  turn("A", fetch_class::refused);
  turn("B", fetch_class::timeout);
  turn("A", fetch_class::refused);
  turn("C", fetch_class::server);
  CAF_CHECK(ask_turn("D", anyone).outcome == enqueue_outcome::queued);
  CAF_CHECK(report().view.blocked_until == now() + 60s);
}

CAF_TEST(an answer that is of no use still shows that the host is well) {
  for (const auto outcome :
       {fetch_class::not_here, fetch_class::no_repo, fetch_class::auth,
        fetch_class::corrupt, fetch_class::internal})
    for (const auto* name : {"A", "B", "C"})
      turn(name, outcome);
  CAF_CHECK(!report().view.blocked_until);
}

CAF_TEST(at the end of a block one probe goes out and decides for all) {
  block_by_three();
  ask_many(4);
  advance(60s);
  CAF_CHECK_EQUAL(grants.size(), 1u);
  advance(1h);
  CAF_CHECK_EQUAL(grants.size(), 1u);
  auto probe = take_grant();
  send(probe);
  end(probe, fetch_class::refused);
  CAF_CHECK(grants.empty());
  CAF_CHECK_EQUAL(report().view.failed_probes, 1u);
  advance(2min);
  probe = take_grant();
  send(probe);
  end(probe, fetch_class::not_here);
  CAF_CHECK_EQUAL(grants.size(), 2u);
  CAF_CHECK_EQUAL(report().view.failed_probes, 1u);
}

CAF_TEST(a probe whose holder dies is followed by another) {
  block_by_three();
  const auto mortal = new_holder();
  ask_turn("A", mortal);
  ask_turn("B", anyone);
  advance(60s);
  CAF_CHECK_EQUAL(take_grant().who, unit("A"));
  kill(mortal);
  CAF_CHECK_EQUAL(take_grant().who, unit("B"));
}

CAF_TEST(block recovery and learned rate are told) {
  spawn_heard(heard_config());
  block_by_three();
  CAF_REQUIRE_EQUAL(news.size(), 1u);
  CAF_CHECK(news[0].what == host_change::blocked);
  CAF_CHECK(news[0].state.reason == fetch_class::refused);
  CAF_CHECK_EQUAL(news[0].state.host, host_key{"example.org"});
  CAF_CHECK_EQUAL(news[0].state.blocked_until, 1060);
  ask_turn("A", anyone);
  advance(60s);
  const auto probe = take_grant();
  send(probe);
  end(probe, fetch_class::ok);
  CAF_REQUIRE_EQUAL(news.size(), 2u);
  CAF_CHECK(news[1].what == host_change::recovered);
  CAF_CHECK_EQUAL(news[1].state.blocks, 0u);
  advance(1s); // The three that failed are a minute old.
  for (int i = 0; i < 10; ++i)
    turn("A", fetch_class::ok);
  turn("B", fetch_class::limited, 100s);
  CAF_REQUIRE_EQUAL(news.size(), 3u);
  CAF_CHECK_EQUAL(news[2].state.learned_per_minute, 10u);
}

CAF_TEST(a block that ends with nobody waiting is told for a probe) {
  spawn_heard(heard_config());
  block_by_three();
  advance(60s);
  CAF_REQUIRE_EQUAL(news.size(), 2u);
  CAF_CHECK(news[1].what == host_change::unblocked);
  ask_many(2);
  CAF_CHECK_EQUAL(grants.size(), 1u);
}

CAF_TEST(ten minutes without work are told once) {
  spawn_heard(heard_config());
  turn("A", fetch_class::ok);
  advance(10min - 1us);
  CAF_CHECK(news.empty());
  advance(1us);
  CAF_REQUIRE_EQUAL(news.size(), 1u);
  CAF_CHECK(news[0].what == host_change::idle);
  advance(2h);
  CAF_CHECK_EQUAL(news.size(), 1u);
  CAF_CHECK_EQUAL(pending_timers(), 0u);
  turn("A", fetch_class::ok);
  advance(10min);
  CAF_CHECK_EQUAL(news.size(), 2u);
}

CAF_TEST(a throttle that is never asked is idle too) {
  spawn_heard(heard_config());
  advance(10min);
  CAF_REQUIRE_EQUAL(news.size(), 1u);
  CAF_CHECK(news[0].what == host_change::idle);
}

CAF_TEST(block and learned rate survive a restart of the throttle) {
  spawn_heard(heard_config());
  for (int i = 0; i < 10; ++i)
    turn("A", fetch_class::ok);
  turn("B", fetch_class::limited, 100s);
  advance(30s);
  auto config = heard_config(11);
  config.live.at_start = 1030;
  config.known = news.back().state;
  kill(domain);
  spawn_heard(config);
  CAF_CHECK(report().learned_per_minute == 9.0);
  const auto answer = ask_turn("A", anyone);
  CAF_CHECK(answer.outcome == enqueue_outcome::queued);
  CAF_CHECK(answer.host.blocked_until == now() + 70s);
  advance(70s);
  const auto probe = take_grant();
  send(probe);
  end(probe, fetch_class::ok);
  // The pace of nine a minute, not the burst of thirty.
  ask_many(5);
  CAF_CHECK_EQUAL(grants.size(), 0u);
  advance(7s);
  CAF_CHECK_EQUAL(grants.size(), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()
