#pragma once

#include "libsync/types.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace purgatory::engine {

/// What the end of a request says about its host. Values are dense.
enum class host_signal : std::uint8_t {
  none,    ///< Nothing: our own failure, or no request was sent.
  good,    ///< It answered, whatever it said.
  limited, ///< It wants fewer requests.
  server,  ///< It failed.
  timeout, ///< It was too slow.
  refused, ///< It could not be reached.
  dns,     ///< Its name could not be found.
  tls,     ///< It could not be trusted.
};

const char* to_string(host_signal value);

/// Something about a host that matters beyond its queue.
enum class host_event : std::uint8_t {
  blocked,   ///< Or blocked for longer.
  recovered, ///< The first success after it failed.
  unblocked, ///< A block is over and nobody is there to try.
  idle,      ///< Neither block nor work for ten minutes; may be forgotten.
};

/// How long a host may be blocked while somebody waits for it (rules §8.4).
struct block_caps {
  duration unreachable = std::chrono::minutes{30}; ///< refused, timeout, server
  duration unknown = std::chrono::hours{2};        ///< dns, tls
};

/// All of a host's health that outlives its queue.
struct health_image {
  host_signal reason = host_signal::none; ///< Of the last block.
  std::uint32_t blocks = 0;        ///< In a row, without success between.
  std::uint64_t failed_probes = 0; ///< Ever.
  time_point blocked_until;
  friend bool operator==(const health_image&, const health_image&) = default;
};

/// The end of one request.
struct host_outcome {
  host_signal signal = host_signal::none;
  std::optional<std::chrono::seconds> retry_after; ///< With `limited`.
  std::string_view who;                            ///< The subject.
  bool probe = false; ///< It was granted as a probe.
  time_point sent;    ///< When it left.
};

/// Who else needs the host, at the end of a request.
struct host_company {
  std::size_t others = 0; ///< Subjects beyond those in `failing` and `who`.
  bool waiting = false;   ///< Somebody waits in the queue.
};

/// When a host is left alone (rules §8.4).
///
/// - Too many requests: for as long as it says, at most 24 h; without a word
///   60 s, doubled up to 1 h if it happens again within 10 minutes.
/// - A failure blocks when three distinct subjects failed in a row without
///   success between, or all there are, if fewer, four times each. Length by
///   signal: 60 s x 2 up to 1 h (server) or 4 h (timeout, refused); 15 min x 4
///   up to 12 h (dns, tls; each counted for itself).
/// - After a block the host is on probation: one probe, whose outcome decides.
///   A success lifts a block at any time, but not that of a host that wants
///   fewer requests.
///
/// Constant time.
class host_health {
public:
  enum class standing : std::uint8_t { open, blocked, probation };

  explicit host_health(block_caps caps = {}) : caps_(caps) {}

  [[nodiscard]] standing stands(time_point now) const;
  /// End of the block, be it over; nothing: no block since the last success.
  [[nodiscard]] std::optional<time_point> blocked_until() const;
  [[nodiscard]] std::uint64_t failed_probes() const { return failed_probes_; }

  /// Subjects that failed like `signal` since the last success; at most three.
  [[nodiscard]] std::vector<std::string_view> failing(host_signal signal) const;

  /// A request ended.
  std::optional<host_event> ended(const host_outcome& outcome,
                                  const host_company& company, time_point now);

  /// Somebody waits from now on: a long block is cut to its cap.
  void awaited();

  [[nodiscard]] health_image image() const;
  void restore(const health_image& image, time_point now);

  /// What is wrong, or nothing.
  [[nodiscard]] std::string check_invariants() const;

private:
  struct failing_subject {
    std::string who;
    std::uint32_t times = 0;
  };
  using streak = std::vector<failing_subject>;

  std::optional<host_event> succeeded(const host_outcome& outcome,
                                      time_point now);
  std::optional<host_event> was_limited(const host_outcome& outcome,
                                        time_point now);
  std::optional<host_event> failed(const host_outcome& outcome,
                                   const host_company& company, time_point now);
  bool add_failure(streak& to, std::string_view who, std::size_t others);
  void block(host_signal reason, time_point now);

  block_caps caps_;
  host_signal reason_ = host_signal::none;
  std::uint32_t blocks_ = 0;
  std::uint64_t failed_probes_ = 0;
  time_point row_since_;     ///< Begin of the first block in the row.
  time_point blocked_since_; ///< Begin of the last block.
  time_point blocked_until_; ///< Meaningful while there are blocks in a row.
  /// Of the last answer that there were too many requests; it outlives success.
  std::optional<time_point> limited_at_;
  time_point limited_until_;
  std::uint32_t limited_row_ = 0;
  std::array<streak, 3> failing_; ///< By kind of failure.
};

} // namespace purgatory::engine
