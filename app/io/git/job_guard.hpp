#pragma once

#include "libsync/types.hpp"

#include <atomic>
#include <chrono>
#include <optional>

namespace purgatory::io {

/// The two reasons for which any step of a job stops at once. Whatever blocks
/// looks here at least every `poll_interval`.
struct job_guard {
  /// Keeps the promise that a cancelled job returns within 200 ms.
  static constexpr std::chrono::milliseconds poll_interval{50};

  const std::atomic<bool>& cancel;
  time_point deadline;

  /// internal when cancelled, timeout past the deadline.
  std::optional<fetch_class> broken() const {
    if (cancel.load())
      return fetch_class::internal;
    if (std::chrono::steady_clock::now() >= deadline)
      return fetch_class::timeout;
    return std::nullopt;
  }
};

} // namespace purgatory::io
