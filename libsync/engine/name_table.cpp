#include "libsync/engine/name_table.hpp"

#include <functional>
#include <utility>

namespace purgatory::engine {

name_table::number name_table::number_of(std::string_view name) {
  // At most three quarters full, so that probes stay short.
  if ((size_ + 1) * 4 > slots_.size() * 3)
    grow();
  const auto hash = hash_of(name);
  auto& found = slots_[slot_of(name, hash)];
  if (found.number_plus_one != 0)
    return found.number_plus_one - 1;
  number n = 0;
  if (free_.empty()) {
    n = static_cast<number>(names_.size());
    names_.emplace_back(name);
    hashes_.push_back(hash);
  } else {
    n = free_.back();
    free_.pop_back();
    names_[n].assign(name);
    hashes_[n] = hash;
  }
  found = {hash, n + 1};
  ++size_;
  return n;
}

std::optional<name_table::number>
name_table::find(std::string_view name) const {
  const auto& found = slots_[slot_of(name, hash_of(name))];
  if (found.number_plus_one == 0)
    return std::nullopt;
  return found.number_plus_one - 1;
}

void name_table::release(number n) {
  auto hole = home(hashes_[n]);
  while (slots_[hole].number_plus_one != n + 1)
    hole = next(hole);
  free_.push_back(n);
  --size_;
  // Moves back whoever could no longer be found behind a free slot.
  const auto distance = [this](std::size_t from, std::size_t to) {
    return (to - from) & (slots_.size() - 1);
  };
  for (auto at = next(hole); slots_[at].number_plus_one != 0; at = next(at))
    if (distance(home(slots_[at].hash), at) >= distance(hole, at))
      slots_[std::exchange(hole, at)] = slots_[at];
  slots_[hole] = {};
}

std::uint32_t name_table::hash_of(std::string_view name) {
  const auto hash = std::hash<std::string_view>{}(name);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32U));
}

/// Where `name` is, or the free slot where it belongs.
std::size_t name_table::slot_of(std::string_view name,
                                std::uint32_t hash) const {
  auto at = home(hash);
  while (slots_[at].number_plus_one != 0
         && (slots_[at].hash != hash
             || names_[slots_[at].number_plus_one - 1] != name))
    at = next(at);
  return at;
}

void name_table::grow() {
  const auto old = std::exchange(slots_, std::vector<slot>(slots_.size() * 2));
  for (const auto& each : old) {
    if (each.number_plus_one == 0)
      continue;
    auto at = home(each.hash);
    while (slots_[at].number_plus_one != 0)
      at = next(at);
    slots_[at] = each;
  }
}

} // namespace purgatory::engine
