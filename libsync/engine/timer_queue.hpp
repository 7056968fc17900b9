#pragma once

#include "libsync/types.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace purgatory::engine {

/// Who is armed; chosen by the caller.
using timer_key = std::uint64_t;

/// A time that has come.
struct expired_timer {
  timer_key key = 0;
  std::uint64_t generation = 0;
  friend bool operator==(const expired_timer&, const expired_timer&) = default;
};

/// All long waits, at most one for each key. Nothing is done per tick: the
/// owner sleeps until `next_due`. Logarithmic time.
class timer_queue {
public:
  [[nodiscard]] std::size_t size() const { return armed_.size(); }

  /// Earliest due time; nothing when nobody waits.
  [[nodiscard]] std::optional<time_point> next_due() const;

  /// Replaces what was armed under `key`, be it earlier or later.
  void arm(timer_key key, time_point due, std::uint64_t generation);

  /// True if something was armed under `key`.
  bool disarm(timer_key key);

  /// Takes out everything due at `now`, in order of due time, then key.
  [[nodiscard]] std::vector<expired_timer> take_due(time_point now);

private:
  struct wait {
    time_point due;
    std::uint64_t generation = 0;
  };

  std::set<std::pair<time_point, timer_key>> order_;
  std::unordered_map<timer_key, wait> armed_;
};

} // namespace purgatory::engine
