#pragma once

#include "libsync/engine/rate_policy.hpp"

#include <cstdint>
#include <deque>

namespace purgatory::engine {

/// At most `ceiling` starts in every span of `span`, wherever it is laid
/// (rules §8.2). A start counts until exactly `span` after it happened.
///
/// A ceiling of 0 switches the window off. It still notes what starts, in few
/// coarse steps that err on the late side, so that the limit holds from the
/// moment when it is switched on.
///
/// Logarithmic time, but for starts confirmed out of order: those cost a step
/// for each later start that is already known.
class sliding_window final : public rate_policy {
public:
  sliding_window(std::uint32_t ceiling, duration span)
    : ceiling_(ceiling), span_(span) {}

  time_point not_before(time_point now) override;
  void reserve() override { ++unsent_; }
  void confirm(time_point at) override;
  void refund() override { --unsent_; }
  [[nodiscard]] std::size_t unsent() const override { return unsent_; }
  void set_ceiling(std::uint32_t starts) override { ceiling_ = starts; }

  /// Starts that happened and counted at the last `not_before`, and since.
  [[nodiscard]] std::size_t sent() const;

  /// When the last start will have left a window that is switched on; the
  /// distant past if none counts.
  [[nodiscard]] time_point empty_at() const;

private:
  /// Starts at one moment.
  struct run {
    time_point at;
    std::uint64_t upto = 0; ///< Starts until then, ever: counts by difference.
  };

  std::size_t ceiling_;
  duration span_;
  std::size_t unsent_ = 0;
  std::uint64_t left_ = 0; ///< Starts that no longer count, ever.
  std::deque<run> runs_;   ///< In order of time.
};

} // namespace purgatory::engine
