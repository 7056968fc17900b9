#pragma once

#include <caf/actor_cast.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

// Defines macros with common names: stays last.
#include <caf/test/dsl.hpp>

namespace purgatory::test {

/// The state of a fake that needs none.
struct stateless {
  template <class Self>
  explicit stateless(Self) {}
};

/// Actors on one thread and on a clock that stands still until `advance`.
/// Spawn everything with `track(sys.spawn(…))`: an actor that is never told
/// to go keeps the actor system waiting for ever. Never call the inherited
/// run(): it fires all timers, whenever they are due.
struct deterministic : test_coordinator_fixture<> {
  using clock_time = caf::actor_clock::time_point;

  template <class Handle>
  Handle track(Handle spawned) {
    roots_.push_back(caf::actor_cast<caf::actor>(spawned));
    return spawned;
  }

  clock_time now() { return sched.clock().now(); }

  /// Lets the actors talk until nobody has anything left to say.
  void settle() { consume_messages(); }

  /// Lets `d` pass. Each timer fires at its own due time, in order; who is
  /// armed meanwhile fires too.
  void advance(caf::timespan d) {
    const auto end = now() + d;
    settle();
    while (timer_due_by(end)) {
      sched.clock().trigger_timeout();
      settle();
    }
    sched.clock().current_time = std::max(now(), end);
  }

  std::size_t pending_timers() { return sched.clock().schedule().size(); }

  /// Kills one actor, as an escaped exception would, and lets others notice.
  template <class Handle>
  void kill(const Handle& victim) {
    caf::anon_send_exit(victim, caf::exit_reason::kill);
    settle();
  }

  /// False once an actor has ended, however it did.
  template <class Handle>
  static bool is_alive(const Handle& whom) {
    const auto* part = caf::actor_cast<caf::abstract_actor*>(whom);
    return !part->getf(caf::abstract_actor::is_terminated_flag);
  }

  /// Asks and waits for the answer of type `T`; no time passes.
  template <class T, class Handle, class... Words>
  T ask(const Handle& whom, Words... words) {
    auto pending = self->request(whom, caf::infinite, std::move(words)...);
    settle();
    if (self->mailbox().empty())
      CAF_FAIL("no answer");
    std::optional<T> answer;
    pending.receive([&answer](T& x) { answer = std::move(x); },
                    [this](caf::error& problem) {
                      CAF_FAIL("refused: " << sys.render(problem));
                    });
    return std::move(*answer);
  }

  /// The state of a stateful actor, to look into a fake.
  template <class State, class Handle>
  State& state_of(const Handle& whom) {
    using shell = caf::stateful_actor<State, typename Handle::base>;
    return dynamic_cast<shell&>(*caf::actor_cast<caf::abstract_actor*>(whom))
      .state;
  }

  ~deterministic() override {
    tell_all(caf::exit_reason::user_shutdown);
    tell_all(caf::exit_reason::kill);
    roots_.clear();
    // Pending messages hold their receivers.
    sched.clock().cancel_all();
  }

protected:
  bool timer_due_by(clock_time end) {
    const auto& timers = sched.clock().schedule();
    return !timers.empty() && timers.begin()->first <= end;
  }

private:
  void tell_all(caf::exit_reason why) {
    for (const auto& root : roots_)
      caf::anon_send_exit(root, why);
    settle();
  }

  std::vector<caf::actor> roots_;
};

/// The same, but which actor handles its next message is drawn from a seeded
/// generator, so every seed is another interleaving. Order between one sender
/// and one receiver stays, as in real life. Fakes draw from `rng` only.
struct random_schedule : deterministic {
  std::mt19937_64 rng;

  explicit random_schedule(std::uint64_t seed) : rng(seed) {}

  bool consume_message() override {
    auto& jobs = sched.jobs;
    if (jobs.size() > 1) {
      const auto chosen
        = jobs.begin() + static_cast<std::ptrdiff_t>(rng() % jobs.size());
      std::rotate(jobs.begin(), chosen, chosen + 1);
    }
    return sched.try_run_once();
  }

  /// Runs for `d`; time may pass while messages wait, as with slow receivers.
  /// `disturb()` is called at random moments, `check()` after each step.
  template <class Disturb, class Check>
  void explore(caf::timespan d, Disturb disturb, Check check) {
    const auto end = now() + d;
    while (!sched.jobs.empty() || timer_due_by(end)) {
      if (rng() % 16 == 0)
        disturb();
      const bool tick
        = timer_due_by(end) && (sched.jobs.empty() || rng() % 8 == 0);
      if (tick)
        sched.clock().trigger_timeout();
      else
        consume_message();
      check();
    }
    sched.clock().current_time = std::max(now(), end);
  }
};

} // namespace purgatory::test
