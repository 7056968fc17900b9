#pragma once

#include "libsync/engine/rate_policy.hpp"

#include <deque>

namespace purgatory::engine {

/// At most `ceiling` starts in every span of `span`, wherever it is laid
/// (rules §8.2). A start counts until exactly `span` after it happened.
/// Constant time, but for starts confirmed out of order: those cost a step
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

private:
  std::size_t ceiling_;
  duration span_;
  std::size_t unsent_ = 0;
  std::deque<time_point> starts_; ///< In order of time.
};

} // namespace purgatory::engine
