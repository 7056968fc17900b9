#pragma once

#include "libsync/engine/rate_policy.hpp"

#include <optional>

namespace purgatory::engine {

/// A start that was answered with "too many requests".
struct limited_start {
  time_point sent;        ///< When it left.
  std::size_t recent = 0; ///< Starts in the minute before it.
  time_point resume;      ///< The host is left alone until then.
};

/// Finds the rate that a host bears, under a ceiling (rules §8.2).
///
/// Until the host complains nothing is slowed down. From then on the starts
/// are spread evenly, at a rate that is
/// - set to 0.95 x the failing rate or less when a start is limited,
/// - held for 15 minutes, longer until 40 starts were served, so that looking
///   for more costs few refusals,
/// - raised while starts are served: slowly at first, then by 5 % a minute,
/// - at least 1 a minute.
/// A day without complaint, and the host counts as one that never complained.
/// Why it is done like this, with figures: docs/decisions/0008. Constant time.
class adaptive_rate final : public rate_policy {
public:
  /// `ceiling` in starts per minute, from 1; 0: none. A minute is counted as
  /// `minute`, which may hold some reserve for jitter.
  adaptive_rate(std::uint32_t ceiling, duration minute);

  time_point not_before(time_point now) override;
  void reserve() override { ++unsent_; }
  void confirm(time_point at) override;
  void refund() override { --unsent_; }
  [[nodiscard]] std::size_t unsent() const override { return unsent_; }
  void set_ceiling(std::uint32_t starts) override;

  /// A start was answered well.
  void served(time_point now);

  /// A start was limited.
  void limited(const limited_start& start, time_point now);

  /// Starts per minute that are held now; nothing: the ceiling.
  [[nodiscard]] std::optional<double> learned() const;

  /// Takes over what was learned before; 0: nothing.
  void restore(std::uint32_t per_minute, time_point now);

private:
  /// What the rate is based on.
  enum class phase : std::uint8_t {
    free,   ///< No complaint: the ceiling alone.
    search, ///< The first complaint, after a burst: little is known.
    held,   ///< Constant since the last complaint.
    rising, ///< It was borne for long enough: a little more.
  };

  [[nodiscard]] duration interval() const;
  [[nodiscard]] std::size_t burst() const;
  [[nodiscard]] double failing_rate(std::size_t recent) const;
  [[nodiscard]] double lower_bound(double failing, time_point now) const;
  void set_rate(double per_minute);

  double ceiling_;
  duration minute_;
  phase phase_ = phase::free;
  double rate_ = 0;      ///< Starts per minute; meaningful unless free.
  double sustained_ = 0; ///< The last rate that was borne while held; 0: none.
  time_point failed_at_ = time_point::min(); ///< When the last complaint came.
  time_point rising_since_ = time_point::min();
  std::size_t served_ = 0;     ///< Since the last complaint.
  std::uint32_t in_a_row_ = 0; ///< Complaints about a rate that was held.
  /// Time since the last complaint in which nobody asked for a turn, and the
  /// part of the block that is longer than a minute.
  duration unused_{};
  time_point resume_ = time_point::min();

  std::size_t unsent_ = 0;
  /// When the tokens will all be back (as in token_bucket).
  time_point full_at_ = time_point::min();
};

} // namespace purgatory::engine
