#pragma once

#include "actors/git_ask.hpp"
#include "actors/worker_crew.hpp"
#include "libsync/ports.hpp"
#include "messages/actors.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

/// The way of a step on a repository: `repository` keeps the steps of one
/// tenant in order, `git_io` finds a thread, `git_worker` does it.
namespace purgatory {

struct git_worker_state {
  static inline const char* name = "git_worker";
  explicit git_worker_state(git_actor::pointer) {}
};

/// Carries steps out, one after another, blocking: to be spawned detached.
/// `store` is its own alone. An exception ends the actor.
git_actor::behavior_type
git_worker(git_actor::stateful_pointer<git_worker_state> self,
           std::shared_ptr<object_store> store);

struct git_io_state {
  struct running_step {
    git_actor worker;
    std::function<void(const std::string& why)> fail;
  };

  static inline const char* name = "git_io";
  explicit git_io_state(git_actor::pointer) {}

  worker_crew<git_actor> crew;
  std::deque<git_ask> queue;
  std::map<std::uint64_t, running_step> running; ///< By number of the step.
  std::uint64_t steps = 0;                       ///< Started so far.
};

/// Hands each step to a free worker, first come, first served, with at most
/// `size` workers. A worker that throws or dies fails its one step (a report
/// with `failed`; for a presence, an error) and is replaced. Does not keep the
/// steps of one tenant apart: ask through its `repository`.
git_actor::behavior_type git_io(git_actor::stateful_pointer<git_io_state> self,
                                std::size_t size,
                                worker_crew<git_actor>::factory make_worker);

struct repository_state {
  static inline const char* name = "repository";
  explicit repository_state(git_actor::pointer) {}

  tenant repository;
  git_actor git_io;
  std::deque<git_ask> queue; ///< The front one runs, if `running`.
  bool running = false;
};

/// The only way to one tenant's repository: one step at a time, in the order
/// of arrival. A failed step is answered and the next one goes on.
git_actor::behavior_type
repository(git_actor::stateful_pointer<repository_state> self, tenant which,
           git_actor git_io);

} // namespace purgatory
