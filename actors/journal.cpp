#include "actors/journal.hpp"

#include "actors/harden.hpp"
#include "actors/log.hpp"

#include <caf/actor_system.hpp>
#include <caf/sec.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace purgatory {

template <class Answer>
caf::result<Answer> journal_state::when_durable(Answer answer) {
  if (!batch_open)
    return answer;
  auto promise = self->make_response_promise<Answer>();
  waiting.push_back({promise, caf::make_message(std::move(answer))});
  return promise;
}

template <class Step>
auto journal_state::guarded(Step step) -> decltype(step()) {
  try {
    return step();
  } catch (const std::exception& problem) {
    auto reason = fail(problem.what());
    if constexpr (!std::is_void_v<decltype(step())>)
      return reason;
  }
}

void journal_state::stamp() {
  store->stamp(live.at(self->clock().now()));
}

void journal_state::commit() {
  if (!batch_open)
    return;
  stamp();
  store->commit();
  batch_open = false;
  for (auto& answer : std::exchange(waiting, {}))
    answer.to.deliver(std::move(answer.content));
}

caf::error journal_state::fail(const std::string& why) {
  log::error("Journal failed", {{"error", why}});
  auto reason = caf::make_error(caf::sec::runtime_error, why);
  for (auto& answer : std::exchange(waiting, {}))
    answer.to.deliver(reason);
  self->quit(reason);
  return reason;
}

journal_actor::behavior_type journal(journal_state::pointer self,
                                     std::shared_ptr<event_store> store,
                                     live_clock live) {
  harden(self);
  auto& state = self->state;
  state.store = std::move(store);
  state.live = live;
  return {
    [&state](const record_batch& batch) {
      return state.guarded([&]() -> caf::result<recorded> {
        if (state.closed)
          return caf::make_error(caf::sec::runtime_error, "journal is closed");
        state.store->apply(batch.records);
        if (!std::exchange(state.batch_open, true))
          state.self->send(state.self, commit_batch{});
        return state.when_durable(recorded{});
      });
    },
    [&state](const load_identifier& wanted) {
      return state.guarded([&]() -> caf::result<identifier_image> {
        return state.when_durable(state.store->load(wanted.repo));
      });
    },
    [&state](list_pending) {
      return state.guarded([&]() -> caf::result<pending_identifiers> {
        return state.when_durable(pending_identifiers{state.store->pending()});
      });
    },
    [&state](list_hosts) {
      return state.guarded([&]() -> caf::result<known_hosts> {
        return state.when_durable(known_hosts{state.store->hosts()});
      });
    },
    [&state](const find_interested& wanted) {
      return state.guarded([&]() -> caf::result<interested> {
        return state.when_durable(interested{
          state.store->interested_in(wanted.host, wanted.after, wanted.limit)});
      });
    },
    [&state](const find_event& wanted) {
      return state.guarded([&]() -> caf::result<found_event> {
        return state.when_durable(found_event{state.store->find(wanted.id)});
      });
    },
    [&state](commit_batch) { state.guarded([&] { state.commit(); }); },
    [&state](const close_journal& stop) {
      return state.guarded([&]() -> caf::result<journal_closed> {
        state.commit();
        state.stamp();
        state.store->close_clean(stop.now);
        state.closed = true;
        return journal_closed{};
      });
    },
  };
}

} // namespace purgatory
