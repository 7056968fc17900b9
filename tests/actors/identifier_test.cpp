#define CAF_SUITE identifier

#include "actors/identifier.hpp"
#include "actors/log.hpp"
#include "actors/metrics.hpp"
#include "actors/timer_wheel.hpp"
#include "tests/support/deterministic.hpp"
#include "tests/support/events.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace purgatory;
using namespace purgatory::test;
using namespace std::chrono_literals;

namespace {

const identifier repo{"r"};
const host_key host{"h.example"};
const unit_key unit{key(1), repo};

/// What the neighbours of an identifier do, and what they heard.
struct neighbours {
  // journal
  bool holds_image = false;
  bool holds_records = false;
  bool journal_fails = false;
  std::vector<caf::typed_response_promise<identifier_image>> images;
  std::vector<caf::typed_response_promise<recorded>> records;

  // supervisor
  std::vector<throttle_actor> throttles; ///< Given one after another.
  std::size_t throttles_given = 0;
  git_actor repository;
  std::vector<std::uint64_t> retires;

  // throttle
  bool queues = false;
  std::vector<caf::actor_id> enqueued; ///< At which throttle.
  std::vector<grant_decision> decisions;
  std::uint64_t next_lease = 1;

  // pool
  std::vector<fetch_request> jobs;

  // repository
  std::vector<std::string> steps;
  std::set<oid> objects;

  // relay
  bool relay_fails = false;
  std::vector<event_id> published;
};

supervisor_actor::behavior_type fake_supervisor(supervisor_actor::pointer,
                                                neighbours* n) {
  const auto unused = caf::make_error(caf::sec::unexpected_message);
  return {
    [=](const event_arrived&, const identifier&) -> caf::result<admission> {
      return unused;
    },
    [=](const host_key&) {
      const auto last = n->throttles.size() - 1;
      return n->throttles.at(std::min(n->throttles_given++, last));
    },
    [=](const tenant&) { return n->repository; },
    [=](const retire& m) { n->retires.push_back(m.seen); },
    [=](const set_limits&) -> caf::result<limits_set> { return unused; },
    [=](list_pending) -> caf::result<pending_identifiers> { return unused; },
    [](const respawn&) {},
    [=](stop_work) -> caf::result<work_stopped> { return unused; },
  };
}

journal_actor::behavior_type fake_journal(journal_actor::pointer self,
                                          neighbours* n) {
  const auto broken = caf::make_error(caf::sec::runtime_error, "disk full");
  return {
    [=](const record_batch&) -> caf::result<recorded> {
      if (n->journal_fails)
        return broken;
      if (!n->holds_records)
        return recorded{};
      return n->records.emplace_back(self->make_response_promise<recorded>());
    },
    [=](const load_identifier& m) -> caf::result<identifier_image> {
      if (n->journal_fails)
        return broken;
      if (!n->holds_image)
        return identifier_image{m.repo, {}, {}};
      return n->images.emplace_back(
        self->make_response_promise<identifier_image>());
    },
    [](list_pending) { return pending_identifiers{}; },
    [](const find_event&) { return found_event{}; },
    [](commit_batch) {},
    [](const close_journal&) { return journal_closed{}; },
  };
}

throttle_actor::behavior_type fake_throttle(throttle_actor::pointer self,
                                            neighbours* n) {
  return {
    [=](const enqueue& m, const grant_sink&) {
      n->enqueued.push_back(self->id());
      if (n->queues)
        return enqueue_answer{enqueue_outcome::queued, {}};
      return enqueue_answer{enqueue_outcome::granted,
                            {m.who, m.url, host, lease_id{n->next_lease++}}};
    },
    [=](const grant_answer& m) { n->decisions.push_back(m.decision); },
    [](const leave_queue& m) { return queue_left{m.who}; },
    [](const fetch_started&) {},
    [](const request_complete&) {},
    [](const backoff_tick&) {},
    [](const throttle_seed&) {},
    [](const set_limits&) {},
    [](const describe&) { return throttle_report{}; },
  };
}

fetch_pool_actor::behavior_type fake_pool(fetch_pool_actor::pointer,
                                          neighbours* n) {
  return {
    [=](const fetch_request& m, const completion_sink&) {
      n->jobs.push_back(m);
    },
    [](const fetch_started&) {},
    [](const adopt_throttle&, const throttle_actor&) {},
    [](const reclaim& m) {
      return reclaim_answer{m.lease, {}};
    },
    [](const backoff_tick&) {},
    [](const drain&) { return drained{}; },
  };
}

git_actor::behavior_type fake_repository(git_actor::pointer, neighbours* n) {
  const auto note = [n](const char* step, const tenant& which) {
    n->steps.emplace_back(step);
    return repository_report{which, {store_result::done, {}, ""}};
  };
  return {
    [=](const prepare& m) { return note("prepare", m.repository); },
    [=](const check_presence& m) {
      n->steps.emplace_back("look up");
      presence result{m.repository, m.ids, {}};
      for (const auto& id : m.ids)
        result.kinds.push_back(n->objects.contains(id) ? object_kind::commit
                                                       : object_kind::absent);
      return result;
    },
    [=](const promote& m) {
      n->objects.insert(m.wants.begin(), m.wants.end());
      return note("promote", m.repository);
    },
    [=](const align& m) { return note("align", m.repository); },
    [=](const set_pr_ref& m) { return note("set pr ref", m.repository); },
  };
}

relay_link_actor::behavior_type fake_relay(relay_link_actor::pointer,
                                           neighbours* n) {
  return {[=](const publish& m) -> caf::result<published> {
    n->published.push_back(m.event.id);
    if (n->relay_fails)
      return caf::make_error(caf::sec::runtime_error, "no relay");
    return published{m.event.id, publish_outcome::released, ""};
  }};
}

/// Offers what it is told to and notes the answers in their order.
caf::behavior client(caf::event_based_actor* self, identifier_actor uut,
                     std::vector<std::string>* answers) {
  return {[=](const event_arrived& m) {
    self->request(uut, caf::infinite, m)
      .then(
        [=](const admission& answer) { answers->push_back(answer.message); },
        [=](const caf::error&) { answers->push_back("(error)"); });
  }};
}

/// Counts those that are alive.
struct counted_quarantine : quarantine {
  static inline int alive = 0;
  counted_quarantine() { ++alive; }
  ~counted_quarantine() override { --alive; }
  const std::string& directory() const override { return text; }
  std::string text;
};

struct fixture : deterministic {
  std::ostringstream log_text;
  neighbours n;
  std::vector<std::string> answers;
  identifier_doors doors;
  identifier_actor uut;
  caf::actor offerer;

