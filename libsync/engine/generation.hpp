#pragma once

#include <cstdint>

namespace purgatory::engine {

/// Tells the tick that counts from stale ones. A sent timer can not be called
/// back; arming anew makes every older one stale instead.
class generation {
public:
  /// The number for the timer that is armed now.
  [[nodiscard]] std::uint64_t arm() {
    armed_ = true;
    return ++last_;
  }

  /// No timer counts until the next `arm`.
  void disarm() { armed_ = false; }

  [[nodiscard]] bool is_current(std::uint64_t number) const {
    return armed_ && number == last_;
  }

private:
  std::uint64_t last_ = 0;
  bool armed_ = false;
};

} // namespace purgatory::engine
