// The shell of the plan among fakes: what it asks, in which order, and what
// it does when a neighbour fails.
#define CAF_SUITE identifier
#include "actors/identifier.hpp"
#include "actors/log.hpp"
#include "actors/metrics.hpp"
#include "actors/timer_wheel.hpp"
#include "tests/support/deterministic.hpp"
#include "tests/support/events.hpp"

#include <sstream>

using namespace purgatory;
using namespace purgatory::test;
using namespace std::chrono_literals;

namespace {

const identifier repo{"r"};
const host_key host{"h.example"};

struct counted_pack : quarantine {
  explicit counted_pack(int* alive) : alive_(alive) { ++*alive_; }
  ~counted_pack() override { --*alive_; }
  const std::string& directory() const override { return text_; }
  int* alive_;
  std::string text_;
};

/// What the neighbours do, and what they heard.
struct neighbours {
  bool journal_waits = false;
  bool relay_fails = false;
  bool image_fails = false;
  throttle_actor throttle;
  int throttle_look_ups = 0;
  git_actor writer;
  std::vector<fetch_request> jobs;
  std::vector<std::string> steps; ///< On the repository.
  std::set<oid> objects;
  std::vector<event_id> published;
  std::vector<std::uint64_t> retires;
};

supervisor_actor::behavior_type
fake_supervisor(supervisor_actor::stateful_pointer<stateless>, neighbours* n) {
  return {
    [](const event_arrived&, const identifier&) { return admission{}; },
    [=](const host_key&) {
      ++n->throttle_look_ups;
      return n->throttle;
    },
    [=](const tenant&) { return n->writer; },
    [=](const retire& m) { n->retires.push_back(m.seen); },
    [](const set_limits&) { return limits_set{}; },
    [](const list_pending&) { return pending_identifiers{}; },
    [](const respawn&) {},
    [](const stop_work&) { return work_stopped{}; },
  };
}

throttle_actor::behavior_type
fake_throttle(throttle_actor::stateful_pointer<stateless>) {
  return {
    [](const enqueue& m, const grant_sink&) {
      return enqueue_answer{enqueue_outcome::granted,
                            {m.who, m.url, host, lease_id{7}}};
    },
    [](const grant_answer&) {},
    [](const leave_queue& m) { return queue_left{m.who}; },
    [](const fetch_started&) {},
    [](const request_complete&) {},
    [](const backoff_tick&) {},
    [](const throttle_seed&) {},
    [](const set_limits&) {},
    [](const describe&) { return throttle_report{}; },
  };
}

fetch_pool_actor::behavior_type
fake_pool(fetch_pool_actor::stateful_pointer<stateless>, neighbours* n) {
  return {
    [=](const fetch_request& m, const completion_sink&) {
      n->jobs.push_back(m);
    },
    [](const fetch_started&) {},
    [](const adopt_throttle&, const throttle_actor&) {},
    [](const reclaim& m) { return reclaim_answer{m.lease}; },
    [](const backoff_tick&) {},
    [](const drain&) { return drained{}; },
  };
}

struct held_answers {
  explicit held_answers(journal_actor::pointer) {}
  std::vector<caf::typed_response_promise<recorded>> owed;
};

/// Confirms at once, or when it hears `commit_batch`.
journal_actor::behavior_type
fake_journal(journal_actor::stateful_pointer<held_answers> self,
             neighbours* n) {
  return {
    [=](const record_batch&) -> caf::result<recorded> {
      if (!n->journal_waits)
        return recorded{};
      self->state.owed.push_back(self->make_response_promise<recorded>());
      return self->state.owed.back();
    },
    [=](const load_identifier& m) -> caf::result<identifier_image> {
      if (n->image_fails)
        return caf::make_error(caf::sec::runtime_error);
      return identifier_image{m.repo, {}, {}};
    },
    [](const list_pending&) { return pending_identifiers{}; },
    [](const find_event&) { return found_event{}; },
    [=](const commit_batch&) {
      for (auto& answer : std::exchange(self->state.owed, {}))
        answer.deliver(recorded{});
    },
    [](const close_journal&) { return journal_closed{}; },
  };
}

git_actor::behavior_type fake_writer(git_actor::stateful_pointer<stateless>,
                                     neighbours* n) {
  const auto step = [=](const char* name, const tenant& which) {
    n->steps.emplace_back(name);
    return repository_report{which, {store_result::done, {}, ""}};
  };
  return {
    [=](const prepare& m) { return step("prepare", m.repository); },
    [=](const check_presence& m) {
      n->steps.emplace_back("look up");
      presence answer{m.repository, m.ids, {}};
      for (const auto& id : m.ids)
        answer.kinds.push_back(n->objects.contains(id) ? object_kind::commit
                                                       : object_kind::absent);
      return answer;
    },
    [=](const promote& m) {
      n->objects.insert(m.wants.begin(), m.wants.end());
      return step("promote", m.repository);
    },
    [=](const align& m) { return step("align", m.repository); },
    [=](const set_pr_ref& m) { return step("pull request", m.repository); },
  };
}

relay_link_actor::behavior_type
fake_relay(relay_link_actor::stateful_pointer<stateless>, neighbours* n) {
  return {[=](const publish& m) -> caf::result<published> {
    if (n->relay_fails)
      return caf::make_error(caf::sec::runtime_error);
    n->published.push_back(m.event.id);
    return published{m.event.id, publish_outcome::released, ""};
  }};
}

struct fixture : deterministic {
  neighbours n;
  identifier_actor actor;
  journal_actor keeper;
  std::ostringstream silence;

