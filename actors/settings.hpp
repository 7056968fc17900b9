#pragma once

#include "libsync/config.hpp"
#include "messages/actors.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace purgatory {

/// What holds now: the configuration, and hosts with ceilings of their own.
struct settings_state {
  using pointer = settings_actor::stateful_pointer<settings_state>;
  static inline const char* name = "settings";

  struct ceilings {
    std::optional<std::uint32_t> concurrent;
    std::optional<std::uint32_t> per_minute;
    std::optional<std::uint32_t> per_hour; ///< 0: no limit.
    std::optional<std::uint32_t> per_day;  ///< 0: no limit.
  };

  explicit settings_state(pointer owner) : self(owner) {}

  /// What is wrong with `wanted`, or nothing.
  static std::optional<std::string> problem_of(const set_limits& wanted);

  /// Takes over what the throttles were told; says what changed.
  std::string take_over(const set_limits& accepted);

  pointer self;
  config current;
  std::map<host_key, ceilings> hosts;
  supervisor_actor supervisor;
};

/// The validated configuration. A change is checked, goes to the supervisor,
/// which tells the throttles, and is answered when they have been told: what
/// changed from what to what. A host's own ceilings outlive a change for all.
settings_actor::behavior_type settings(settings_state::pointer self,
                                       config initial,
                                       supervisor_actor supervisor);

} // namespace purgatory
