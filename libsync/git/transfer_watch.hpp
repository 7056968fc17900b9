#pragma once

#include "libsync/types.hpp"

#include <array>
#include <cstdint>
#include <optional>

/// How long one HTTP request may take, phase by phase (rules §7 deadlines).
namespace purgatory::git {

struct transfer_limits {
  duration dns = std::chrono::seconds{5};
  duration connect = std::chrono::seconds{10};
  duration tls = std::chrono::seconds{10};
  /// From the request to the first byte that counts as progress.
  duration first_byte = std::chrono::seconds{90};
  std::uint64_t min_rate = 1024; ///< Bytes per second after the first byte…
  duration rate_window = std::chrono::seconds{30}; ///< …over any such span.
};

/// How far a request has come. Only ever grows.
enum class transfer_phase : std::uint8_t {
  resolving,
  connecting,
  securing,  ///< TLS handshake.
  waiting,   ///< Sent, or being sent; nothing useful came yet.
  receiving, ///< The first byte that counts has come.
};

/// Judges the progress of one request. Two speeds: a server may think for
/// `first_byte` before a pack begins, but must keep the rate from then on.
class transfer_watch {
public:
  /// The request starts now and must end before `deadline`.
  transfer_watch(const transfer_limits& limits, time_point now,
                 time_point deadline);

  /// Notes where the request stands; `bytes` is the sum received so far.
  void observe(transfer_phase phase, std::uint64_t bytes, time_point now);

  /// Time during which *we* held up the transfer: no fault of the server.
  void excuse(duration span);

  /// The class of the limit that is broken by now, if one is.
  std::optional<fetch_class> verdict(time_point now) const;

private:
  // The window is judged at this many points, so a stall is seen at most a
  // tenth of the window late.
  static constexpr std::size_t samples = 10;

  void sample(time_point now);
  duration limit_of(transfer_phase phase) const;

  transfer_limits limits_;
  time_point deadline_;
  transfer_phase phase_ = transfer_phase::resolving;
  time_point phase_since_;
  std::uint64_t bytes_ = 0;
  bool too_slow_ = false;
  std::array<std::uint64_t, samples> bytes_at_{}; ///< Ring, oldest at `next_`.
  std::size_t next_ = 0;
  std::size_t filled_ = 0;
  time_point next_sample_;
};

} // namespace purgatory::git
