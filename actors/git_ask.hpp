#pragma once

#include "messages/actors.hpp"

#include <caf/actor_system.hpp>
#include <caf/sec.hpp>
#include <caf/typed_response_promise.hpp>

#include <functional>
#include <string>
#include <type_traits>
#include <utility>

namespace purgatory {

/// A step on a repository that somebody waits for, whatever its message: how
/// to hand it on, and the promise of its answer.
struct git_ask {
  /// Called when an end is known, before it becomes the answer; `answered` is
  /// false for an error. False: the step was answered already.
  using settle = std::function<bool(bool answered)>;

  tenant repository;
  /// Asks `whom` and answers with what comes back.
  std::function<void(const git_actor& whom, settle)> start;
  /// Answers that the step was not carried out.
  std::function<void(const std::string& why)> fail;
};

/// A report can say that nothing came of it; a presence can't, so that becomes
/// an error.
template <class Answer>
void refuse(caf::typed_response_promise<Answer> promise,
            const tenant& repository, const std::string& why) {
  if constexpr (std::is_same_v<Answer, repository_report>)
    promise.deliver(
      repository_report{repository, {store_result::failed, {}, why}});
  else
    promise.deliver(caf::make_error(caf::sec::runtime_error, why));
}

/// Turns the message that `self` handles into an ask and gives it to
/// `accept(self, git_ask)`.
template <class Answer, class Self, class Request, class Accept>
caf::typed_response_promise<Answer> ask_later(Self self, Request& request,
                                              Accept accept) {
  auto promise = self->template make_response_promise<Answer>();
  const auto repository = request.repository;
  const auto fail = [promise, repository](const std::string& why) {
    refuse(promise, repository, why);
  };
  const auto start = [self, promise, fail, request = std::move(request)](
                       const git_actor& whom, const git_ask::settle& settle) {
    self->request(whom, caf::infinite, request)
      .then(
        [promise, settle](Answer& answer) mutable {
          if (settle(true))
            promise.deliver(std::move(answer));
        },
        [self, fail, settle](caf::error& problem) {
          if (settle(false))
            fail(self->system().render(problem));
        });
  };
  accept(self, git_ask{repository, start, fail});
  return promise;
}

/// The behaviour of an actor that answers no step itself.
template <class Self, class Accept>
git_actor::behavior_type hand_on(Self self, Accept accept) {
  return {
    [=](prepare& step) {
      return ask_later<repository_report>(self, step, accept);
    },
    [=](check_presence& step) {
      return ask_later<presence>(self, step, accept);
    },
    [=](promote& step) {
      return ask_later<repository_report>(self, step, accept);
    },
    [=](copy_from& step) {
      return ask_later<repository_report>(self, step, accept);
    },
    [=](align& step) {
      return ask_later<repository_report>(self, step, accept);
    },
    [=](set_pr_ref& step) {
      return ask_later<repository_report>(self, step, accept);
    },
  };
}

} // namespace purgatory