  fixture() {
    log::configure({log::level::error, log::format::text, &log_text});
    doors.supervisor = track(sys.spawn(fake_supervisor, &n));
    doors.pool = track(sys.spawn(fake_pool, &n));
    doors.journal = track(sys.spawn(fake_journal, &n));
    doors.relay = track(sys.spawn(fake_relay, &n));
    doors.wheel = track(sys.spawn(timer_wheel));
    doors.metrics = track(sys.spawn(metrics));
    n.repository = new_repository();
    n.throttles.push_back(new_throttle());
  }
  ~fixture() override {
    n.images.clear();
    n.records.clear();
    log::configure({});
  }

  git_actor new_repository() { return track(sys.spawn(fake_repository, &n)); }
  throttle_actor new_throttle() { return track(sys.spawn(fake_throttle, &n)); }

  void start() {
    identifier_config config;
    config.plan.jitter = 0;
    config.wall = [] { return unix_seconds{1'000'000}; };
    uut = track(sys.spawn(identifier_shell, repo, doors, config));
    offerer = track(sys.spawn(client, uut, &answers));
    settle();
  }

  void offer(const nostr::event& ev) {
    caf::anon_send(offerer, event_arrived{ev, provenance::sync});
    settle();
  }

  void offer_announcement() {
    offer(announcement(1, key(1), "r", {"https://h.example/r.git"}));
  }

