#include "libsync/engine/sliding_window.hpp"

#include "libsync/engine/backoff.hpp"

#include <algorithm>

namespace purgatory::engine {

namespace {

/// Steps in the span of a window that is switched off.
constexpr int coarse_steps = 64;

} // namespace

time_point sliding_window::not_before(time_point now) {
  while (!runs_.empty() && runs_.front().at + span_ <= now) {
    left_ = runs_.front().upto;
    runs_.pop_front();
  }
  const auto counted = sent() + unsent_;
  if (ceiling_ == 0 || counted < ceiling_)
    return now;
  // So many of the oldest have to leave first; more than one if the ceiling
  // was lowered.
  const auto leaving = counted - ceiling_ + 1;
  if (leaving > sent())
    return never;
  const auto last
    = std::ranges::lower_bound(runs_, left_ + leaving, {}, &run::upto);
  return last->at + span_;
}

void sliding_window::confirm(time_point at) {
  --unsent_;
  if (ceiling_ == 0)
    at = round_up(at, span_ / coarse_steps);
  auto place = runs_.end();
  while (place != runs_.begin() && std::prev(place)->at > at) {
    --place;
    ++place->upto;
  }
  if (place != runs_.begin() && std::prev(place)->at == at) {
    ++std::prev(place)->upto;
    return;
  }
  const auto before = place == runs_.begin() ? left_ : std::prev(place)->upto;
  runs_.insert(place, {at, before + 1});
}

std::size_t sliding_window::sent() const {
  return runs_.empty() ? 0
                       : static_cast<std::size_t>(runs_.back().upto - left_);
}

time_point sliding_window::empty_at() const {
  return ceiling_ == 0 || runs_.empty() ? time_point::min()
                                        : runs_.back().at + span_;
}

} // namespace purgatory::engine
