#include "libsync/engine/timer_queue.hpp"

namespace purgatory::engine {

std::optional<time_point> timer_queue::next_due() const {
  if (order_.empty())
    return std::nullopt;
  return order_.begin()->first;
}

void timer_queue::arm(timer_key key, time_point due, std::uint64_t generation) {
  disarm(key);
  order_.emplace(due, key);
  armed_.emplace(key, wait{due, generation});
}

bool timer_queue::disarm(timer_key key) {
  const auto found = armed_.find(key);
  if (found == armed_.end())
    return false;
  order_.erase({found->second.due, key});
  armed_.erase(found);
  return true;
}

std::vector<expired_timer> timer_queue::take_due(time_point now) {
  std::vector<expired_timer> due;
  while (!order_.empty() && order_.begin()->first <= now) {
    const auto found = armed_.find(order_.begin()->second);
    due.push_back({found->first, found->second.generation});
    armed_.erase(found);
    order_.erase(order_.begin());
  }
  return due;
}

} // namespace purgatory::engine
