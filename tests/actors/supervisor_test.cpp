// Routing, restart and retirement, with fakes for what it spawns.
#define CAF_SUITE supervisor
#include "actors/journal.hpp"
#include "actors/log.hpp"
#include "actors/supervisor.hpp"
#include "tests/support/deterministic.hpp"
#include "tests/support/events.hpp"
#include "tests/support/memory_store.hpp"

#include <sstream>

using namespace purgatory;
using namespace purgatory::test;
using namespace std::chrono_literals;

namespace {

/// What the fakes saw.
struct seen_by_fakes {
  std::vector<std::pair<identifier, event_id>> arrived;
  std::vector<host_key> restarted;
  std::vector<adopt_throttle> adopted;
  std::vector<std::pair<host_key, set_limits>> limits;
};

identifier_actor::behavior_type
fake_identifier(identifier_actor::stateful_pointer<stateless> self,
                identifier repo, seen_by_fakes* seen) {
  return {
    [=](const event_arrived& m) {
      seen->arrived.emplace_back(repo, m.event.id);
      return admission{action::hold, "held"};
    },
    [](const url_ready&) {},
    [](const request_complete&) {},
    [](const backoff_tick&) {},
    [=](const throttle_restarted& m) { seen->restarted.push_back(m.host); },
    [=](const purgatory::close&) { self->quit(); },
  };
}

throttle_actor::behavior_type
fake_throttle(throttle_actor::stateful_pointer<stateless>, host_key host,
              throttle_report first, seen_by_fakes* seen) {
  return {
    [](const enqueue&, const grant_sink&) { return enqueue_answer{}; },
    [](const grant_answer&) {},
    [](const leave_queue& m) { return queue_left{m.who}; },
    [](const fetch_started&) {},
    [](const request_complete&) {},
    [](const backoff_tick&) {},
    [](const throttle_seed&) {},
    [=](const set_limits& m) { seen->limits.emplace_back(host, m); },
    [=](const describe&) { return first; },
  };
}

git_actor::behavior_type
fake_repository(git_actor::stateful_pointer<stateless>) {
  const auto done = [](const tenant& which) {
    return repository_report{which, {store_result::done, {}, ""}};
  };
  return {
    [=](const prepare& m) { return done(m.repository); },
    [](const check_presence& m) {
      return presence{m.repository, m.ids, {}};
    },
    [=](const promote& m) { return done(m.repository); },
    [=](const align& m) { return done(m.repository); },
    [=](const set_pr_ref& m) { return done(m.repository); },
  };
}

fetch_pool_actor::behavior_type
fake_pool(fetch_pool_actor::stateful_pointer<stateless>, seen_by_fakes* seen) {
  return {
    [](const fetch_request&, const completion_sink&) {},
    [](const fetch_started&) {},
    [=](const adopt_throttle& m, const throttle_actor&) {
      seen->adopted.push_back(m);
    },
    [](const reclaim& m) { return reclaim_answer{m.lease}; },
    [](const backoff_tick&) {},
    [](const drain&) { return drained{}; },
  };
}

struct fixture : deterministic {
  seen_by_fakes seen;
  std::vector<identifier_actor> spawned;
  std::shared_ptr<memory_store> store = std::make_shared<memory_store>();
  supervisor_actor sup;
  const identifier repo{"r"};
  std::ostringstream silence;

  fixture() {
    log::configure({log::level::error, log::format::text, &silence});
    supervisor_factories make;
    make.make_identifier
      = [this](const supervisor_actor&, const identifier& name) {
          spawned.push_back(track(sys.spawn(fake_identifier, name, &seen)));
          return spawned.back();
        };
    make.make_throttle
      = [this](const host_key& host, std::uint32_t, std::uint32_t concurrent,
               std::uint32_t per_minute) {
          throttle_report first;
          first.host = host;
          first.concurrent = concurrent;
          first.per_minute = per_minute;
          return track(sys.spawn(fake_throttle, host, first, &seen));
        };
    make.make_repository
      = [this](const tenant&) { return track(sys.spawn(fake_repository)); };
    const auto pool = track(sys.spawn(fake_pool, &seen));
    const auto keeper
      = track(sys.spawn(journal, std::shared_ptr<event_store>(store)));
    sup = track(sys.spawn(supervisor, std::move(make), pool, keeper,
                          supervisor_options{}));
  }

  ~fixture() override { log::configure({}); }

  std::string offer(std::uint64_t id) {
    return ask<admission>(
             sup,
             event_arrived{announcement(id, key(1), "r", {}), provenance::sync},
             repo)
      .message;
  }

