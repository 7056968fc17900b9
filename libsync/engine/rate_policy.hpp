#pragma once

#include "libsync/types.hpp"

#include <cstdint>

namespace purgatory::engine {

/// When may the next request start? All that a throttle asks of a rate.
///
/// A start is booked in two steps, because the moment of the first send is
/// known only after the permission was given. What was reserved and not sent
/// yet always counts: otherwise slow workers could store up a burst.
class rate_policy {
public:
  /// Answer of `not_before` when no passing of time helps, only the end of a
  /// reservation.
  static constexpr time_point never = time_point::max();

  rate_policy() = default;
  rate_policy(const rate_policy&) = delete;
  rate_policy& operator=(const rate_policy&) = delete;
  virtual ~rate_policy() = default;

  /// Earliest moment of one more `reserve`; <= now means at once.
  virtual time_point not_before(time_point now) = 0;

  /// Books a start that is about to happen.
  virtual void reserve() = 0;

  /// One reserved start happened at `at`. Moments may come out of order.
  virtual void confirm(time_point at) = 0;

  /// One reserved start will not happen.
  virtual void refund() = 0;

  /// Reserved, neither confirmed nor refunded.
  [[nodiscard]] virtual std::size_t unsent() const = 0;

  /// New ceiling, in starts per window or minute, from 1. Past starts stay
  /// counted.
  virtual void set_ceiling(std::uint32_t starts) = 0;

  /// Notes a request that started without a reservation.
  void record(time_point at) {
    reserve();
    confirm(at);
  }
};

} // namespace purgatory::engine
