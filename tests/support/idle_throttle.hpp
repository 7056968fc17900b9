#pragma once

#include "messages/actors.hpp"

#include <functional>

namespace purgatory::test {

/// A throttle that grants nothing: for tests of those who only route to it or
/// ask how it stands.
inline throttle_actor::behavior_type
idle_throttle(throttle_report stands,
              std::function<void(const set_limits&)> on_limits) {
  return {
    [](const enqueue&, const grant_sink&) { return enqueue_answer{}; },
    [](const grant_answer&) {},
    [](const leave_queue& m) { return queue_left{m.who}; },
    [](const fetch_started&) {},
    [](const request_complete&) {},
    [](const backoff_tick&) {},
    [](const throttle_seed&) {},
    [on_limits = std::move(on_limits)](const set_limits& m) { on_limits(m); },
    [stands](const describe&) { return stands; },
  };
}

} // namespace purgatory::test
