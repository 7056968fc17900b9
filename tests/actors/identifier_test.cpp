#define CAF_SUITE identifier
#include "actors/identifier.hpp"
#include "actors/timer_wheel.hpp"
#include "tests/support/deterministic.hpp"
#include "tests/support/events.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace purgatory;
using namespace purgatory::test;
using namespace std::chrono_literals;

namespace {

const identifier repo{"r"};
const host_key host{"h.example"};
const unit_key unit{key(1), repo};
const tenant mine{key(1), repo};

/// Counts how many of its kind are alive.
struct counted_quarantine : quarantine {
  explicit counted_quarantine(int* count) : alive(count) { ++*alive; }
  ~counted_quarantine() override { --*alive; }
  counted_quarantine(const counted_quarantine&) = delete;
  counted_quarantine& operator=(const counted_quarantine&) = delete;
  const std::string& directory() const override { return text; }
  int* alive;
  std::string text;
};

struct answered {
  event_id id;
  std::optional<admission> decision; ///< Nothing: an error came.
};

struct asked_turn {
  enqueue what;
  grant_sink sink;
};

struct job {
  fetch_request what;
  completion_sink sink;
};

caf::error broken() {
  return caf::make_error(caf::sec::runtime_error, "broken");
}

/// Promises that are kept when the fake is told so.
template <class Answer>
struct held_answers {
  bool holds = false;
  std::vector<std::pair<caf::typed_response_promise<Answer>, Answer>> owed;

  template <class Self>
  caf::result<Answer> give(Self me, Answer answer) {
    if (!holds)
      return answer;
    auto promise = me->template make_response_promise<Answer>();
    owed.emplace_back(promise, std::move(answer));
    return promise;
  }

  void keep() {
    holds = false;
    for (auto& [promise, answer] : std::exchange(owed, {}))
      promise.deliver(std::move(answer));
  }

  void fail() {
    for (auto& [promise, answer] : std::exchange(owed, {}))
      promise.deliver(broken());
  }
};

/// An identifier among fakes; only the timer wheel is real.
struct fixture : deterministic {
  // -- how the fakes behave
  bool grants = true; ///< Throttles; else they say queued.
  bool journal_fails = false;
  bool relay_fails = false;
  bool promotion_fails = false;
  held_answers<recorded> writes;
  held_answers<identifier_image> loads;
  held_answers<presence> look_ups;
  held_answers<queue_left> leavings;
  std::set<oid> objects;            ///< In the repository.
  std::vector<stored_event> stored; ///< In the journal.
  /// Handed out one after another; the last one again and again.
  std::deque<throttle_actor> throttles;
  std::deque<git_actor> repositories;

  // -- what they heard
  std::vector<answered> answers;
  std::vector<asked_turn> turns;
  std::vector<grant_answer> decisions;
  std::vector<unit_key> left;
  std::vector<job> jobs;
  std::vector<std::string> steps; ///< On the repository, in order.
  std::vector<event_id> published_ids;
  std::vector<retire> retirements;
  std::vector<identifier> loaded_names;
  std::vector<host_key> loaded_hosts;
  std::vector<count> counts;
  int throttle_questions = 0;
  int packs = 0; ///< Alive.
  std::uint64_t next_lease = 1;

  throttle_actor throttle_part = new_throttle();
  git_actor git_part = new_repository();
  journal_actor book = track(
    sys.spawn([this](journal_actor::pointer me) { return writing(me); }));
  identifier_doors doors{
    track(sys.spawn([this](supervisor_actor::pointer) { return above(); })),
    track(sys.spawn([this](fetch_pool_actor::pointer) { return fetching(); })),
    book,
    track(sys.spawn([this](relay_link_actor::pointer) { return releasing(); })),
    track(sys.spawn(timer_wheel)),
    track(sys.spawn([this](metrics_actor::pointer) { return counting(); }))};
  identifier_actor uut;
  caf::actor asker;

  fixture() {
    throttles = {throttle_part};
    repositories = {git_part};
    asker
      = track(sys.spawn([this](caf::event_based_actor* me) -> caf::behavior {
          return {[this, me](const event_arrived& m) {
            const auto id = m.event.id;
            me->request(uut, caf::infinite, m)
              .then(
                [this, id](admission& d) {
                  answers.push_back({id, d});
                },
                [this, id](caf::error&) {
                  answers.push_back({id, {}});
                });
          }};
        }));
  }

