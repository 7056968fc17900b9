#define CAF_SUITE supervisor
#include "actors/journal.hpp"
#include "actors/log.hpp"
#include "actors/supervisor.hpp"
#include "tests/support/deterministic.hpp"
#include "tests/support/events.hpp"
#include "tests/support/idle_throttle.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/seed.hpp"

#include <deque>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using namespace purgatory;
using namespace purgatory::test;
using namespace std::chrono_literals;

namespace {

const identifier repo{"r"};
const host_key host{"h.example"};
const admission busy{action::reject, "error: purgatory busy, try again"};

/// What one fake heard in its life.
struct identifier_life {
  identifier name;
  identifier_actor handle;
  std::vector<event_id> events;
  std::vector<host_key> restarts;
  std::vector<host_key> recovered;
  std::vector<host_key> probed;
  std::size_t plans = 0;
  std::uint64_t seen = 0;
  std::deque<caf::typed_response_promise<admission>> owed;
};

struct throttle_life {
  throttle_order order;
  throttle_actor handle;
  std::vector<set_limits> changes;
};

struct repository_life {
  tenant name;
  git_actor handle;
};

struct adoption {
  adopt_throttle what;
  throttle_actor handle;
};

/// A supervisor among fakes. Lives are kept in order of spawning.
template <class Base>
struct parent_of_fakes : Base {
  template <class... Args>
  explicit parent_of_fakes(Args... args) : Base(args...) {
    start({});
  }

  void start(supervisor_options options, std::shared_ptr<memory_store> from
                                         = std::make_shared<memory_store>()) {
    options.live = {this->now(), live_at_start};
    supervisor_factories make;
    make.make_identifier
      = [this](const supervisor_actor& parent, const identifier& name,
               const git::plan_settings& plan) {
          plans.push_back(plan.max_refs);
          return make_identifier(parent, name);
        };
    make.make_throttle
      = [this](const host_news_sink&, const throttle_order& order) {
          return make_throttle({order, {}, {}});
        };
    make.make_repository = [this](const tenant& name) {
      auto handle = this->track(this->sys.spawn([] { return git(); }));
      repositories.push_back({name, handle});
      return handle;
    };
    pool = this->track(this->sys.spawn(
      [this](fetch_pool_actor::pointer) { return fetching(); }));
    store = std::move(from);
    journal_part = this->track(this->sys.spawn(
      journal, std::shared_ptr<event_store>(store), options.live));
    uut = this->track(this->sys.spawn(supervisor, std::move(make), pool,
                                      journal_part, options));
  }

  /// Answers each event at once. One that `retires` needs a moment, as for a
  /// write, and asks to leave when it owes no answer.
  identifier_actor make_identifier(const supervisor_actor& parent,
                                   const identifier& name) {
    auto life = std::make_shared<identifier_life>();
    life->name = name;
    lives.push_back(life);
    life->handle = this->track(this->sys.spawn(
      [life = life.get(), parent, this](identifier_actor::pointer me) {
        if (loads_at_once)
          me->send(parent, loaded{life->name});
        const auto leave = [=, this] {
          if (retires && life->owed.empty())
            me->send(parent, retire{life->name, life->seen, wakes_at()});
        };
        leave();
        const auto note = [=](auto& list, const host_key& which) {
          ++life->seen;
          list.push_back(which);
          leave();
        };
        return identifier_actor::behavior_type{
          [=, this](const event_arrived& m) -> caf::result<admission> {
            ++life->seen;
            life->events.push_back(m.event.id);
            if (!retires)
              return admission{action::hold, "held"};
            me->send(me, backoff_tick{});
            life->owed.push_back(
              me->template make_response_promise<admission>());
            return life->owed.back();
          },
          [=](const url_ready& m) {
            me->request(parent, caf::infinite, m.host)
              .then([](const throttle_actor&) {});
          },
          [](const request_complete&) {},
          [](const fetch_moving&) {},
          [=](const backoff_tick&) {
            life->owed.front().deliver(admission{action::hold, "held"});
            life->owed.pop_front();
            leave();
          },
          [=](const throttle_restarted& m) { note(life->restarts, m.host); },
          [=](const host_recovered& m) { note(life->recovered, m.host); },
          [=](const probe_host& m) { note(life->probed, m.host); },
          [=](const plan_changed&) {
            ++life->seen;
            ++life->plans;
          },
          [=](const purgatory::close&) { me->quit(); },
        };
      }));
    return life->handle;
  }

  throttle_actor make_throttle(throttle_life made) {
    auto life = std::make_shared<throttle_life>(std::move(made));
    throttles.push_back(life);
    life->handle = this->track(
      this->sys.spawn([life = life.get()](throttle_actor::pointer) {
        return idle_throttle(
          {}, [life](const set_limits& m) { life->changes.push_back(m); });
      }));
    return life->handle;
  }

  static git_actor::behavior_type git() {
    return {
      [](const prepare& m) {
        return repository_report{m.repository, {}};
      },
      [](const check_presence& m) {
        return presence{m.repository, {}, {}};
      },
      [](const promote& m) {
        return repository_report{m.repository, {}};
      },
      [](const copy_from& m) {
        return repository_report{m.repository, {}};
      },
      [](const align& m) {
        return repository_report{m.repository, {}};
      },
      [](const set_pr_ref& m) {
        return repository_report{m.repository, {}};
      },
    };
  }

