#pragma once

#include "libsync/types.hpp"

#include <optional>

namespace purgatory::engine {

/// A due time that is only ever pulled nearer: a later delay never pushes it
/// back, so a steady stream of events can not postpone the work (rules §7).
class debounce {
public:
  [[nodiscard]] std::optional<time_point> due() const { return due_; }

  /// True if something is due at `now`.
  [[nodiscard]] bool elapsed(time_point now) const {
    return due_ && *due_ <= now;
  }

  /// Asks for `due` at the latest. True if that pulled the due time nearer,
  /// so that a timer has to be armed anew.
  bool pull_to(time_point due);

  /// Nothing is due any more.
  void clear() { due_.reset(); }

private:
  std::optional<time_point> due_;
};

} // namespace purgatory::engine
