#include "actors/git_io.hpp"
#include "tests/support/seed.hpp"

#include <algorithm>
#include <chrono>

#define CAF_SUITE git_io
#include "tests/support/deterministic.hpp"

using namespace purgatory;
using namespace std::chrono_literals;

namespace {

/// What the fake workers do, and what was seen of them.
struct disk {
  std::function<bool(const std::string&)> throws
    = [](const std::string&) { return false; };
  caf::timespan takes = 1s;
  std::size_t running = 0;
  std::size_t peak = 0;
  std::vector<std::string> began; ///< Names of the steps.
  std::vector<std::string> ended;
  std::vector<caf::actor> workers;
};

struct step_over {};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, step_over&) {
  return f(caf::meta::type_name("step_over"));
}

using fake_worker_actor = git_actor::extend<caf::reacts_to<step_over>>;

struct fake_worker_state {
  explicit fake_worker_state(fake_worker_actor::pointer) {}
  ~fake_worker_state() {
    if (!step.empty())
      --world->running;
  }

  disk* world = nullptr;
  std::string step; ///< Empty: idle.
  repository_report report;
  caf::typed_response_promise<repository_report> answer;
};

repository_report done_for(const tenant& repository) {
  return {repository, {store_result::done, {}, ""}};
}

/// Only `set_pr_ref` takes time here; the event id is the name of the step.
fake_worker_actor::behavior_type
fake_worker(fake_worker_actor::stateful_pointer<fake_worker_state> self,
            disk* world) {
  self->state.world = world;
  self->set_exception_handler([](std::exception_ptr&) -> caf::error {
    return caf::make_error(caf::sec::runtime_error, "boom");
  });
  return {
    [](const prepare& step) { return done_for(step.repository); },
    [=](const check_presence& step) {
      if (world->throws("presence"))
        throw std::runtime_error("boom");
      return presence{step.repository, step.ids, {object_kind::commit}};
    },
    [](const promote& step) { return done_for(step.repository); },
    [](const copy_from& step) { return done_for(step.repository); },
    [](const align& step) { return done_for(step.repository); },
    [=](const set_pr_ref& step) -> caf::result<repository_report> {
      auto& state = self->state;
      world->began.push_back(step.pr.value);
      if (world->throws(step.pr.value))
        throw std::runtime_error("boom");
      world->peak = std::max(world->peak, ++world->running);
      state.step = step.pr.value;
      state.report = done_for(step.repository);
      state.answer = self->make_response_promise<repository_report>();
      self->delayed_send(self, world->takes, step_over{});
      return state.answer;
    },
    [=](const step_over&) {
      auto& state = self->state;
      --world->running;
      world->ended.push_back(std::exchange(state.step, {}));
      state.answer.deliver(std::move(state.report));
    },
  };
}

struct asker_state {
  explicit asker_state(caf::event_based_actor*) {}
  std::map<std::string, store_report> reports; ///< By name of the step.
  std::size_t errors = 0;
  std::size_t answers = 0;
};

/// Somebody who asks for steps and notes what comes back.
struct order {
  git_actor whom;
  set_pr_ref step;
};

} // namespace

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(order)

namespace {

caf::behavior asker(caf::stateful_actor<asker_state>* self) {
  return {[=](const order& what) {
    const auto name = what.step.pr.value;
    self->request(what.whom, caf::infinite, what.step)
      .then(
        [=](const repository_report& report) {
          ++self->state.answers;
          self->state.reports[name] = report.report;
        },
        [=](caf::error&) { ++self->state.errors; });
  }};
}

const tenant here{pubkey{"owner"}, identifier{"repo"}};
const tenant there{pubkey{"owner"}, identifier{"other"}};

struct fixture : test::deterministic {
  disk world;
  caf::actor friends = track(sys.spawn(asker));