  fixture() {
    log::configure({log::level::error, log::format::text, &silence});
    n.throttle = track(sys.spawn(fake_throttle));
    n.writer = track(sys.spawn(fake_writer, &n));
    keeper = track(sys.spawn(fake_journal, &n));
    start();
  }

  ~fixture() override { log::configure({}); }

  void start() {
    identifier_config config;
    config.plan.jitter = 0;
    config.wall = [] { return unix_seconds{1'000'000}; };
    actor = track(sys.spawn(
      identifier_shell, repo,
      identifier_doors{
        track(sys.spawn(fake_supervisor, &n)), track(sys.spawn(fake_pool, &n)),
        keeper, track(sys.spawn(fake_relay, &n)), track(sys.spawn(timer_wheel)),
        track(sys.spawn(metrics))},
      config));
  }

  void offer_both() {
    self->send(actor, event_arrived{announcement(1, key(1), "r",
                                                 {"https://h.example/r.git"}),
                                    provenance::sync});
    self->send(actor,
               event_arrived{
                 state(2, key(1), "r", {{"refs/heads/main", object(1).value}}),
                 provenance::sync});
    settle();
  }

  void complete(lease_id lease, std::shared_ptr<quarantine> pack) {
    fetch_outcome result;
    result.outcome = fetch_class::ok;
    result.got = {object(1)};
    result.pack = std::move(pack);
    caf::anon_send(actor,
                   request_complete{lease,
                                    {key(1), repo},
                                    host,
                                    remote_url{"https://h.example/r.git"},
                                    result});
    settle();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(identifier_tests, fixture)

CAF_TEST(from event to release each neighbour is asked in its turn) {
  offer_both();
  advance(501ms);
  CAF_REQUIRE_EQUAL(n.jobs.size(), 1u);
  CAF_CHECK(n.jobs[0].lease == lease_id{7});
  int alive = 0;
  complete(lease_id{7}, std::make_shared<counted_pack>(&alive));
  const std::vector<std::string> steps
    = {"look up", "prepare", "promote", "look up", "align"};
  CAF_CHECK(n.steps == steps);
  CAF_CHECK(n.published == (std::vector{id_of(1), id_of(2)}));
  CAF_CHECK_EQUAL(alive, 0);
  CAF_REQUIRE(!n.retires.empty());
  CAF_CHECK_EQUAL(n.retires.back(), 2u);
}

CAF_TEST(no answer before the journal has the event) {
  settle();
  n.journal_waits = true;
  auto pending = self->request(
    actor, caf::infinite,
    event_arrived{announcement(1, key(1), "r", {}), provenance::sync});
  settle();
  CAF_CHECK(self->mailbox().empty());
  CAF_CHECK(n.retires.empty() || n.retires.back() == 0);
  self->send(keeper, commit_batch{});
  settle();
  CAF_REQUIRE(!self->mailbox().empty());
  pending.receive(
    [](const admission& answer) {
      CAF_CHECK(answer.message == answer_text::held);
    },
    [](caf::error&) { CAF_FAIL("an error instead of an answer"); });
}

CAF_TEST(a dead throttle is looked up anew) {
  offer_both();
  const auto dead = n.throttle;
  kill(dead);
  advance(100ms);
  n.throttle = track(sys.spawn(fake_throttle));
  advance(500ms);
  CAF_CHECK_EQUAL(n.jobs.size(), 1u);
  // Its successor dies too, after it was found; the next round finds another.
  kill(n.throttle);
  n.throttle = track(sys.spawn(fake_throttle));
  self->send(actor, throttle_restarted{host});
  fetch_outcome nothing;
  nothing.outcome = fetch_class::not_here;
  caf::anon_send(actor, request_complete{lease_id{7},
                                         {key(1), repo},
                                         host,
                                         remote_url{"https://h.example/r.git"},
                                         nothing});
  advance(25s);
  CAF_CHECK_EQUAL(n.jobs.size(), 2u);
  CAF_CHECK_EQUAL(n.throttle_look_ups, 2);
}

CAF_TEST(an outcome under an unknown lease is dropped with its pack) {
  offer_both();
  int alive = 0;
  complete(lease_id{99}, std::make_shared<counted_pack>(&alive));
  CAF_CHECK_EQUAL(alive, 0);
  CAF_CHECK(n.published.empty());
}

CAF_TEST(a relay door that breaks is tried again) {
  n.relay_fails = true;
  offer_both();
  advance(501ms);
  int alive = 0;
  complete(lease_id{7}, std::make_shared<counted_pack>(&alive));
  CAF_CHECK(n.published.empty());
  n.relay_fails = false;
  advance(119s);
  CAF_CHECK(n.published.empty());
  advance(2s);
  CAF_CHECK(n.published == (std::vector{id_of(1), id_of(2)}));
}

CAF_TEST(without the journal it does not live) {
  n.image_fails = true;
  start();
  self->monitor(actor);
  settle();
  CAF_CHECK(!self->mailbox().empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
