#pragma once

#include "libsync/types.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace purgatory::engine {

/// Who sleeps, and when to wake him. All that is kept of a sleeper: his name
/// and a time, at most 256 B with a name of up to 64 bytes (T4). Nothing
/// happens per second (T3): the owner sleeps until `next_due`.
///
/// Who has no due time needs no place here: what would wake him finds him in
/// the journal. Logarithmic time; an ordered index, so that chosen names can
/// not make it slow.
class sleepers {
public:
  sleepers() = default;
  sleepers(const sleepers&) = delete; ///< The heap points into the map.
  sleepers& operator=(const sleepers&) = delete;

  [[nodiscard]] std::size_t size() const { return heap_.size(); }
  [[nodiscard]] bool contains(std::string_view name) const;

  /// When he will wake; nothing for who does not sleep.
  [[nodiscard]] std::optional<time_point> due(std::string_view name) const;

  /// Earliest due time; nothing when nobody sleeps.
  [[nodiscard]] std::optional<time_point> next_due() const;

  /// Replaces what was armed under `name`, be it earlier or later.
  void arm(std::string_view name, time_point due);

  /// As `arm`, but never later than what was armed.
  void pull_to(std::string_view name, time_point due);

  /// True if he slept.
  bool remove(std::string_view name);

  /// Takes out who is due at `now`, earliest first, equal times in order of
  /// name; at most `limit` of them.
  [[nodiscard]] std::vector<std::string>
  take_due(time_point now, std::size_t limit = ~std::size_t{0});

  /// For tests: what is kept twice agrees. Empty: all is well.
  [[nodiscard]] std::string check_invariants() const;

private:
  struct bed {
    time_point due;
    std::uint32_t place = 0; ///< In the heap.
  };
  using beds = std::map<std::string, bed, std::less<>>;

  static bool is_before(beds::iterator a, beds::iterator b);
  void put(std::size_t place, beds::iterator who);
  void sift(std::size_t place);
  void take_out(beds::iterator who);

  beds beds_;
  std::vector<beds::iterator> heap_; ///< Earliest first, a binary heap.
};

} // namespace purgatory::engine
