#include "actors/git_io.hpp"

#include "actors/harden.hpp"

namespace purgatory {

namespace {

using git_io_self = git_actor::stateful_pointer<git_io_state>;
using repository_self = git_actor::stateful_pointer<repository_state>;

constexpr const char* stopping = "the daemon stops";

void start_steps(git_io_self self);

/// False when the step had ended before: an error reply and the death of the
/// worker tell the same story twice.
bool end_step(git_io_self self, std::uint64_t step, bool answered) {
  auto& state = self->state;
  const auto found = state.running.find(step);
  if (found == state.running.end())
    return false;
  const auto worker = std::move(found->second.worker);
  state.running.erase(found);
  if (answered) {
    state.crew.put_back(worker);
  } else {
    state.crew.dismiss(worker.address());
    self->send_exit(worker, caf::exit_reason::user_shutdown);
  }
  start_steps(self);
  return true;
}

void start_steps(git_io_self self) {
  auto& state = self->state;
  while (!state.queue.empty()) {
    const auto worker = state.crew.take(
      [self](const git_actor& fresh) { self->monitor(fresh); });
    if (!worker)
      return;
    const auto ask = std::move(state.queue.front());
    state.queue.pop_front();
    const auto step = ++state.steps;
    state.running.emplace(step, git_io_state::running_step{*worker, ask.fail});
    ask.start(*worker, [self, step](bool answered) {
      return end_step(self, step, answered);
    });
  }
}

void on_worker_down(git_io_self self, const caf::down_msg& down) {
  auto& running = self->state.running;
  self->state.crew.dismiss(down.source);
  for (auto step = running.begin(); step != running.end(); ++step)
    if (step->second.worker.address() == down.source) {
      step->second.fail("git worker died: "
                        + self->system().render(down.reason));
      running.erase(step);
      break;
    }
  start_steps(self);
}

void stop(git_io_self self, const caf::exit_msg& why) {
  auto& state = self->state;
  for (const auto& [step, running] : state.running)
    running.fail(stopping);
  for (const auto& waiting : state.queue)
    waiting.fail(stopping);
  for (const auto& worker : state.crew.all())
    self->send_exit(worker, why.reason);
  self->quit(why.reason);
}

void start_next(repository_self self) {
  auto& state = self->state;
  if (state.running || state.queue.empty())
    return;
  state.running = true;
  state.queue.front().start(state.git_io, [self](bool) {
    self->state.running = false;
    self->state.queue.pop_front();
    start_next(self);
    return true;
  });
}

} // namespace

git_actor::behavior_type
git_worker(git_actor::stateful_pointer<git_worker_state> self,
           std::shared_ptr<object_store> store) {
  harden(self);
  return {
    [=](const prepare& step) {
      return repository_report{step.repository, store->create(step.repository)};
    },
    [=](const check_presence& step) {
      return presence{step.repository, step.ids,
                      store->kinds(step.repository, step.ids)};
    },
    [=](const promote& step) {
      if (!step.pack)
        return repository_report{step.repository,
                                 {store_result::failed, {}, "no pack"}};
      return repository_report{
        step.repository,
        store->promote(step.repository, *step.pack, step.wants)};
    },
    [=](const copy_from& step) {
      return repository_report{
        step.repository, store->copy(step.repository, step.from, step.ids)};
    },
    [=](const align& step) {
      return repository_report{step.repository,
                               store->align(step.repository, step.wanted)};
    },
    [=](const set_pr_ref& step) {
      return repository_report{
        step.repository, store->set_pr_ref(step.repository, step.pr, step.tip)};
    },
  };
}

git_actor::behavior_type git_io(git_actor::stateful_pointer<git_io_state> self,
                                std::size_t size,
                                worker_crew<git_actor>::factory make_worker) {
  harden(self);
  self->state.crew = {size, std::move(make_worker)};
  self->set_down_handler(
    [self](caf::down_msg& down) { on_worker_down(self, down); });
  self->set_exit_handler([self](caf::exit_msg& why) { stop(self, why); });
  return hand_on(self, [](git_io_self me, git_ask ask) {
    me->state.queue.push_back(std::move(ask));
    start_steps(me);
  });
}

git_actor::behavior_type
repository(git_actor::stateful_pointer<repository_state> self, tenant which,
           git_actor git_io) {
  harden(self);
  self->state.repository = std::move(which);
  self->state.git_io = std::move(git_io);
  self->set_exit_handler([self](caf::exit_msg& why) {
    for (const auto& waiting : self->state.queue)
      waiting.fail(stopping);
    self->quit(why.reason);
  });
  return hand_on(self, [](repository_self me, git_ask ask) {
    if (ask.repository != me->state.repository) {
      ask.fail("asked the wrong repository");
      return;
    }
    me->state.queue.push_back(std::move(ask));
    start_next(me);
  });
}

} // namespace purgatory