  fetch_pool_actor::behavior_type fetching() {
    return {
      [](const fetch_request&, const completion_sink&) {},
      [](const fetch_started&) {},
      [](const fetch_moving&) {},
      [this](const adopt_throttle& what, const throttle_actor& handle) {
        adoptions.push_back({what, handle});
      },
      [](const reclaim& m) { return reclaim_answer{m.lease}; },
      [](const backoff_tick&) {},
      [](const drain&) { return drained{}; },
    };
  }

  static event_arrived event(std::uint64_t number) {
    return {announcement(number, key(1), "r", {}), provenance::sync};
  }

  admission offer(std::uint64_t number, identifier to = repo) {
    return this->template ask<admission>(uut, event(number), std::move(to));
  }

  throttle_actor throttle_of(const host_key& name) {
    return this->template ask<throttle_actor>(uut, name);
  }

  /// The identifier asks for the throttle of a host.
  void let_ask(const identifier_life& who, const host_key& name) {
    caf::anon_send(who.handle, url_ready{{}, {}, name, {}});
    this->settle();
  }

  void news(host_change what, const host_record& record) {
    tell(host_news{what, record});
  }

  std::vector<identifier> called(const char* host_name) {
    std::vector<identifier> names;
    for (const auto& life : lives)
      for (const auto& heard : life->recovered)
        if (heard.value == host_name)
          names.push_back(life->name);
    return names;
  }

  template <class Message>
  void tell(Message message) {
    caf::anon_send(uut, std::move(message));
    this->settle();
  }

  /// An entry that waits, in the journal.
  void hold(std::uint64_t number, const std::string& d) {
    accept_record entry;
    entry.event = announcement(number, key(1), d, {});
    entry.repo = identifier{d};
    store->apply({entry});
    store->commit();
  }

  /// It holds something, names these hosts, and sleeps until then.
  void put_to_sleep(const std::string& d, std::vector<host_key> hosts,
                    std::optional<live_seconds> due) {
    hold(std::hash<std::string>{}(d) % 100'000, d);
    store->apply({hosts_record{identifier{d}, std::move(hosts)},
                  sleep_record{identifier{d}, due}});
    store->commit();
  }

  supervisor_state& inside() {
    return this->template state_of<supervisor_state>(uut);
  }

  static constexpr live_seconds live_at_start = 10'000;
  bool retires = false;
  bool loads_at_once = true;
  std::function<std::optional<time_point>()> wakes_at
    = [] { return std::nullopt; };
  std::vector<std::size_t> plans; ///< One mark for each that was spawned.
  std::vector<std::shared_ptr<identifier_life>> lives;
  std::vector<std::shared_ptr<throttle_life>> throttles;
  std::vector<repository_life> repositories;
  std::vector<adoption> adoptions;
  std::shared_ptr<memory_store> store;
  fetch_pool_actor pool;
  journal_actor journal_part;
  supervisor_actor uut;
};

struct fixture : parent_of_fakes<deterministic> {
  std::ostringstream silence;

  fixture() {
    log::configure({log::level::error, log::format::text, &silence});
  }
  ~fixture() override { log::configure({}); }

  /// The identifier dies so often, one moment after another.
  void die(std::size_t times) {
    for (std::size_t i = 0; i < times; ++i)
      kill(lives.back()->handle);
  }