  template <class T>
  static T take(std::deque<T>& supply) {
    auto first = supply.front();
    if (supply.size() > 1)
      supply.pop_front();
    return first;
  }

  supervisor_actor::behavior_type above() {
    return {
      [](const event_arrived&, const identifier&) { return admission{}; },
      [this](const host_key&) {
        ++throttle_questions;
        return take(throttles);
      },
      [this](const tenant&) { return take(repositories); },
      [this](const retire& m) { retirements.push_back(m); },
      [](const set_limits&) { return limits_set{}; },
      [](const list_pending&) { return pending_identifiers{}; },
      [this](const loaded& m) {
        loaded_names.push_back(m.who);
        loaded_hosts = m.hosts;
      },
      [](const host_news&) {},
      [](const plan_changed&) {},
      [](const list_throttles&) { return std::vector<throttle_actor>{}; },
      [](const backoff_tick&) {},
      [](const stop_work&) { return work_stopped{}; },
    };
  }

  throttle_actor new_throttle() {
    return track(sys.spawn([this](throttle_actor::pointer me) {
      return throttle_actor::behavior_type{
        [this](const enqueue& m, const grant_sink& sink) {
          turns.push_back({m, sink});
          return grants ? enqueue_answer{enqueue_outcome::granted, grant(m)}
                        : enqueue_answer{};
        },
        [this](const grant_answer& m) { decisions.push_back(m); },
        [this, me](const leave_queue& m) {
          left.push_back(m.who);
          return leavings.give(me, queue_left{m.who});
        },
        [](const fetch_started&) {},
        [](const request_complete&) {},
        [this](const backoff_tick&) { leavings.keep(); },
        [](const throttle_seed&) {},
        [](const set_limits&) {},
        [](const describe&) { return throttle_report{}; },
      };
    }));
  }

  url_ready grant(const enqueue& m) {
    return {m.who, m.url, host, lease_id{next_lease++}};
  }

  /// A repository that, on `backoff_tick`, tells what it held back.
  using slow_git = git_actor::extend<caf::reacts_to<backoff_tick>>;

  git_actor new_repository() {
    return track(sys.spawn([this](slow_git::pointer me) {
      const auto done = [this](const char* step, const tenant& where,
                               store_result how = store_result::done) {
        steps.emplace_back(step);
        return repository_report{where, {how, {}, ""}};
      };
      return slow_git::behavior_type{
        [=](const prepare& m) { return done("prepare", m.repository); },
        [=, this](const check_presence& m) {
          steps.emplace_back("look up");
          presence found{m.repository, m.ids, {}};
          for (const auto& id : m.ids)
            found.kinds.push_back(objects.contains(id) ? object_kind::commit
                                                       : object_kind::absent);
          return look_ups.give(me, std::move(found));
        },
        [=, this](const promote& m) {
          if (promotion_fails)
            return done("promote", m.repository, store_result::failed);
          objects.insert(m.wants.begin(), m.wants.end());
          return done("promote", m.repository);
        },
        [=](const copy_from& m) { return done("copy", m.repository); },
        [=](const align& m) { return done("align", m.repository); },
        [=](const set_pr_ref& m) { return done("set ref", m.repository); },
        [this](const backoff_tick&) { look_ups.keep(); },
      };
    }));
  }

  journal_actor::behavior_type writing(journal_actor::pointer me) {
    return {
      [this, me](const record_batch&) -> caf::result<recorded> {
        if (journal_fails)
          return broken();
        return writes.give(me, recorded{});
      },
      [this, me](const load_identifier& m) -> caf::result<identifier_image> {
        if (journal_fails)
          return broken();
        identifier_image image;
        image.repo = m.repo;
        image.events = stored;
        return loads.give(me, std::move(image));
      },
      [](const list_pending&) { return pending_identifiers{}; },
      [](const list_hosts&) { return known_hosts{}; },
      [](const find_interested&) { return interested{}; },
      [](const find_event&) { return found_event{}; },
      [this](const commit_batch&) {
        if (journal_fails) {
          loads.fail();
          return;
        }
        loads.keep();
        writes.keep();
      },
      [](const close_journal&) { return journal_closed{}; },
    };
  }

