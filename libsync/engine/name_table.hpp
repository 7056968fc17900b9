#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace purgatory::engine {

/// Small dense numbers for names, so that everything else is an array. A
/// released number is given to the next new name. Memory follows the largest
/// number of names there ever was.
///
/// Open addressing instead of std::unordered_map, because with 100,000 waiters
/// the cost of a step is the number of cold cache lines: one probe and one
/// name here, against bucket, neighbour, node and name there.
class name_table {
public:
  using number = std::uint32_t;

  /// Names that have a number.
  [[nodiscard]] std::size_t size() const { return size_; }

  /// The number of `name`, which gets one if it has none.
  number number_of(std::string_view name);

  [[nodiscard]] std::optional<number> find(std::string_view name) const;

  /// `n` is in use.
  [[nodiscard]] const std::string& name(number n) const { return names_[n]; }

  /// `n` is in use, and may mean another name from now on.
  void release(number n);

private:
  struct slot {
    std::uint32_t hash = 0;
    std::uint32_t number_plus_one = 0; ///< 0: free.
  };

  static std::uint32_t hash_of(std::string_view name);
  [[nodiscard]] std::size_t next(std::size_t at) const {
    return (at + 1) & (slots_.size() - 1);
  }
  [[nodiscard]] std::size_t home(std::uint32_t hash) const {
    return hash & (slots_.size() - 1);
  }
  [[nodiscard]] std::size_t slot_of(std::string_view name,
                                    std::uint32_t hash) const;
  void grow();

  std::size_t size_ = 0;
  std::vector<slot> slots_ = std::vector<slot>(16); ///< A power of two.
  std::vector<std::string> names_;
  std::vector<std::uint32_t> hashes_;
  std::vector<number> free_;
};

} // namespace purgatory::engine
