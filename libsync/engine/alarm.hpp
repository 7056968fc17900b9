#pragma once

#include "libsync/engine/generation.hpp"
#include "libsync/types.hpp"

#include <optional>

namespace purgatory::engine {

/// One wait of somebody who can send himself timers but cannot call them back.
/// A pending timer that comes early enough is left alone: whoever it wakes
/// finds the right time anew.
class alarm {
public:
  /// The number for a timer to be sent for `due`; nothing if none is due or a
  /// pending one comes no later.
  [[nodiscard]] std::optional<std::uint64_t>
  arm(const std::optional<time_point>& due) {
    if (!due || (armed_for_ && *armed_for_ <= *due))
      return std::nullopt;
    armed_for_ = due;
    return timer_.arm();
  }

  /// True for the timer that counts, once; afterwards none is pending.
  [[nodiscard]] bool rings(std::uint64_t number) {
    if (!timer_.is_current(number))
      return false;
    timer_.disarm();
    armed_for_.reset();
    return true;
  }

private:
  generation timer_;
  std::optional<time_point> armed_for_;
};

} // namespace purgatory::engine
