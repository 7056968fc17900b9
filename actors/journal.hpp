#pragma once

#include "libsync/live_clock.hpp"
#include "libsync/ports.hpp"
#include "messages/actors.hpp"

#include <caf/response_promise.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <memory>
#include <string>
#include <vector>

namespace purgatory {

/// The open batch and who waits for it to be durable.
struct journal_state {
  using pointer = journal_actor::stateful_pointer<journal_state>;
  static inline const char* name = "journal";

  explicit journal_state(pointer owner) : self(owner) {}

  /// Sends `answer` as soon as everything applied is durable.
  template <class Answer>
  caf::result<Answer> when_durable(Answer answer);

  /// Runs `step` on the store; if that throws, fail().
  template <class Step>
  auto guarded(Step step) -> decltype(step());

  /// Tells the store how long the daemon has run by now.
  void stamp();

  /// Commits the open batch, if any, and answers all who wait for it.
  void commit();

  /// The store can't write: everybody hears it, and the journal ends. What it
  /// has not confirmed may be lost, so the process must end too.
  caf::error fail(const std::string& why);

  /// An answer that is held back until the batch is committed.
  struct held_answer {
    caf::response_promise to;
    caf::message content;
  };

  pointer self;
  std::shared_ptr<event_store> store;
  live_clock live;
  std::vector<held_answer> waiting;
  bool batch_open = false;
  bool closed = false;
};

/// The only writer of the store. Group commit without a timer: the first
/// batch after a commit asks for the next one behind everything that is
/// already in the mailbox, so what arrives during an fsync shares the next.
///
/// Reads see what was applied, and are answered no earlier than it is durable:
/// otherwise a second copy of an event could be acknowledged as known before
/// the first one is safe (rules §2.1).
///
/// Each commit carries the live time by then, so that the times in it are not
/// ahead of the clock that the next run starts with (rules §7).
///
/// Ends with an error when the store throws.
journal_actor::behavior_type journal(journal_state::pointer self,
                                     std::shared_ptr<event_store> store,
                                     live_clock live);

} // namespace purgatory
