#pragma once

#include "libsync/engine/rate_policy.hpp"

namespace purgatory::engine {

/// A bucket of `burst` tokens, refilled one by one at `per_minute`. Each start
/// takes a token at the moment when it happens; a reserved one is set aside
/// until then and is not refilled meanwhile.
class token_bucket final : public rate_policy {
public:
  /// Both from 1.
  token_bucket(std::uint32_t per_minute, std::uint32_t burst);

  time_point not_before(time_point now) override;
  void reserve() override { ++unsent_; }
  void confirm(time_point at) override;
  void refund() override { --unsent_; }
  [[nodiscard]] std::size_t unsent() const override { return unsent_; }
  void set_ceiling(std::uint32_t starts) override;

private:
  duration interval_;
  std::size_t burst_;
  std::size_t unsent_ = 0;
  /// When the bucket will be full again; everything else follows from it.
  time_point full_at_ = time_point::min();
};

} // namespace purgatory::engine