  relay_link_actor::behavior_type releasing() {
    return {[this](const publish& m) -> caf::result<published> {
      published_ids.push_back(m.event.id);
      if (relay_fails)
        return broken();
      return published{m.event.id, publish_outcome::released, ""};
    }};
  }

  fetch_pool_actor::behavior_type fetching() {
    return {
      [this](const fetch_request& m, const completion_sink& sink) {
        jobs.push_back({m, sink});
      },
      [](const fetch_started&) {},
      [](const fetch_moving&) {},
      [](const adopt_throttle&, const throttle_actor&) {},
      [](const reclaim& m) { return reclaim_answer{m.lease}; },
      [](const backoff_tick&) {},
      [](const drain&) { return drained{}; },
    };
  }

  metrics_actor::behavior_type counting() {
    return {[this](const count& m) { counts.push_back(m); },
            [](const scrape&) { return metrics_snapshot{}; }};
  }

  // -- what the test does

  void start() {
    git::plan_settings plan;
    plan.jitter = 0;
    identifier_config config;
    config.plan = plan;
    config.wall = [] { return unix_seconds{2000}; };
    config.live = {now(), 0};
    uut = track(sys.spawn(identifier_shell, repo, doors, config));
    settle();
  }

  void offer(const nostr::event& ev, provenance from = provenance::sync) {
    caf::anon_send(asker, event_arrived{ev, from});
    settle();
  }

  /// An announcement and a state of it that needs object 1, both held.
  void hold_state() {
    offer(announcement(1, key(1), "r", {"https://h.example/r.git"}));
    offer(state(2, key(1), "r", {{"refs/heads/main", object(1).value}}));
  }

  void take_back(const std::vector<std::uint64_t>& ids) {
    std::vector<nostr::tag> tags;
    for (const auto id : ids)
      tags.push_back({"e", id_of(id).value});
    offer(make_event(900, nostr::kind_deletion, key(1), 1000, tags));
  }

  void commit() {
    caf::anon_send(book, commit_batch{});
    settle();
  }

  /// The job under `lease` brings `got` in a pack.
  void complete(lease_id lease, const std::vector<oid>& got) {
    fetch_outcome result;
    result.outcome = fetch_class::ok;
    result.got = got;
    result.pack = std::make_shared<counted_quarantine>(&packs);
    caf::anon_send(uut, request_complete{lease, unit, host,
                                         remote_url{"https://h.example/r.git"},
                                         std::move(result)});
    settle();
  }

  bool has_counted(counter what, const std::string& label) const {
    return std::any_of(counts.begin(), counts.end(), [&](const count& c) {
      return c.what == what && c.label == label;
    });
  }