  static bool same(const admission& left, const admission& right) {
    return left.what == right.what && left.message == right.message;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(supervisor_tests, fixture)

// -- identifiers --------------------------------------------------------------

CAF_TEST(the first event spawns its identifier and the next goes to the same) {
  CAF_CHECK_EQUAL(offer(1).message, "held");
  CAF_CHECK_EQUAL(offer(2).message, "held");
  offer(3, identifier{"other"});
  CAF_REQUIRE_EQUAL(lives.size(), 2u);
  CAF_CHECK_EQUAL(lives[0]->name.value, "r");
  CAF_CHECK_EQUAL(lives[0]->events.size(), 2u);
  CAF_CHECK_EQUAL(lives[1]->name.value, "other");
  CAF_CHECK_EQUAL(lives[1]->events.size(), 1u);
}

CAF_TEST(an identifier that saw all leaves with its repositories) {
  offer(1);
  const auto mine = ask<git_actor>(uut, tenant{key(1), repo});
  const auto other = ask<git_actor>(uut, tenant{key(1), identifier{"other"}});
  tell(retire{repo, 1});
  CAF_CHECK(!is_alive(lives[0]->handle));
  CAF_CHECK(!is_alive(mine));
  CAF_CHECK(is_alive(other));
  offer(2);
  CAF_CHECK_EQUAL(lives.size(), 2u);
  CAF_CHECK(ask<git_actor>(uut, tenant{key(1), repo}) != mine);
}

CAF_TEST(an identifier with an event on its way stays) {
  offer(1);
  offer(2);
  tell(retire{repo, 1});
  CAF_CHECK(is_alive(lives[0]->handle));
  tell(retire{repo, 2});
  CAF_CHECK(!is_alive(lives[0]->handle));
  // An identifier that never was.
  tell(retire{identifier{"unknown"}, 0});
  CAF_CHECK_EQUAL(lives.size(), 1u);
}

CAF_TEST(leaving is no death) {
  for (std::uint64_t i = 0; i < 5; ++i) {
    offer(i);
    tell(retire{repo, 1});
  }
  CAF_CHECK_EQUAL(lives.size(), 5u);
  CAF_CHECK_EQUAL(offer(9).message, "held");
}

CAF_TEST(an identifier that dies is spawned again at once) {
  offer(1);
  die(1);
  CAF_REQUIRE_EQUAL(lives.size(), 2u);
  CAF_CHECK_EQUAL(offer(2).message, "held");
  CAF_CHECK_EQUAL(lives[1]->events.size(), 1u);
  // Its count starts anew.
  tell(retire{repo, 1});
  CAF_CHECK(!is_alive(lives[1]->handle));
}

CAF_TEST(three deaths in ten minutes make it rest for ten) {
  offer(1);
  die(2);
  CAF_REQUIRE_EQUAL(lives.size(), 3u);
  advance(9min);
  die(1);
  CAF_CHECK_EQUAL(lives.size(), 3u);
  CAF_CHECK(same(offer(2), busy));
  CAF_CHECK_EQUAL(offer(3, identifier{"other"}).message, "held");
  advance(9min + 59s);
  CAF_CHECK(same(offer(4), busy));
  advance(1s);
  CAF_REQUIRE_EQUAL(lives.size(), 5u);
  CAF_CHECK_EQUAL(lives[4]->name.value, "r");
  CAF_CHECK_EQUAL(offer(5).message, "held");
  // The count of deaths starts anew too.
  die(2);
  CAF_CHECK_EQUAL(lives.size(), 7u);
  CAF_CHECK_EQUAL(offer(6).message, "held");
}

CAF_TEST(deaths far apart never make it rest) {
  offer(1);
  for (int i = 0; i < 6; ++i) {
    die(1);
    advance(6min);
  }
  CAF_CHECK_EQUAL(lives.size(), 7u);
  CAF_CHECK_EQUAL(offer(2).message, "held");
}

CAF_TEST(list_pending spawns each identifier with waiting entries once) {
  hold(1, "r");
  hold(2, "r");
  hold(3, "s");
  offer(4, identifier{"s"});
  CAF_CHECK_EQUAL(ask<pending_identifiers>(uut, list_pending{}).repos.size(),
                  2u);
  CAF_CHECK_EQUAL(ask<pending_identifiers>(uut, list_pending{}).repos.size(),
                  2u);
  CAF_REQUIRE_EQUAL(lives.size(), 2u);
  CAF_CHECK_EQUAL(lives[0]->name.value, "s");
  CAF_CHECK_EQUAL(lives[1]->name.value, "r");
}

CAF_TEST(list_pending does not wake who rests) {
  hold(1, "r");
  offer(1);
  die(3);
  CAF_REQUIRE_EQUAL(lives.size(), 3u);
  ask<pending_identifiers>(uut, list_pending{});
  CAF_CHECK_EQUAL(lives.size(), 3u);
  advance(10min);
  CAF_CHECK_EQUAL(lives.size(), 4u);
}

CAF_TEST(list_pending says when the journal is gone) {
  kill(journal_part);
  auto pending = self->request(uut, caf::infinite, list_pending{});
  settle();
  CAF_REQUIRE(!self->mailbox().empty());
  pending.receive(
    [](const pending_identifiers&) { CAF_ERROR("answered without journal"); },
    [](const caf::error& reason) { CAF_CHECK(static_cast<bool>(reason)); });
}

// -- throttles and repositories -----------------------------------------------

CAF_TEST(a host has one throttle that the pool adopts) {
  const auto first = throttle_of(host);
  CAF_CHECK(throttle_of(host) == first);
  CAF_CHECK(throttle_of(host_key{"other"}) != first);
  CAF_REQUIRE_EQUAL(adoptions.size(), 2u);
  CAF_CHECK_EQUAL(adoptions[0].what.host.value, host.value);
  CAF_CHECK_EQUAL(adoptions[0].what.serial, throttles[0]->order.serial);
  CAF_CHECK(adoptions[0].handle == first);
  CAF_CHECK(!adoptions[0].what.quiet_until);
  CAF_CHECK_NOT_EQUAL(throttles[0]->order.serial, throttles[1]->order.serial);
}

CAF_TEST(a dead throttle is told to who holds it and replaced on demand) {
  offer(1);
  offer(2, identifier{"other"});
  offer(3, identifier{"stranger"});
  const auto first = throttle_of(host);
  let_ask(*lives[0], host);
  let_ask(*lives[1], host);
  kill(first);
  for (const auto& life : {lives[0], lives[1]}) {
    CAF_REQUIRE_EQUAL(life->restarts.size(), 1u);
    CAF_CHECK_EQUAL(life->restarts[0].value, host.value);
  }
  CAF_CHECK(lives[2]->restarts.empty());
  CAF_CHECK_EQUAL(throttles.size(), 1u);
  const auto second = throttle_of(host);
  CAF_CHECK(second != first);
  CAF_REQUIRE_EQUAL(throttles.size(), 2u);
  CAF_CHECK_NOT_EQUAL(throttles[0]->order.serial, throttles[1]->order.serial);
  CAF_REQUIRE_EQUAL(adoptions.size(), 2u);
  CAF_CHECK_EQUAL(adoptions[1].what.serial, throttles[1]->order.serial);
  CAF_CHECK(adoptions[1].handle == second);
}

CAF_TEST(every throttle learns until when it has to be quiet) {
  const auto until = now() + 60s;
  supervisor_options options;
  options.quiet_until = until;
  start(options);
  throttle_of(host);
  kill(throttle_of(host));
  throttle_of(host);
  CAF_REQUIRE_EQUAL(adoptions.size(), 2u);
  CAF_CHECK(adoptions[0].what.quiet_until == until);
  CAF_CHECK(adoptions[1].what.quiet_until == until);
}

CAF_TEST(a tenant has one repository and a dead one is replaced) {
  const tenant one{key(1), repo};
  const tenant two{key(2), repo};
  const auto first = ask<git_actor>(uut, one);
  CAF_CHECK(ask<git_actor>(uut, one) == first);
  const auto neighbour = ask<git_actor>(uut, two);
  CAF_CHECK(neighbour != first);
  kill(first);
  CAF_CHECK(ask<git_actor>(uut, one) != first);
  CAF_CHECK(ask<git_actor>(uut, two) == neighbour);
  CAF_REQUIRE_EQUAL(repositories.size(), 3u);
  CAF_CHECK(repositories[2].name == one);
}

// -- limits -------------------------------------------------------------------

CAF_TEST(limits for all reach every throttle and those spawned later) {
  throttle_of(host);
  CAF_CHECK_EQUAL(throttles[0]->order.limits.concurrent, 5u);
  CAF_CHECK_EQUAL(throttles[0]->order.limits.per_minute, 30u);
  const set_limits wanted{std::nullopt, 10, std::nullopt};
  CAF_CHECK(ask<limits_set>(uut, wanted).accepted);
  CAF_REQUIRE_EQUAL(throttles[0]->changes.size(), 1u);
  CAF_CHECK(throttles[0]->changes[0].concurrent == 10u);
  CAF_CHECK(throttles[0]->changes[0].per_minute == 30u);
  throttle_of(host_key{"later"});
  CAF_CHECK_EQUAL(throttles[1]->order.limits.concurrent, 10u);
  CAF_CHECK_EQUAL(throttles[1]->order.limits.per_minute, 30u);
}

CAF_TEST(limits of one host hold there only and outlive its throttle) {
  const host_key other{"other"};
  throttle_of(host);
  throttle_of(other);
  ask<limits_set>(uut, set_limits{host, std::nullopt, 7});
  CAF_REQUIRE(!throttles[0]->changes.empty());
  CAF_CHECK(throttles[0]->changes.back().host == host);
  CAF_CHECK(throttles[0]->changes.back().per_minute == 7u);
  CAF_CHECK(throttles[0]->changes.back().concurrent == 5u);
  for (const auto& change : throttles[1]->changes) {
    CAF_CHECK(change.host == other);
    CAF_CHECK(change.per_minute == 30u);
  }
  // What was set for the host alone stays when all others change.
  ask<limits_set>(uut, set_limits{std::nullopt, 9, 99});
  CAF_CHECK(throttles[0]->changes.back().per_minute == 7u);
  CAF_CHECK(throttles[0]->changes.back().concurrent == 9u);
  kill(throttles[0]->handle);
  throttle_of(host);
  CAF_CHECK_EQUAL(throttles.back()->order.limits.per_minute, 7u);
  CAF_CHECK_EQUAL(throttles.back()->order.limits.concurrent, 9u);
}

CAF_TEST(limits of a host are known before its first throttle) {
  ask<limits_set>(uut, set_limits{host, 1, 2});
  throttle_of(host);
  CAF_CHECK_EQUAL(throttles[0]->order.limits.concurrent, 1u);
  CAF_CHECK_EQUAL(throttles[0]->order.limits.per_minute, 2u);
}

// -- sleep --------------------------------------------------------------------

CAF_TEST(who left is back when its time comes and not before) {
  offer(1);
  tell(retire{repo, 1, now() + 1h});
  CAF_CHECK(!is_alive(lives[0]->handle));
  CAF_CHECK_EQUAL(inside().asleep(), 1u);
  advance(1h - 1s);
  CAF_CHECK_EQUAL(lives.size(), 1u);
  advance(1s);
  CAF_REQUIRE_EQUAL(lives.size(), 2u);
  CAF_CHECK_EQUAL(lives[1]->name.value, "r");
  CAF_CHECK_EQUAL(inside().asleep(), 0u);
}

CAF_TEST(an event wakes a sleeper and its old time is forgotten) {
  offer(1);
  tell(retire{repo, 1, now() + 1h});
  CAF_CHECK_EQUAL(offer(2).message, "held");
  CAF_CHECK_EQUAL(lives.size(), 2u);
  advance(2h);
  CAF_CHECK_EQUAL(lives.size(), 2u);
}

CAF_TEST(of who leaves without a time nothing is kept) {
  offer(1);
  tell(retire{repo, 1});
  CAF_CHECK_EQUAL(inside().asleep(), 0u);
  CAF_CHECK_EQUAL(inside().awake(), 0u);
  CAF_CHECK_EQUAL(pending_timers(), 0u);
}

CAF_TEST(a refused farewell leaves no due time behind) {
  offer(1);
  offer(2);
  tell(retire{repo, 1, now() + 1h});
  CAF_CHECK_EQUAL(inside().asleep(), 0u);
  advance(2h);
  CAF_CHECK_EQUAL(lives.size(), 1u);
}

CAF_TEST(any number of sleepers costs one timer and no message a day) {
  for (std::uint64_t i = 0; i < 50; ++i) {
    const identifier name{"r" + std::to_string(i)};
    offer(i, name);
    tell(retire{name, 1, now() + 48h + i * 1s});
  }
  // The last word in an early timer may be one that became void.
  advance(1s);
  CAF_CHECK_EQUAL(pending_timers(), 1u);
  advance(24h);
  CAF_CHECK_EQUAL(lives.size(), 50u);
  CAF_CHECK_EQUAL(pending_timers(), 1u);
  advance(25h);
  CAF_CHECK_EQUAL(lives.size(), 100u);
}

CAF_TEST(everything that the supervisor sent has to be seen before it leaves) {
  offer(1);
  let_ask(*lives[0], host);
  news(host_change::recovered, {});
  kill(throttle_of(host));
  tell(plan_changed{});
  tell(retire{repo, 1});
  CAF_CHECK(is_alive(lives[0]->handle));
  tell(retire{repo, lives[0]->seen});
  CAF_CHECK(!is_alive(lives[0]->handle));
}

CAF_TEST(at start the awake are spawned and the sleepers wait for their time) {
  hold(1, "awake");
  put_to_sleep("due", {}, live_at_start + 3600);
  put_to_sleep("overdue", {}, live_at_start - 5);
  put_to_sleep("called", {host}, std::nullopt);
  CAF_CHECK_EQUAL(ask<pending_identifiers>(uut, list_pending{}).repos.size(),
                  4u);
  CAF_REQUIRE_EQUAL(lives.size(), 2u);
  CAF_CHECK_EQUAL(lives[0]->name.value, "overdue");
  CAF_CHECK_EQUAL(lives[1]->name.value, "awake");
  CAF_CHECK_EQUAL(inside().asleep(), 1u);
  advance(1h);
  CAF_REQUIRE_EQUAL(lives.size(), 3u);
  CAF_CHECK_EQUAL(lives[2]->name.value, "due");
  advance(1000h);
  CAF_CHECK_EQUAL(lives.size(), 3u);
}

CAF_TEST(no more load at once than there is room for) {
  supervisor_options options;
  options.max_loading = 2;
  start(options);
  loads_at_once = false;
  for (std::uint64_t i = 0; i < 5; ++i)
    hold(i, "r" + std::to_string(i));
  ask<pending_identifiers>(uut, list_pending{});
  CAF_CHECK_EQUAL(lives.size(), 2u);
  advance(1h);
  CAF_CHECK_EQUAL(lives.size(), 2u);
  tell(loaded{lives[0]->name});
  tell(loaded{lives[0]->name}); // Counts once.
  CAF_CHECK_EQUAL(lives.size(), 3u);
  // Who dies while it loads makes room, too, and takes it again.
  kill(lives[1]->handle);
  CAF_CHECK_EQUAL(lives.size(), 4u);
  CAF_CHECK(lives[3]->name == lives[1]->name);
  for (std::size_t i = 1; i < lives.size(); ++i)
    tell(loaded{lives[i]->name});
  CAF_CHECK_EQUAL(lives.size(), 6u);
  CAF_CHECK_EQUAL(inside().check_invariants(), "");
}

CAF_TEST(an event for who waits to load goes first) {
  supervisor_options options;
  options.max_loading = 1;
  start(options);
  loads_at_once = false;
  hold(1, "a");
  hold(2, "b");
  ask<pending_identifiers>(uut, list_pending{});
  CAF_CHECK_EQUAL(lives.size(), 1u);
  CAF_CHECK_EQUAL(offer(3, identifier{"b"}).message, "held");
  CAF_CHECK_EQUAL(lives.size(), 2u);
  tell(loaded{identifier{"a"}});
  tell(loaded{identifier{"b"}});
  CAF_CHECK_EQUAL(lives.size(), 2u);
}

CAF_TEST(when too many load at once new events are told to try again) {
  supervisor_options options;
  options.max_loading_for_events = 2;
  start(options);
  loads_at_once = false;
  offer(1, identifier{"a"});
  offer(2, identifier{"b"});
  CAF_CHECK(same(offer(3, identifier{"c"}), busy));
  CAF_CHECK_EQUAL(offer(4, identifier{"a"}).message, "held");
  tell(loaded{identifier{"a"}});
  CAF_CHECK_EQUAL(offer(5, identifier{"c"}).message, "held");
}

CAF_TEST(new settings reach who lives and who comes) {
  offer(1);
  git::plan_settings plan;
  plan.max_refs = 7;
  tell(plan_changed{plan});
  CAF_CHECK_EQUAL(lives[0]->plans, 1u);
  offer(2, identifier{"later"});
  CAF_REQUIRE_EQUAL(plans.size(), 2u);
  CAF_CHECK_NOT_EQUAL(plans[0], 7u);
  CAF_CHECK_EQUAL(plans[1], 7u);
}

// -- hosts --------------------------------------------------------------------

namespace {

host_record blocked_host(live_seconds until) {
  host_record record;
  record.host = host;
  record.reason = fetch_class::refused;
  record.blocks = 2;
  record.failed_probes = 5;
  record.blocked_until = until;
  return record;
}

host_record fine_host() {
  host_record record;
  record.host = host;
  record.failed_probes = 5;
  return record;
}

} // namespace

CAF_TEST(
  what a throttle says of its host is written and given to its successor) {
  const auto first = throttle_of(host);
  CAF_CHECK(!throttles[0]->order.known);
  news(host_change::blocked, blocked_host(live_at_start + 600));
  const auto written = store->hosts();
  CAF_REQUIRE_EQUAL(written.size(), 1u);
  CAF_CHECK_EQUAL(written[0].blocked_until, live_at_start + 600);
  kill(first);
  throttle_of(host);
  CAF_REQUIRE(throttles[1]->order.known);
  CAF_CHECK_EQUAL(throttles[1]->order.known->blocks, 2u);
  CAF_CHECK_EQUAL(throttles[1]->order.known->blocked_until,
                  live_at_start + 600);
}

CAF_TEST(the same news twice are written once) {
  news(host_change::blocked, blocked_host(live_at_start + 600));
  const auto before = store->count().records;
  news(host_change::blocked, blocked_host(live_at_start + 600));
  CAF_CHECK_EQUAL(store->count().records, before);
}

CAF_TEST(what is remembered of hosts is bounded in memory and in the journal) {
  supervisor_options options;
  options.max_hosts = 3;
  start(options);
  for (int i = 0; i < 20; ++i) {
    auto record = fine_host();
    record.host = host_key{"invented" + std::to_string(i)};
    news(host_change::idle, record);
  }
  std::size_t kept = 0;
  for (const auto& record : store->hosts())
    kept += record.failed_probes > 0 ? 1U : 0U;
  CAF_CHECK_EQUAL(kept, 3u);
  CAF_CHECK_EQUAL(inside().check_invariants(), "");
}

CAF_TEST(the throttle of an idle host leaves and the next one takes over) {
  offer(1);
  let_ask(*lives[0], host);
  news(host_change::idle, fine_host());
  CAF_CHECK(!is_alive(throttles[0]->handle));
  CAF_CHECK_EQUAL(inside().throttles(), 0u);
  // Who holds its handle forgets it.
  CAF_REQUIRE_EQUAL(lives[0]->restarts.size(), 1u);
  throttle_of(host);
  CAF_REQUIRE_EQUAL(throttles.size(), 2u);
  CAF_CHECK_NOT_EQUAL(throttles[0]->order.serial, throttles[1]->order.serial);
  CAF_REQUIRE(throttles[1]->order.known);
  CAF_CHECK_EQUAL(throttles[1]->order.known->failed_probes, 5u);
}

CAF_TEST(who asks while a throttle leaves gets its successor) {
  const auto first = throttle_of(host);
  caf::anon_send(uut, host_news{host_change::idle, fine_host()});
  auto pending = self->request(uut, caf::infinite, host);
  // The supervisor alone runs: told it to go, then was asked.
  sched.prioritize(uut);
  sched.try_run_once();
  sched.prioritize(uut);
  sched.try_run_once();
  CAF_CHECK(self->mailbox().empty());
  settle();
  CAF_REQUIRE(!self->mailbox().empty());
  pending.receive(
    [&](const throttle_actor& found) { CAF_CHECK(found != first); },
    [](caf::error&) { CAF_FAIL("an error instead of a throttle"); });
  CAF_CHECK_EQUAL(throttles.size(), 2u);
}

CAF_TEST(a recovered host is told to who lives and wakes who sleeps) {
  offer(1, identifier{"live"});
  let_ask(*lives[0], host);
  offer(2, identifier{"elsewhere"});
  put_to_sleep("asleep", {host}, std::nullopt);
  put_to_sleep("other", {host_key{"other.example"}}, std::nullopt);
  news(host_change::recovered, fine_host());
  CAF_CHECK((called("h.example")
             == std::vector{identifier{"live"}, identifier{"asleep"}}));
  CAF_CHECK_EQUAL(lives.size(), 3u);
}

CAF_TEST(a recovery wakes in batches until everybody was called) {
  supervisor_options options;
  options.max_loading = 3;
  start(options);
  loads_at_once = false;
  for (int i = 0; i < 10; ++i)
    put_to_sleep("s" + std::to_string(i), {host}, std::nullopt);
  news(host_change::recovered, fine_host());
  CAF_CHECK_EQUAL(lives.size(), 3u);
  advance(1h);
  CAF_CHECK_EQUAL(lives.size(), 3u);
  for (std::size_t i = 0; i < lives.size(); ++i)
    tell(loaded{lives[i]->name});
  CAF_CHECK_EQUAL(called("h.example").size(), 10u);
  CAF_CHECK_EQUAL(lives.size(), 10u);
}

CAF_TEST(too many awake and a recovery waits until some left) {
  supervisor_options options;
  options.max_awake = 2;
  start(options);
  offer(1, identifier{"a"});
  offer(2, identifier{"b"});
  put_to_sleep("s", {host}, std::nullopt);
  news(host_change::recovered, fine_host());
  CAF_CHECK_EQUAL(lives.size(), 2u);
  tell(retire{identifier{"a"}, 1});
  CAF_CHECK_EQUAL(lives.size(), 3u);
  CAF_CHECK_EQUAL(called("h.example").size(), 1u);
}

CAF_TEST(a host that may be tried is probed by one after the other) {
  put_to_sleep("a", {host}, std::nullopt);
  put_to_sleep("c", {host}, std::nullopt);
  offer(1, identifier{"b"});
  let_ask(*lives[0], host);
  news(host_change::unblocked, blocked_host(live_at_start));
  CAF_REQUIRE_EQUAL(lives.size(), 2u);
  CAF_CHECK_EQUAL(lives[1]->name.value, "a");
  CAF_CHECK_EQUAL(lives[1]->probed.size(), 1u);
  // It found nothing to ask there.
  advance(1min);
  CAF_CHECK_EQUAL(lives[0]->probed.size(), 1u);
  advance(2min);
  CAF_REQUIRE_EQUAL(lives.size(), 3u);
  CAF_CHECK_EQUAL(lives[2]->name.value, "c");
  // Somebody did.
  news(host_change::blocked, blocked_host(live_at_start + 900));
  advance(14min);
  CAF_CHECK_EQUAL(lives[0]->probed.size(), 1u);
  CAF_CHECK_EQUAL(lives[1]->probed.size(), 1u);
}

CAF_TEST(nobody names a host that may be tried and it costs nothing) {
  news(host_change::unblocked, blocked_host(live_at_start));
  advance(1h);
  CAF_CHECK_EQUAL(pending_timers(), 0u);
  CAF_CHECK(lives.empty());
}

CAF_TEST(a block outlives the process and its end is noticed without throttle) {
  auto before = std::make_shared<memory_store>();
  before->apply({blocked_host(live_at_start + 900)});
  before->commit();
  start({}, before);
  put_to_sleep("a", {host}, std::nullopt);
  ask<pending_identifiers>(uut, list_pending{});
  advance(15min - 1s);
  CAF_CHECK(lives.empty());
  advance(1s);
  CAF_REQUIRE_EQUAL(lives.size(), 1u);
  CAF_CHECK_EQUAL(lives[0]->probed.size(), 1u);
  throttle_of(host);
  CAF_REQUIRE(throttles[0]->order.known);
  CAF_CHECK_EQUAL(throttles[0]->order.known->blocks, 2u);
}

CAF_TEST(a block that was over before the start is probed at once) {
  auto before = std::make_shared<memory_store>();
  before->apply({blocked_host(live_at_start - 1)});
  before->commit();
  start({}, before);
  put_to_sleep("a", {host}, std::nullopt);
  ask<pending_identifiers>(uut, list_pending{});
  CAF_REQUIRE_EQUAL(lives.size(), 1u);
  CAF_CHECK_EQUAL(lives[0]->probed.size(), 1u);
}

CAF_TEST(a throttle that lives says itself when nobody waits) {
  throttle_of(host);
  put_to_sleep("a", {host}, std::nullopt);
  news(host_change::blocked, blocked_host(live_at_start + 60));
  advance(1h);
  CAF_CHECK(lives.empty());
}

CAF_TEST(who rests is neither probed nor called) {
  put_to_sleep("r", {host}, std::nullopt);
  offer(1);
  die(3);
  news(host_change::recovered, fine_host());
  news(host_change::unblocked, blocked_host(live_at_start));
  CAF_CHECK_EQUAL(lives.size(), 3u);
}

// -- the end ------------------------------------------------------------------

CAF_TEST(after stop_work events are refused and nobody is spawned) {
  hold(1, "held");
  offer(1);
  ask<work_stopped>(uut, stop_work{});
  const auto answer = offer(2);
  CAF_CHECK(answer.what == action::reject);
  CAF_CHECK_EQUAL(answer.message, "error: purgatory unavailable");
  ask<pending_identifiers>(uut, list_pending{});
  die(1);
  CAF_CHECK_EQUAL(lives.size(), 1u);
}

CAF_TEST(whoever rests when work stops stays down) {
  offer(1);
  die(3);
  ask<work_stopped>(uut, stop_work{});
  advance(20min);
  CAF_CHECK_EQUAL(lives.size(), 3u);
}

CAF_TEST(whoever sleeps when work stops is not woken) {
  offer(1);
  tell(retire{repo, 1, now() + 1h});
  put_to_sleep("a", {host}, std::nullopt);
  ask<work_stopped>(uut, stop_work{});
  news(host_change::recovered, fine_host());
  advance(2h);
  CAF_CHECK_EQUAL(lives.size(), 1u);
}

CAF_TEST(the supervisor takes all that it owns with it) {
  offer(1);
  throttle_of(host);
  ask<git_actor>(uut, tenant{key(1), repo});
  caf::anon_send_exit(uut, caf::exit_reason::user_shutdown);
  settle();
  CAF_CHECK(!is_alive(uut));
  CAF_CHECK(!is_alive(lives[0]->handle));
  CAF_CHECK(!is_alive(throttles[0]->handle));
  CAF_CHECK(!is_alive(repositories[0].handle));
  CAF_CHECK(is_alive(pool));
  CAF_CHECK(is_alive(journal_part));
}

CAF_TEST_FIXTURE_SCOPE_END()

namespace {

/// Offers events of a few identifiers and counts the answers.
struct busy_world : parent_of_fakes<random_schedule> {
  using base = parent_of_fakes<random_schedule>;
  static constexpr std::uint64_t names = 3;

  explicit busy_world(std::uint64_t seed) : base(seed) {
    retires = true;
    // The first ones were spawned by nobody yet.
    asker = track(
      sys.spawn([this](caf::event_based_actor* me) -> caf::behavior {
        return {[this, me](std::uint64_t number) {
          me->request(uut, caf::infinite, event(number), name_of(number))
            .then([this](const admission&) { ++answered; },
                  [](const caf::error&) { CAF_FAIL("an event was bounced"); });
        }};
      }));
  }

  static identifier name_of(std::uint64_t number) {
    return identifier{"r" + std::to_string(number % names)};
  }

  void offer_one() { caf::anon_send(asker, sent++); }

  void disturb() {
    const host_key which{"h" + std::to_string(rng() % 2) + ".example"};
    switch (rng() % 6) {
    case 0:
      caf::anon_send(uut, host_news{host_change::recovered, {which}});
      break;
    case 1:
      caf::anon_send(uut, host_news{host_change::unblocked, {which}});
      break;
    case 2:
      caf::anon_send(uut, host_news{host_change::idle, {which}});
      break;
    case 3:
      if (!lives.empty())
        caf::anon_send(lives.back()->handle, url_ready{{}, {}, which, {}});
      break;
    default:
      offer_one();
    }
  }

  /// Nobody is left, and everything that was sent was seen by who lived.
  void check_end() {
    std::size_t seen = 0;
    for (const auto& life : lives) {
      seen += life->events.size();
      if (is_alive(life->handle))
        CAF_FAIL("an idle identifier stayed");
    }
    if (answered != sent || seen != sent)
      CAF_FAIL(answered << " answered, " << seen << " seen, " << sent
                        << " sent");
    check_books();
  }

  void check_books() {
    if (const auto wrong = inside().check_invariants(); !wrong.empty())
      CAF_FAIL(wrong);
  }

  std::uint64_t sent = 0;
  std::uint64_t answered = 0;
  caf::actor asker;
};

} // namespace

CAF_TEST(an event that crosses the retirement is never lost) {
  constexpr std::uint64_t events = 20;
  const auto seeds = seeds_or(300);
  std::size_t spawned = 0;
  for (auto seed = first_seed(); seed < first_seed() + seeds; ++seed) {
    CAF_MESSAGE("seed " << seed);
    busy_world world{seed};
    while (world.sent < events) {
      if (world.rng() % 3 == 0)
        world.offer_one();
      else
        world.consume_message();
    }
    world.settle();
    world.check_end();
    spawned += world.lives.size();
  }
  // Neither always the same identifier nor one for each event.
  CAF_CHECK_GREATER(spawned, seeds * busy_world::names);
  CAF_CHECK_LESS(spawned, seeds * events);
}

CAF_TEST(sleepers and calls for hosts at any moment lose nothing and nobody) {
  const auto seeds = seeds_or(300);
  std::size_t woken = 0;
  for (auto seed = first_seed(); seed < first_seed() + seeds; ++seed) {
    CAF_MESSAGE("seed " << seed);
    busy_world world{seed};
    world.put_to_sleep("r0", {host_key{"h0.example"}}, std::nullopt);
    world.put_to_sleep("r1", {host_key{"h1.example"}}, std::nullopt);
    world.wakes_at = [&world]() -> std::optional<time_point> {
      if (world.rng() % 3 == 0)
        return std::nullopt;
      return world.now() + std::chrono::milliseconds(world.rng() % 3000);
    };
    for (int i = 0; i < 40; ++i) {
      world.disturb();
      world.explore(
        500ms, [&] { world.disturb(); }, [&] { world.check_books(); });
    }
    woken += world.lives.size();
    world.wakes_at = [] { return std::nullopt; };
    world.advance(24h);
    world.check_end();
    if (world.inside().asleep() > 0 || world.pending_timers() > 1)
      CAF_FAIL("somebody still waits");
  }
  CAF_CHECK_GREATER(woken, seeds * 10);
}
