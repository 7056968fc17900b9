#pragma once

#include "libsync/types.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace purgatory::engine {

/// How a host stands, for as long as its throttle may be gone (rules §8.4).
struct host_standing {
  fetch_class reason = fetch_class::ok; ///< Why it is or was blocked.
  std::uint32_t blocks = 0;             ///< In a row.
  std::uint64_t failed_probes = 0;      ///< Ever.
  live_seconds blocked_until = 0;       ///< In the past: no block.
  std::uint32_t learned_per_minute = 0; ///< Adaptive rate; 0: the ceiling.
  friend bool operator==(const host_standing&, const host_standing&) = default;
};

/// True when there is nothing to remember.
bool is_plain(const host_standing& standing);

/// What is remembered of hosts, and whose block ends next. Bounded against
/// invented names: beyond `capacity` the host that was heard of longest ago
/// leaves, one without a block first (rules §8.3). Logarithmic time.
class host_table {
public:
  explicit host_table(std::size_t capacity = 100'000) : capacity_(capacity) {}
  host_table(host_table&&) = default; ///< A copy would point into the original.
  host_table& operator=(host_table&&) = default;

  [[nodiscard]] std::size_t size() const { return rows_.size(); }

  /// Nothing for a host of which nothing is remembered.
  [[nodiscard]] std::optional<host_standing> find(const host_key& host) const;

  /// Replaces what was known. Returns the host that had to leave, if any. A
  /// plain standing is not kept.
  std::optional<host_key> remember(const host_key& host,
                                   const host_standing& standing,
                                   live_seconds now);

  /// Earliest end of a block; nothing when no host is blocked.
  [[nodiscard]] std::optional<live_seconds> next_end() const;

  /// Hosts whose block is over at `now`, earliest first, at most `limit`. Each
  /// end is told once.
  [[nodiscard]] std::vector<host_key> take_ended(live_seconds now,
                                                 std::size_t limit);

  /// For tests: what is kept twice agrees. Empty: all is well.
  [[nodiscard]] std::string check_invariants() const;

private:
  struct row {
    host_standing standing;
    std::uint64_t touched = 0; ///< Unique, grows with each news.
    bool blocked = false;      ///< And its end was not told yet.
  };
  using rows = std::map<host_key, row>;

  void index(const host_key& host, const row& r);
  void unindex(const row& r);
  void forget(rows::iterator who);
  std::optional<host_key> make_room();

  std::size_t capacity_;
  std::uint64_t clock_ = 0;
  rows rows_;
  /// Who leaves first: without block, then by age.
  std::map<std::pair<bool, std::uint64_t>, const host_key*> leaving_;
  std::map<std::pair<live_seconds, std::uint64_t>, const host_key*> ends_;
};

} // namespace purgatory::engine