  std::ptrdiff_t steps_called(const std::string& name) const {
    return std::count(steps.begin(), steps.end(), name);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(identifier_tests, fixture)

// -- journal ------------------------------------------------------------------

CAF_TEST(events that come before the image are judged afterwards in order) {
  loads.holds = true;
  start();
  hold_state();
  CAF_CHECK(answers.empty());
  CAF_CHECK(retirements.empty());
  commit();
  CAF_REQUIRE_EQUAL(answers.size(), 2u);
  // In order: the state found its announcement.
  for (const auto& answer : answers) {
    CAF_REQUIRE(answer.decision);
    CAF_CHECK_EQUAL(answer.decision->message, answer_text::held);
  }
  CAF_CHECK(retirements.empty());
}

CAF_TEST(an event is answered when it is recorded and not before) {
  start();
  writes.holds = true;
  offer(announcement(1, key(1), "r", {}));
  advance(10s);
  CAF_CHECK(answers.empty());
  commit();
  CAF_REQUIRE_EQUAL(answers.size(), 1u);
  CAF_CHECK(answers[0].decision->what == action::hold);
}

CAF_TEST(what is not recorded is not hunted) {
  start();
  writes.holds = true;
  hold_state();
  advance(1min);
  CAF_CHECK(turns.empty());
  CAF_CHECK(steps.empty());
  commit();
  advance(1s);
  CAF_CHECK_EQUAL(turns.size(), 1u);
}

CAF_TEST(an error of the journal ends the actor and is told to who waits) {
  start();
  writes.holds = true;
  offer(announcement(1, key(1), "r", {}));
  journal_fails = true;
  offer(announcement(2, key(2), "r", {}));
  CAF_CHECK(!is_alive(uut));
  CAF_REQUIRE_EQUAL(answers.size(), 2u);
  CAF_CHECK(!answers[0].decision);
  CAF_CHECK(!answers[1].decision);
}

CAF_TEST(an unreadable journal ends the actor and is told to who waits) {
  loads.holds = true;
  start();
  offer(announcement(1, key(1), "r", {}));
  CAF_CHECK(answers.empty());
  journal_fails = true;
  commit();
  CAF_CHECK(!is_alive(uut));
  CAF_REQUIRE_EQUAL(answers.size(), 1u);
  CAF_CHECK(!answers[0].decision);
}

CAF_TEST(without a journal the actor ends at once) {
  kill(book);
  start();
  CAF_CHECK(!is_alive(uut));
}

// -- turns --------------------------------------------------------------------

CAF_TEST(a grant in the answer starts a fetch) {
  start();
  hold_state();
  advance(499ms);
  CAF_CHECK(turns.empty());
  advance(1ms);
  CAF_REQUIRE_EQUAL(turns.size(), 1u);
  CAF_CHECK_EQUAL(turns[0].what.url.value, "https://h.example/r.git");
  CAF_CHECK(turns[0].what.who == unit);
  CAF_REQUIRE_EQUAL(jobs.size(), 1u);
  const auto& order = jobs[0].what.order;
  CAF_CHECK(order.target == mine);
  CAF_REQUIRE_EQUAL(order.wants.size(), 1u);
  CAF_CHECK(order.wants[0] == object(1));
  CAF_CHECK_EQUAL(jobs[0].what.lease.value, 1u);
  CAF_CHECK(jobs[0].what.host == host);
  CAF_REQUIRE_EQUAL(decisions.size(), 1u);
  CAF_CHECK_EQUAL(decisions[0].lease.value, 1u);
  CAF_CHECK(decisions[0].decision == grant_decision::start);
  CAF_CHECK_EQUAL(steps.front(), "look up");
  CAF_CHECK_EQUAL(steps_called("prepare"), 1);
  CAF_CHECK(has_counted(counter::domain_requests, "h.example"));
}

CAF_TEST(a grant by url_ready starts a fetch) {
  grants = false;
  start();
  hold_state();
  advance(1min);
  CAF_REQUIRE_EQUAL(turns.size(), 1u);
  CAF_CHECK(jobs.empty());
  caf::anon_send(turns[0].sink, grant(turns[0].what));
  settle();
  CAF_REQUIRE_EQUAL(jobs.size(), 1u);
  CAF_REQUIRE_EQUAL(decisions.size(), 1u);
  CAF_CHECK(decisions[0].decision == grant_decision::start);
  // The job runs: a second grant at the host has no use now.
  caf::anon_send(turns[0].sink, grant(turns[0].what));
  settle();
  CAF_CHECK_EQUAL(jobs.size(), 1u);
  CAF_REQUIRE_EQUAL(decisions.size(), 2u);
  CAF_CHECK(decisions[1].decision == grant_decision::defer);
}

CAF_TEST(a grant that nobody needs any more is withdrawn) {
  grants = false;
  start();
  hold_state();
  advance(1s);
  CAF_REQUIRE_EQUAL(turns.size(), 1u);
  leavings.holds = true;
  take_back({2});
  caf::anon_send(turns[0].sink, grant(turns[0].what));
  settle();
  CAF_CHECK(jobs.empty());
  CAF_REQUIRE_EQUAL(decisions.size(), 1u);
  CAF_CHECK(decisions[0].decision == grant_decision::withdraw);
}

CAF_TEST(a dead throttle is asked for again above) {
  const auto second = new_throttle();
  throttles = {throttle_part, second};
  kill(throttle_part);
  start();
  hold_state();
  advance(1s);
  CAF_CHECK_EQUAL(throttle_questions, 2);
  CAF_CHECK_EQUAL(turns.size(), 1u);
  CAF_CHECK_EQUAL(jobs.size(), 1u);
}

CAF_TEST(a throttle that is replaced is asked anew) {
  grants = false;
  const auto second = new_throttle();
  throttles = {throttle_part, second};
  start();
  hold_state();
  advance(1s);
  CAF_CHECK_EQUAL(turns.size(), 1u);
  kill(throttle_part);
  CAF_CHECK_EQUAL(turns.size(), 1u);
  grants = true;
  caf::anon_send(uut, throttle_restarted{host});
  settle();
  CAF_CHECK_EQUAL(throttle_questions, 2);
  CAF_CHECK_EQUAL(turns.size(), 2u);
  CAF_CHECK_EQUAL(jobs.size(), 1u);
}

CAF_TEST(the restart of another throttle moves nothing) {
  grants = false;
  start();
  hold_state();
  advance(1s);
  caf::anon_send(uut, throttle_restarted{host_key{"other"}});
  settle();
  CAF_CHECK_EQUAL(turns.size(), 1u);
  CAF_CHECK_EQUAL(throttle_questions, 1);
}

// -- packs --------------------------------------------------------------------

CAF_TEST(a pack is promoted and looked up before anything is released) {
  start();
  hold_state();
  advance(1s);
  CAF_REQUIRE_EQUAL(jobs.size(), 1u);
  steps.clear();
  complete(jobs[0].what.lease, {object(1)});
  const std::vector<std::string> wanted = {"promote", "look up", "align"};
  CAF_CHECK(steps == wanted);
  const std::vector<event_id> released = {id_of(1), id_of(2)};
  CAF_CHECK(published_ids == released);
  CAF_CHECK_EQUAL(packs, 0);
  CAF_CHECK(has_counted(counter::sync_attempts, "ok"));
  CAF_CHECK(has_counted(counter::fates, "30618 served"));
}

CAF_TEST(a pack that can not be stored is dropped and nothing is released) {
  promotion_fails = true;
  start();
  hold_state();
  advance(1s);
  CAF_REQUIRE_EQUAL(jobs.size(), 1u);
  complete(jobs[0].what.lease, {object(1)});
  CAF_CHECK_EQUAL(packs, 0);
  CAF_CHECK_EQUAL(steps_called("promote"), 1);
  CAF_CHECK(published_ids.empty());
  // The next round tries again.
  promotion_fails = false;
  advance(21s);
  CAF_REQUIRE_EQUAL(jobs.size(), 2u);
  complete(jobs[1].what.lease, {object(1)});
  CAF_CHECK_EQUAL(published_ids.size(), 2u);
}

CAF_TEST(the end of an unknown lease is ignored and its pack dropped) {
  start();
  hold_state();
  advance(1s);
  CAF_REQUIRE_EQUAL(jobs.size(), 1u);
  complete(lease_id{99}, {object(1)});
  CAF_CHECK_EQUAL(packs, 0);
  CAF_CHECK_EQUAL(steps_called("promote"), 0);
  CAF_CHECK(published_ids.empty());
  CAF_CHECK_EQUAL(jobs.size(), 1u);
  // The same end told twice is an unknown lease the second time.
  complete(jobs[0].what.lease, {object(1)});
  complete(jobs[0].what.lease, {object(1)});
  CAF_CHECK_EQUAL(packs, 0);
  CAF_CHECK_EQUAL(steps_called("promote"), 1);
}

CAF_TEST(a pack whose repository is dead is dropped and the next one is used) {
  const auto second = new_repository();
  repositories = {git_part, second};
  start();
  hold_state();
  advance(1s);
  CAF_REQUIRE_EQUAL(jobs.size(), 1u);
  kill(git_part);
  complete(jobs[0].what.lease, {object(1)});
  CAF_CHECK_EQUAL(packs, 0);
  CAF_CHECK_EQUAL(steps_called("promote"), 0);
  advance(21s);
  CAF_REQUIRE_EQUAL(jobs.size(), 2u);
  complete(jobs[1].what.lease, {object(1)});
  CAF_CHECK_EQUAL(steps_called("promote"), 1);
  CAF_CHECK_EQUAL(published_ids.size(), 2u);
}

CAF_TEST(after a failed look up the repository is asked for again) {
  const auto second = new_repository();
  repositories = {git_part, second};
  start();
  hold_state();
  CAF_CHECK_EQUAL(steps_called("look up"), 1);
  kill(git_part);
  offer(state(3, key(1), "r", {{"refs/heads/main", object(2).value}}, 1001));
  CAF_CHECK_EQUAL(steps_called("look up"), 1);
  offer(state(4, key(1), "r", {{"refs/heads/main", object(3).value}}, 1002));
  CAF_CHECK_EQUAL(steps_called("look up"), 2);
}

// -- release and metrics ------------------------------------------------------

CAF_TEST(a broken door to the relay is tried again after the backoff cap) {
  relay_fails = true;
  objects = {object(1)};
  start();
  hold_state();
  CAF_CHECK_EQUAL(published_ids.size(), 1u);
  advance(119s);
  CAF_CHECK_EQUAL(published_ids.size(), 1u);
  relay_fails = false;
  advance(2s);
  const std::vector<event_id> tried = {id_of(1), id_of(1), id_of(2)};
  CAF_CHECK(published_ids == tried);
  CAF_REQUIRE(!retirements.empty());
  CAF_CHECK_EQUAL(retirements.back().seen, 2u);
}

CAF_TEST(a refusal is counted by a word of ours) {
  start();
  offer(pull_request(1, key(2), key(1), "elsewhere", object(1).value));
  CAF_REQUIRE_EQUAL(answers.size(), 1u);
  CAF_CHECK_EQUAL(answers[0].decision->message, answer_text::no_reference);
  CAF_CHECK(has_counted(counter::refused, "invalid"));
}

// -- leaving ------------------------------------------------------------------

CAF_TEST(with nothing to do it asks to leave and goes when told) {
  start();
  CAF_REQUIRE_EQUAL(retirements.size(), 1u);
  CAF_CHECK(retirements[0].who == repo);
  CAF_CHECK_EQUAL(retirements[0].seen, 0u);
  // Not told to go: an event is on its way. It asks again after that.
  take_back({7});
  CAF_REQUIRE_EQUAL(retirements.size(), 2u);
  CAF_CHECK_EQUAL(retirements[1].seen, 1u);
  CAF_CHECK(is_alive(uut));
  caf::anon_send(uut, purgatory::close{});
  settle();
  CAF_CHECK(!is_alive(uut));
}

CAF_TEST(it asks once for each message of the supervisor that it saw) {
  start();
  take_back({7});
  CAF_REQUIRE_EQUAL(retirements.size(), 2u);
  caf::anon_send(uut, backoff_tick{0});
  complete(lease_id{99}, {object(1)});
  CAF_CHECK_EQUAL(retirements.size(), 2u);
  caf::anon_send(uut, throttle_restarted{host});
  caf::anon_send(uut, host_recovered{host});
  caf::anon_send(uut, probe_host{host});
  caf::anon_send(uut, plan_changed{});
  settle();
  CAF_REQUIRE_EQUAL(retirements.size(), 6u);
  CAF_CHECK_EQUAL(retirements.back().seen, 5u);
}

CAF_TEST(what the supervisor says before the image is here counts and waits) {
  loads.holds = true;
  start();
  caf::anon_send(uut, host_recovered{host});
  caf::anon_send(uut, throttle_restarted{host});
  caf::anon_send(uut, probe_host{host});
  caf::anon_send(uut, plan_changed{});
  settle();
  CAF_CHECK(retirements.empty());
  CAF_CHECK(loaded_names.empty());
  commit();
  CAF_CHECK(loaded_names == std::vector{repo});
  CAF_REQUIRE_EQUAL(retirements.size(), 1u);
  CAF_CHECK_EQUAL(retirements[0].seen, 4u);
}

CAF_TEST(beyond a thousand open offers the next is told to try again) {
  loads.holds = true;
  start();
  for (std::uint64_t i = 0; i < 1100; ++i)
    caf::anon_send(asker, event_arrived{announcement(5000 + i, key(1), "r", {}),
                                        provenance::sync});
  settle();
  CAF_REQUIRE_EQUAL(answers.size(), 76u);
  CAF_REQUIRE(answers[0].decision);
  CAF_CHECK(answers[0].decision->what == action::reject);
  CAF_CHECK_EQUAL(answers[0].decision->message,
                  "error: purgatory busy, try again");
  commit();
  CAF_CHECK_EQUAL(answers.size(), 1100u);
}

CAF_TEST(early events that are answered at once do not keep it) {
  loads.holds = true;
  start();
  take_back({7});
  take_back({8});
  CAF_CHECK(retirements.empty());
  commit();
  CAF_CHECK_EQUAL(answers.size(), 2u);
  CAF_REQUIRE_EQUAL(retirements.size(), 1u);
  CAF_CHECK_EQUAL(retirements[0].seen, 2u);
}

CAF_TEST(with nothing to do for long it asks to sleep until then) {
  start();
  offer(announcement(1, key(1), "r", {"https://h.example/r.git"}));
  CAF_REQUIRE_EQUAL(retirements.size(), 2u);
  CAF_CHECK_EQUAL(retirements[1].seen, 1u);
  CAF_CHECK(retirements[1].wake == now() + 30min);
}

CAF_TEST(a tick that crosses the farewell is lived through if it was void) {
  start();
  offer(announcement(1, key(1), "r", {"https://h.example/r.git"}));
  const auto asked = retirements.size();
  // Its time comes before the supervisor speaks: whoever spawns it anew is
  // told the time, so nothing is begun now.
  advance(31min);
  CAF_CHECK_EQUAL(retirements.size(), asked);
  caf::anon_send(uut, host_recovered{host_key{"elsewhere"}});
  settle();
  CAF_REQUIRE_EQUAL(retirements.size(), asked + 1);
  CAF_REQUIRE(retirements.back().wake);
  CAF_CHECK(*retirements.back().wake > now() + 1h);
}

CAF_TEST(it says whose recovery would help it) {
  stored = {
    {announcement(1, key(1), "r", {"https://h.example/r.git"})},
    {state(2, key(1), "r", {{"refs/heads/main", object(1).value}})},
  };
  start();
  CAF_CHECK(loaded_names == std::vector{repo});
  CAF_CHECK(loaded_hosts == std::vector{host});
}

CAF_TEST(it stays while a unit hunts) {
  grants = false;
  start();
  hold_state();
  const auto asked = retirements.size();
  advance(20min);
  CAF_CHECK_EQUAL(retirements.size(), asked);
  CAF_CHECK(is_alive(uut));
}

CAF_TEST(it stays while an offer is not recorded) {
  start();
  writes.holds = true;
  offer(announcement(1, key(1), "r", {}), provenance::served);
  CAF_CHECK_EQUAL(retirements.size(), 1u);
  CAF_CHECK(answers.empty());
  commit();
  CAF_CHECK_EQUAL(answers.size(), 1u);
  CAF_REQUIRE_EQUAL(retirements.size(), 2u);
  CAF_CHECK_EQUAL(retirements[1].seen, 1u);
}

CAF_TEST(it stays while a place is being left) {
  grants = false;
  leavings.holds = true;
  start();
  hold_state();
  advance(1s);
  CAF_REQUIRE_EQUAL(turns.size(), 1u);
  const auto asked = retirements.size();
  take_back({1, 2});
  CAF_REQUIRE_EQUAL(left.size(), 1u);
  CAF_CHECK(left[0] == unit);
  CAF_CHECK_EQUAL(retirements.size(), asked);
  caf::anon_send(throttle_part, backoff_tick{});
  settle();
  CAF_REQUIRE_EQUAL(retirements.size(), asked + 1);
  CAF_CHECK_EQUAL(retirements.back().seen, 3u);
}

CAF_TEST(it stays while a look up is open) {
  look_ups.holds = true;
  start();
  hold_state();
  const auto asked = retirements.size();
  take_back({1, 2});
  CAF_CHECK_EQUAL(steps_called("look up"), 1);
  advance(1min);
  CAF_CHECK_EQUAL(retirements.size(), asked);
  caf::anon_send(caf::actor_cast<slow_git>(git_part), backoff_tick{});
  settle();
  CAF_REQUIRE_EQUAL(retirements.size(), asked + 1);
  CAF_CHECK_EQUAL(retirements.back().seen, 3u);
}

CAF_TEST(it stays while a fetch runs and leaves when that ended) {
  start();
  hold_state();
  advance(1s);
  CAF_REQUIRE_EQUAL(jobs.size(), 1u);
  const auto asked = retirements.size();
  take_back({1, 2});
  CAF_CHECK_EQUAL(retirements.size(), asked);
  complete(jobs[0].what.lease, {object(1)});
  CAF_CHECK_EQUAL(packs, 0);
  CAF_REQUIRE_EQUAL(retirements.size(), asked + 1);
  CAF_CHECK(published_ids.empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
