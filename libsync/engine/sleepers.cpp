#include "libsync/engine/sleepers.hpp"

#include <algorithm>
#include <tuple>

namespace purgatory::engine {

bool sleepers::contains(std::string_view name) const {
  return beds_.find(name) != beds_.end();
}

std::optional<time_point> sleepers::due(std::string_view name) const {
  const auto found = beds_.find(name);
  if (found == beds_.end())
    return std::nullopt;
  return found->second.due;
}

std::optional<time_point> sleepers::next_due() const {
  if (heap_.empty())
    return std::nullopt;
  return heap_.front()->second.due;
}

void sleepers::arm(std::string_view name, time_point due) {
  auto found = beds_.find(name);
  if (found == beds_.end()) {
    found = beds_.emplace(std::string{name}, bed{}).first;
    heap_.emplace_back();
    put(heap_.size() - 1, found);
  }
  found->second.due = due;
  sift(found->second.place);
}

void sleepers::pull_to(std::string_view name, time_point due) {
  const auto found = beds_.find(name);
  if (found == beds_.end() || due < found->second.due)
    arm(name, due);
}

bool sleepers::remove(std::string_view name) {
  const auto found = beds_.find(name);
  if (found == beds_.end())
    return false;
  take_out(found);
  return true;
}

std::vector<std::string> sleepers::take_due(time_point now, std::size_t limit) {
  std::vector<std::string> due;
  while (!heap_.empty() && due.size() < limit
         && heap_.front()->second.due <= now) {
    due.push_back(heap_.front()->first);
    take_out(heap_.front());
  }
  return due;
}

bool sleepers::is_before(beds::iterator a, beds::iterator b) {
  return std::tie(a->second.due, a->first) < std::tie(b->second.due, b->first);
}

void sleepers::put(std::size_t place, beds::iterator who) {
  heap_[place] = who;
  who->second.place = static_cast<std::uint32_t>(place);
}

/// Moves who is at `place` up or down to where he belongs.
void sleepers::sift(std::size_t place) {
  const auto who = heap_[place];
  for (auto up = (place - 1) / 2; place > 0 && is_before(who, heap_[up]);
       up = (place - 1) / 2) {
    put(place, heap_[up]);
    place = up;
  }
  for (auto down = 2 * place + 1; down < heap_.size(); down = 2 * place + 1) {
    if (down + 1 < heap_.size() && is_before(heap_[down + 1], heap_[down]))
      ++down;
    if (!is_before(heap_[down], who))
      break;
    put(place, heap_[down]);
    place = down;
  }
  put(place, who);
}

void sleepers::take_out(beds::iterator who) {
  const std::size_t place = who->second.place;
  const auto last = heap_.back();
  heap_.pop_back();
  if (last != who) {
    put(place, last);
    sift(place);
  }
  beds_.erase(who);
}

std::string sleepers::check_invariants() const {
  if (heap_.size() != beds_.size())
    return "a place for each bed";
  for (std::size_t i = 0; i < heap_.size(); ++i) {
    if (heap_[i]->second.place != i)
      return "each bed knows its place";
    if (i > 0 && is_before(heap_[i], heap_[(i - 1) / 2]))
      return "nobody is before his parent";
  }
  return {};
}

} // namespace purgatory::engine
