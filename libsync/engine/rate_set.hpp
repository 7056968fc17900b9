#pragma once

#include "libsync/engine/rate_policy.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace purgatory::engine {

/// Several rate policies that all have to agree: minute, hour and day windows,
/// a pace. Each start is booked in all of them.
class rate_set final : public rate_policy {
public:
  /// One at least; they outlive the set.
  using members = std::vector<std::reference_wrapper<rate_policy>>;

  explicit rate_set(members all) : all_(std::move(all)) {}

  time_point not_before(time_point now) override {
    auto latest = now;
    for (auto& each : all_)
      latest = std::max(latest, each.get().not_before(now));
    return latest;
  }
  void reserve() override {
    for (auto& each : all_)
      each.get().reserve();
  }
  void confirm(time_point at) override {
    for (auto& each : all_)
      each.get().confirm(at);
  }
  void refund() override {
    for (auto& each : all_)
      each.get().refund();
  }
  [[nodiscard]] std::size_t unsent() const override {
    return all_.front().get().unsent();
  }
  /// Of the first; the others are set by their owner.
  void set_ceiling(std::uint32_t starts) override {
    all_.front().get().set_ceiling(starts);
  }

private:
  members all_;
};

} // namespace purgatory::engine
