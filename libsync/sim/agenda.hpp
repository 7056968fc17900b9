#pragma once

#include "libsync/types.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace purgatory::sim {

/// What is going to happen on the virtual clock, in order of time; what is due
/// at the same time in the order in which it was put in.
template <class Action>
class agenda {
public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }

  /// When the next one is due; `time_point::max()` when there is none.
  [[nodiscard]] time_point next() const {
    return heap_.empty() ? time_point::max() : heap_.front().due;
  }

  void put(time_point due, Action what) {
    heap_.push_back({due, next_++, std::move(what)});
    std::push_heap(heap_.begin(), heap_.end(), is_later);
  }

  /// Takes the next one out; there has to be one.
  Action take() {
    std::pop_heap(heap_.begin(), heap_.end(), is_later);
    auto what = std::move(heap_.back().what);
    heap_.pop_back();
    return what;
  }

  void clear() { heap_.clear(); }

private:
  struct item {
    time_point due;
    std::uint64_t number = 0;
    Action what;
  };

  static bool is_later(const item& a, const item& b) {
    return a.due != b.due ? a.due > b.due : a.number > b.number;
  }

  std::vector<item> heap_;
  std::uint64_t next_ = 0;
};

} // namespace purgatory::sim
