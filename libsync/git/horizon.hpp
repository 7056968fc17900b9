#pragma once

#include "libsync/git/url_memory.hpp"
#include "libsync/journal.hpp"
#include "libsync/types.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace purgatory::git {

/// How long a hunt lasts (rules §7); the defaults of rules §11.1.
struct horizon_rules {
  duration window = std::chrono::minutes(30);
  std::uint32_t window_rounds = 3;
  duration initial_window = std::chrono::hours(4); ///< In an initial sync.
  std::uint32_t initial_window_rounds = 5;
  duration initial_first_round = std::chrono::minutes(30);
  bool retry_enabled = true;
  std::uint32_t max_attempts = 5; ///< From 1.
  double multiplier = 2;          ///< From 1.
  std::vector<duration> schedule
    = {std::chrono::hours(1), std::chrono::hours(4), std::chrono::hours(12),
       std::chrono::hours(24)};
  duration horizon = std::chrono::hours(7 * 24);
  double jitter = 0.1;

  friend bool operator==(const horizon_rules&, const horizon_rules&) = default;
};

/// The life of one entry: hunted in its window, then parked and tried again
/// for days, then given up. All times are live: downtime does not count.
///
/// What was fixed at arrival stays: an entry of an initial sync keeps its long
/// window and twice the attempts.
class horizon {
public:
  horizon() = default;
  horizon(time_point arrived, std::uint32_t unit_rounds, duration window);

  // -- observers --------------------------------------------------------------

  [[nodiscard]] time_point arrived() const { return arrived_; }
  [[nodiscard]] bool is_parked() const { return parked_at_.has_value(); }
  [[nodiscard]] std::optional<time_point> parked_at() const {
    return parked_at_;
  }
  [[nodiscard]] std::uint32_t parked_rounds() const { return parked_round_; }

  /// End of the window by time alone.
  [[nodiscard]] time_point window_end() const { return arrived_ + window_; }

  /// True when the time has passed and enough full rounds of the unit ended
  /// since arrival; without any eligible URL time alone counts.
  [[nodiscard]] bool window_is_over(std::uint32_t unit_rounds, bool has_urls,
                                    time_point now,
                                    const horizon_rules& rules) const;

  /// When the next parked round is due. `share` in [0, 1) moves its distance
  /// by up to ± `jitter`; the same share gives the same time.
  [[nodiscard]] time_point next_round(const horizon_rules& rules,
                                      double share) const;

  /// Full rounds and outcomes of each URL that a verdict needs.
  [[nodiscard]] std::uint32_t needed_attempts(const horizon_rules& rules) const;

  /// Earliest moment of a verdict.
  [[nodiscard]] time_point verdict_after(const horizon_rules& rules) const;

  /// True when a parked entry is to be given up. `outcomes` are the real ones
  /// since parking of the URL that has the fewest; nothing: no eligible URL.
  [[nodiscard]] bool is_over(std::optional<std::size_t> outcomes,
                             time_point now, const horizon_rules& rules) const;

  // -- modifiers --------------------------------------------------------------

  void park(time_point now);
  void round_consumed() { ++parked_round_; }

  /// The clock runs for at least `rest` more (rules §2.2, §2.3).
  void extend(time_point now, duration rest);

  /// The rounds of the unit are counted anew, by `shift` more.
  void rebase(std::uint32_t shift) { rounds_at_arrival_ += shift; }

  [[nodiscard]] entry_horizon image(live_clock at) const;
  static horizon from(const entry_horizon& image, live_clock at);

private:
  [[nodiscard]] bool is_initial(const horizon_rules& rules) const;

  time_point arrived_;
  std::uint32_t rounds_at_arrival_ = 0;
  duration window_ = duration::zero();
  std::optional<time_point> parked_at_;
  std::uint32_t parked_round_ = 0;
};

/// The distance of parked round `number`, counted from 0, from parking: the
/// schedule, then the previous one times the multiplier but at most a day
/// more, up to the horizon; beyond it one a day.
duration parked_offset(std::uint32_t number, bool initial,
                       const horizon_rules& rules);

} // namespace purgatory::git
