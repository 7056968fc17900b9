#include "libsync/engine/sliding_window.hpp"

#include <algorithm>

namespace purgatory::engine {

time_point sliding_window::not_before(time_point now) {
  while (!starts_.empty() && starts_.front() + span_ <= now)
    starts_.pop_front();
  const auto counted = starts_.size() + unsent_;
  if (counted < ceiling_)
    return now;
  // So many of the oldest have to leave first; more than one if the ceiling
  // was lowered.
  const auto leaving = counted - ceiling_;
  return leaving < starts_.size() ? starts_[leaving] + span_ : never;
}

void sliding_window::confirm(time_point at) {
  --unsent_;
  auto place = starts_.end();
  while (place != starts_.begin() && *std::prev(place) > at)
    --place;
  starts_.insert(place, at);
}

} // namespace purgatory::engine