  throttle_actor throttle_of(const char* host) {
    return ask<throttle_actor>(sup, host_key{host});
  }

  throttle_report report_of(const char* host) {
    return ask<throttle_report>(throttle_of(host), describe{});
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(supervisor_tests, fixture)

CAF_TEST(
  the first event spawns the identifier and the second goes to the same) {
  CAF_CHECK(offer(1) == "held");
  CAF_CHECK(offer(2) == "held");
  CAF_CHECK_EQUAL(spawned.size(), 1u);
  CAF_CHECK_EQUAL(seen.arrived.size(), 2u);
}

CAF_TEST(an identifier leaves only when it has seen every event routed to it) {
  offer(1);
  offer(2);
  self->send(sup, retire{repo, 1});
  settle();
  offer(3);
  CAF_CHECK_EQUAL(spawned.size(), 1u);
  self->send(sup, retire{repo, 3});
  settle();
  offer(4);
  CAF_CHECK_EQUAL(spawned.size(), 2u);
}

CAF_TEST(a repository goes with its identifier and a dead one is replaced) {
  const tenant which{key(1), repo};
  offer(1);
  const auto first = ask<git_actor>(sup, which);
  CAF_CHECK(ask<git_actor>(sup, which) == first);
  kill(first);
  const auto second = ask<git_actor>(sup, which);
  CAF_CHECK(second != first);
  self->send(sup, retire{repo, 1});
  settle();
  CAF_CHECK(ask<git_actor>(sup, which) != second);
}

CAF_TEST(
  an identifier that dies is back at once and rests after the third death) {
  offer(1);
  kill(spawned.back());
  CAF_CHECK_EQUAL(spawned.size(), 2u);
  kill(spawned.back());
  CAF_CHECK_EQUAL(spawned.size(), 3u);
  kill(spawned.back());
  CAF_CHECK_EQUAL(spawned.size(), 3u);
  CAF_CHECK(offer(2) == "error: purgatory busy, try again");
  advance(10min);
  CAF_CHECK_EQUAL(spawned.size(), 4u);
  CAF_CHECK(offer(3) == "held");
}

CAF_TEST(deaths far apart never make it rest) {
  offer(1);
  for (int i = 0; i < 5; ++i) {
    kill(spawned.back());
    advance(6min);
  }
  CAF_CHECK_EQUAL(spawned.size(), 6u);
}

CAF_TEST(
  a dead throttle is announced to all and its successor has another serial) {
  offer(1);
  const auto first = throttle_of("a.example");
  CAF_CHECK(throttle_of("a.example") == first);
  kill(first);
  CAF_REQUIRE_EQUAL(seen.restarted.size(), 1u);
  CAF_CHECK(throttle_of("a.example") != first);
  settle();
  CAF_REQUIRE_EQUAL(seen.adopted.size(), 2u);
  CAF_CHECK(seen.adopted[0].serial != seen.adopted[1].serial);
}

CAF_TEST(limits reach who lives and who comes later and a host keeps its own) {
  throttle_of("a.example");
  throttle_of("b.example");
  ask<limits_set>(sup, set_limits{host_key{"b.example"}, 2, std::nullopt});
  ask<limits_set>(sup, set_limits{std::nullopt, 9, 60});
  settle();
  std::map<host_key, set_limits> last;
  for (const auto& [host, limits] : seen.limits)
    last[host] = limits;
  CAF_CHECK(last[host_key{"a.example"}].concurrent == 9u);
  CAF_CHECK(last[host_key{"b.example"}].concurrent == 2u);
  CAF_CHECK(last[host_key{"b.example"}].per_minute == 60u);
  const auto later = report_of("c.example");
  CAF_CHECK_EQUAL(later.concurrent, 9u);
  CAF_CHECK_EQUAL(later.per_minute, 60u);
}

CAF_TEST(after stop_work nothing is taken) {
  ask<work_stopped>(sup, stop_work{});
  CAF_CHECK(offer(1) == "error: purgatory unavailable");
  CAF_CHECK(spawned.empty());
}

CAF_TEST(at start every identifier that waits is spawned once) {
  store->apply(
    {accept_record{announcement(1, key(1), "a", {}), identifier{"a"}},
     accept_record{announcement(2, key(1), "b", {}), identifier{"b"}},
     accept_record{announcement(3, key(2), "b", {}), identifier{"b"}}});
  store->commit();
  const auto pending = ask<pending_identifiers>(sup, list_pending{});
  CAF_CHECK_EQUAL(pending.repos.size(), 2u);
  CAF_CHECK_EQUAL(spawned.size(), 2u);
}

CAF_TEST_FIXTURE_SCOPE_END()