  git_actor start_io(std::size_t size) {
    return track(sys.spawn(git_io, size, [this] {
      const auto worker = track(sys.spawn(fake_worker, &world));
      world.workers.push_back(caf::actor_cast<caf::actor>(worker));
      return git_actor{worker};
    }));
  }

  git_actor start_repository(const git_actor& io, const tenant& which = here) {
    return track(sys.spawn(repository, which, io));
  }

  void send_step(const git_actor& whom, const std::string& name,
                 const tenant& where = here) {
    caf::anon_send(friends, order{whom, {where, event_id{name}, oid{"c"}}});
    settle();
  }

  void finish() {
    for (auto round = 0; round < 1000 && pending_timers() > 0; ++round)
      advance(100ms);
  }

  asker_state& heard() {
    return deref<caf::stateful_actor<asker_state>>(friends).state;
  }

  std::size_t count(store_result how) {
    std::size_t n = 0;
    for (const auto& [name, report] : heard().reports)
      n += report.result == how ? 1 : 0;
    return n;
  }
};

std::vector<std::string> names(int count) {
  std::vector<std::string> result;
  for (auto i = 1; i <= count; ++i)
    result.push_back(std::to_string(i));
  return result;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(git_io_tests, fixture)

CAF_TEST(never more steps at once than workers and first come first served) {
  const auto io = start_io(2);
  for (const auto& name : names(9))
    send_step(io, name);
  CAF_CHECK_EQUAL(world.running, 2u);
  finish();
  CAF_CHECK_EQUAL(world.peak, 2u);
  CAF_CHECK_EQUAL(world.workers.size(), 2u);
  CAF_CHECK(world.began == names(9));
  CAF_CHECK_EQUAL(count(store_result::done), 9u);
}

CAF_TEST(a throwing step fails alone and the next has a fresh worker) {
  world.throws
    = [](const std::string& name) { return std::stoi(name) % 7 == 0; };
  const auto io = start_io(1);
  for (const auto& name : names(100))
    send_step(io, name);
  finish();
  CAF_CHECK_EQUAL(count(store_result::failed), 14u);
  CAF_CHECK_EQUAL(count(store_result::done), 86u);
  CAF_CHECK_EQUAL(heard().answers, 100u);
  CAF_CHECK_EQUAL(heard().errors, 0u);
  CAF_CHECK_EQUAL(world.workers.size(), 15u);
  CAF_CHECK(heard().reports["7"].detail.find("boom") != std::string::npos);
}

CAF_TEST(a killed worker fails its step once and is replaced) {
  const auto io = start_io(1);
  send_step(io, "1");
  send_step(io, "2");
  kill(world.workers.front());
  CAF_CHECK_EQUAL(count(store_result::failed), 1u);
  CAF_CHECK_EQUAL(world.running, 1u);
  finish();
  CAF_CHECK_EQUAL(count(store_result::done), 1u);
  CAF_CHECK_EQUAL(heard().answers, 2u);
  kill(world.workers.back());
  send_step(io, "3");
  finish();
  CAF_CHECK_EQUAL(count(store_result::done), 2u);
  CAF_CHECK_EQUAL(world.workers.size(), 3u);
}

CAF_TEST(every kind of step finds its way) {
  const auto whom = start_repository(start_io(1));
  CAF_CHECK_EQUAL(ask<repository_report>(whom, prepare{here}).report.result,
                  store_result::done);
  const auto found = ask<presence>(whom, check_presence{here, {oid{"a"}}});
  CAF_CHECK(found.kinds == (std::vector{object_kind::commit}));
  CAF_CHECK_EQUAL(
    ask<repository_report>(whom, promote{here, nullptr, {}}).report.result,
    store_result::done);
  CAF_CHECK_EQUAL(ask<repository_report>(whom, align{here, {}}).report.result,
                  store_result::done);
}

CAF_TEST(a presence that can not be known is an error) {
  world.throws = [](const std::string&) { return true; };
  const auto whom = start_repository(start_io(1));
  auto pending
    = self->request(whom, caf::infinite, check_presence{here, {oid{"a"}}});
  settle();
  auto refused = false;
  pending.receive([](const presence&) { CAF_FAIL("answered"); },
                  [&](caf::error&) { refused = true; });
  CAF_CHECK(refused);
}

CAF_TEST(a repository takes one step at a time in order) {
  const auto io = start_io(4);
  const auto whom = start_repository(io);
  const auto other = start_repository(io, there);
  for (const auto& name : names(10))
    send_step(whom, name);
  CAF_CHECK_EQUAL(world.running, 1u);
  send_step(other, "x", there);
  CAF_CHECK_EQUAL(world.running, 2u);
  finish();
  CAF_CHECK_EQUAL(world.peak, 2u);
  std::erase(world.began, "x");
  std::erase(world.ended, "x");
  CAF_CHECK(world.began == names(10));
  CAF_CHECK(world.ended == names(10));
  CAF_CHECK_EQUAL(count(store_result::done), 11u);
}

CAF_TEST(a failing step is answered and the next goes on) {
  world.throws = [](const std::string& name) { return name == "2"; };
  const auto whom = start_repository(start_io(4));
  for (const auto& name : names(4))
    send_step(whom, name);
  finish();
  CAF_CHECK_EQUAL(heard().reports["2"].result, store_result::failed);
  CAF_CHECK_EQUAL(count(store_result::done), 3u);
  CAF_CHECK_EQUAL(world.peak, 1u);
}

CAF_TEST(a repository without its threads fails each step) {
  const auto io = start_io(1);
  const auto whom = start_repository(io);
  kill(io);
  for (const auto& name : names(3))
    send_step(whom, name);
  CAF_CHECK_EQUAL(count(store_result::failed), 3u);
}

CAF_TEST(a step for another repository is refused) {
  const auto whom = start_repository(start_io(1));
  send_step(whom, "1", there);
  CAF_CHECK_EQUAL(count(store_result::failed), 1u);
  CAF_CHECK(world.began.empty());
}

CAF_TEST(who waits is answered when the daemon stops) {
  const auto io = start_io(1);
  const auto whom = start_repository(io);
  send_step(whom, "1");
  send_step(whom, "2");
  send_step(io, "3");
  send_step(io, "4");
  caf::anon_send_exit(whom, caf::exit_reason::user_shutdown);
  settle();
  CAF_CHECK_EQUAL(heard().answers, 2u);
  caf::anon_send_exit(io, caf::exit_reason::user_shutdown);
  settle();
  CAF_CHECK_EQUAL(heard().answers, 4u);
  CAF_CHECK_EQUAL(count(store_result::failed), 4u);
  CAF_CHECK_EQUAL(world.running, 0u);
}

CAF_TEST(a worker gives each step to its store) {
  struct recorder : object_store {
    std::vector<std::string> calls;
    store_report note(const tenant& where, const std::string& what) {
      calls.push_back(where.repo.value + " " + what);
      return {store_result::conflict, {}, what};
    }
    store_report create(const tenant& where) override {
      return note(where, "create");
    }
    std::vector<object_kind> kinds(const tenant& where,
                                   const std::vector<oid>& ids) override {
      note(where, "kinds");
      return std::vector<object_kind>(ids.size(), object_kind::tag);
    }
    store_report promote(const tenant& where, const quarantine& pack,
                         const std::vector<oid>& wants) override {
      return note(where, "promote " + pack.directory() + " " + wants[0].value);
    }
    store_report copy(const tenant& where, const tenant& from,
                      const std::vector<oid>& ids) override {
      return note(where, "copy " + from.repo.value + " " + ids[0].value);
    }
    store_report align(const tenant& where,
                       const git::desired_refs& wanted) override {
      return note(where, "align " + *wanted.head);
    }
    store_report set_pr_ref(const tenant& where, const event_id& pr,
                            const oid& tip) override {
      return note(where, "pr " + pr.value + " " + tip.value);
    }
    std::size_t remove_stale_quarantines() override { return 0; }
  };
  struct folder : quarantine {
    std::string path = "/q";
    const std::string& directory() const override { return path; }
  };
  const auto store = std::make_shared<recorder>();
  const git_actor worker = track(sys.spawn(git_worker, store));
  const auto result_of = [&](auto step) {
    const auto answer = ask<repository_report>(worker, std::move(step));
    CAF_CHECK_EQUAL(answer.repository.repo.value, "repo");
    CAF_CHECK_EQUAL(answer.report.result, store_result::conflict);
    return answer.report.detail;
  };
  CAF_CHECK_EQUAL(result_of(prepare{here}), "create");
  CAF_CHECK_EQUAL(
    result_of(promote{here, std::make_shared<folder>(), {oid{"a"}}}),
    "promote /q a");
  CAF_CHECK_EQUAL(
    result_of(copy_from{here, {pubkey{"o"}, identifier{"other"}}, {oid{"a"}}}),
    "copy other a");
  CAF_CHECK_EQUAL(result_of(align{here, {{}, {}, "main"}}), "align main");
  CAF_CHECK_EQUAL(result_of(set_pr_ref{here, event_id{"e"}, oid{"c"}}),
                  "pr e c");
  const auto found = ask<presence>(worker, check_presence{here, {oid{"a"}}});
  CAF_CHECK(found.kinds == (std::vector{object_kind::tag}));
  CAF_CHECK_EQUAL(found.ids.size(), 1u);
  CAF_CHECK_EQUAL(store->calls.size(), 6u);
  CAF_CHECK_EQUAL(
    ask<repository_report>(worker, promote{here, nullptr, {}}).report.result,
    store_result::failed);
}

CAF_TEST_FIXTURE_SCOPE_END()

CAF_TEST(in any order of events each step is answered once) {
  const auto first = test::first_seed();
  CAF_MESSAGE("PURGATORY_TEST_SEED=" << first);
  constexpr std::uint64_t rounds = 500;
  auto steps = 0;
  for (auto seed = first; seed < first + rounds; ++seed) {
    disk world;
    test::random_schedule sim{seed};
    world.throws = [&](const std::string&) { return sim.rng() % 8 == 0; };
    const auto friends = sim.track(sim.sys.spawn(asker));
    const auto io = sim.track(sim.sys.spawn(git_io, 2, [&] {
      const auto worker = sim.track(sim.sys.spawn(fake_worker, &world));
      world.workers.push_back(caf::actor_cast<caf::actor>(worker));
      return git_actor{worker};
    }));
    const std::vector<git_actor> repositories = {
      sim.track(sim.sys.spawn(repository, here, io)),
      sim.track(sim.sys.spawn(repository, there, io)),
      sim.track(sim.sys.spawn(repository, here, io)),
    };
    auto asked = 0;
    const auto disturb = [&] {
      if (sim.rng() % 8 == 0 && !world.workers.empty()) {
        caf::anon_send_exit(world.workers[sim.rng() % world.workers.size()],
                            caf::exit_reason::kill);
      } else if (asked < 40) {
        const auto which = sim.rng() % repositories.size();
        caf::anon_send(friends,
                       order{repositories[which],
                             {which == 1 ? there : here,
                              event_id{std::to_string(++asked)}, oid{"c"}}});
      }
    };
    disturb();
    sim.explore(std::chrono::minutes{2}, disturb, [&] {
      if (world.running > 2)
        CAF_FAIL("seed " << seed << ": too many steps at once");
    });
    const auto& heard
      = sim.deref<caf::stateful_actor<asker_state>>(friends).state;
    if (heard.answers != static_cast<std::size_t>(asked)
        || heard.reports.size() != heard.answers || world.running != 0)
      CAF_FAIL("seed " << seed << ": " << asked << " asked, " << heard.answers
                       << " answered");
    steps += asked;
  }
  CAF_CHECK(steps > 1000);
}