  void offer_state(std::uint64_t id) {
    offer(state(id, key(1), "r", {{"refs/heads/main", object(id).value}},
                1000 + static_cast<unix_seconds>(id)));
  }

  /// Announcement and state 2 are here and its commit is being fetched.
  void fetch_state() {
    offer_announcement();
    offer_state(2);
    advance(500ms);
    CAF_REQUIRE_EQUAL(n.jobs.size(), 1u);
    n.steps.clear();
  }

  void complete(lease_id lease) {
    fetch_outcome result;
    result.outcome = fetch_class::ok;
    result.got = {object(2)};
    result.pack = std::make_shared<counted_quarantine>();
    caf::anon_send(uut, request_complete{lease, unit, host,
                                         remote_url{"https://h.example/r.git"},
                                         result});
    result.pack.reset();
    settle();
  }

  bool is_alive() {
    bool alive = true;
    self->monitor(uut);
    settle();
    if (!self->mailbox().empty())
      self->receive([&](const caf::down_msg&) { alive = false; });
    else
      self->demonitor(uut.address());
    return alive;
  }

  std::uint64_t counted(const std::string& name) {
    return ask<metrics_snapshot>(doors.metrics, scrape{}).values[name];
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(identifier_tests, fixture)

CAF_TEST(events that arrive before the image are answered in their order) {
  n.holds_image = true;
  start();
  offer_announcement();
  offer_state(2);
  offer_announcement();
  CAF_CHECK(answers.empty());
  CAF_REQUIRE_EQUAL(n.images.size(), 1u);
  n.images[0].deliver(identifier_image{repo, {}, {}});
  settle();
  CAF_CHECK(answers
            == (std::vector<std::string>{answer_text::held, answer_text::held,
                                         answer_text::in_purgatory}));
  // Who had early events never asked to leave.
  CAF_CHECK(n.retires.empty());
}

CAF_TEST(an event is answered only after it is recorded) {
  n.holds_records = true;
  start();
  offer_announcement();
  CAF_CHECK(answers.empty());
  CAF_REQUIRE_EQUAL(n.records.size(), 1u);
  n.records[0].deliver(recorded{});
  settle();
  CAF_CHECK(answers == std::vector<std::string>{answer_text::held});
}

CAF_TEST(nothing is hunted before it is recorded) {
  n.holds_records = true;
  start();
  offer_announcement();
  offer_state(2);
  advance(10s);
  CAF_CHECK(n.enqueued.empty());
  for (auto& owed : n.records)
    owed.deliver(recorded{});
  settle();
  CAF_CHECK_EQUAL(n.jobs.size(), 1u);
}

CAF_TEST(a journal that fails to record ends the actor without an answer) {
  start();
  n.journal_fails = true;
  offer_announcement();
  CAF_CHECK(!is_alive());
  CAF_CHECK(std::find(answers.begin(), answers.end(), answer_text::held)
            == answers.end());
}

CAF_TEST(a journal that fails to load ends the actor) {
  n.journal_fails = true;
  start();
  CAF_CHECK(!is_alive());
}

CAF_TEST(a turn at a dead throttle is asked for again at the next one) {
  kill(n.throttles[0]);
  n.throttles.push_back(new_throttle());
  start();
  fetch_state();
  CAF_CHECK_EQUAL(n.throttles_given, 2u);
  CAF_CHECK(n.enqueued == std::vector{n.throttles[1]->id()});
  CAF_CHECK(n.decisions == std::vector{grant_decision::start});
}

CAF_TEST(a place at a throttle that was replaced is asked for again) {
  n.queues = true;
  start();
  offer_announcement();
  offer_state(2);
  advance(500ms);
  CAF_REQUIRE_EQUAL(n.enqueued.size(), 1u);
  n.throttles.push_back(new_throttle());
  caf::anon_send(uut, throttle_restarted{host});
  settle();
  CAF_REQUIRE_EQUAL(n.enqueued.size(), 2u);
  CAF_CHECK_EQUAL(n.enqueued[1], n.throttles[1]->id());
}

CAF_TEST(a later grant starts the job) {
  n.queues = true;
  start();
  offer_announcement();
  offer_state(2);
  advance(500ms);
  CAF_CHECK(n.jobs.empty());
  caf::anon_send(uut, url_ready{unit, remote_url{"https://h.example/r.git"},
                                host, lease_id{7}});
  settle();
  CAF_REQUIRE_EQUAL(n.jobs.size(), 1u);
  CAF_CHECK(n.jobs[0].lease == lease_id{7});
  CAF_CHECK(n.jobs[0].order.wants == std::vector{object(2)});
  CAF_CHECK(n.decisions == std::vector{grant_decision::start});
}

CAF_TEST(a fetched pack is promoted then looked up and its event released) {
  start();
  fetch_state();
  complete(n.jobs[0].lease);
  CAF_CHECK(n.steps
            == (std::vector<std::string>{"promote", "look up", "align"}));
  CAF_CHECK(n.published == (std::vector{id_of(1), id_of(2)}));
  CAF_CHECK_EQUAL(counted_quarantine::alive, 0);
  CAF_CHECK_EQUAL(counted("purgatory_sync_oids_fetched_total"), 1u);
}

CAF_TEST(the end of an unknown job changes nothing and its pack is dropped) {
  start();
  fetch_state();
  complete(lease_id{999});
  CAF_CHECK_EQUAL(counted_quarantine::alive, 0);
  CAF_CHECK(n.steps.empty());
  CAF_CHECK(n.published.empty());
  complete(n.jobs[0].lease); // The one that runs goes on.
  CAF_CHECK_EQUAL(n.published.size(), 2u);
}

CAF_TEST(a job that ends twice is taken once) {
  start();
  fetch_state();
  complete(n.jobs[0].lease);
  complete(n.jobs[0].lease);
  CAF_CHECK_EQUAL(std::count(n.steps.begin(), n.steps.end(), "promote"), 1);
  CAF_CHECK_EQUAL(n.published.size(), 2u);
  CAF_CHECK_EQUAL(counted_quarantine::alive, 0);
}

CAF_TEST(a relay door that fails is tried again after the longest pause) {
  start();
  fetch_state();
  n.relay_fails = true;
  complete(n.jobs[0].lease);
  CAF_CHECK(n.published == std::vector{id_of(1)});
  advance(120s - 1ms);
  CAF_CHECK_EQUAL(n.published.size(), 1u);
  n.relay_fails = false;
  advance(1ms);
  CAF_CHECK(n.published == (std::vector{id_of(1), id_of(1), id_of(2)}));
}

CAF_TEST(after a look-up at a dead repository the next one asks for another) {
  start();
  offer_announcement();
  offer_state(2);
  kill(n.repository);
  n.repository = new_repository();
  n.steps.clear();
  offer_state(3);
  CAF_CHECK(n.steps.empty());
  offer_state(4);
  CAF_CHECK(n.steps == std::vector<std::string>{"look up"});
}

CAF_TEST(a refusal is counted by its first word) {
  start();
  offer(state(2, key(1), "r", {}, 2'000'000));
  CAF_CHECK(answers == std::vector<std::string>{answer_text::too_far_ahead});
  CAF_CHECK_EQUAL(counted("purgatoryd_refused_total{reason=\"invalid\"}"), 1u);
}

CAF_TEST(an idle identifier asks to leave once for each event that it saw) {
  start();
  CAF_CHECK(n.retires == std::vector<std::uint64_t>{0});
  const auto deletion = make_event(5, nostr::kind_deletion, key(1), 1000, {});
  offer(deletion);
  offer(deletion);
  CAF_CHECK(n.retires == (std::vector<std::uint64_t>{0, 1, 2}));
  offer_announcement();
  CAF_CHECK_EQUAL(n.retires.size(), 3u);
}

CAF_TEST(a closed identifier is gone) {
  start();
  CAF_CHECK(is_alive());
  caf::anon_send(uut, purgatory::close{});
  settle();
  CAF_CHECK(!is_alive());
}

CAF_TEST_FIXTURE_SCOPE_END()
