#include "libsync/engine/turn_order.hpp"

#include <utility>

namespace purgatory::engine {

turn_order::place* turn_order::line::first() const {
  if (overtaken.empty())
    return ready.front();
  auto* oldest = overtaken.begin()->second;
  if (ready.empty() || oldest->order_ < ready.front()->order_)
    return oldest;
  return ready.front();
}

turn_order::place* turn_order::next(bool debt_first) const {
  const auto other = preferred_ == lane::fresh ? lane::retry : lane::fresh;
  if (debt_first && has_ready(lane::debt))
    return lanes_[index(lane::debt)].turns.front()->first();
  for (const auto turn : {preferred_, other, lane::debt}) {
    const auto& turns = lanes_[index(turn)].turns;
    if (!turns.empty())
      return turns.front()->first();
  }
  return nullptr;
}

void turn_order::join(place& p, const std::string& owner, lane turn) {
  p.order_ = ++last_order_;
  enter(p, owner, turn);
}

void turn_order::transfer(place& p, const std::string& owner, lane turn) {
  if (p.in_->where == turn
      && lane_of(*p.in_).owners.name(p.in_->owner) == owner)
    return;
  const bool was_ready = p.ready_;
  leave(p);
  enter(p, owner, turn);
  if (was_ready)
    set_ready(p);
}

void turn_order::enter(place& p, const std::string& owner, lane turn) {
  auto& to = lanes_[index(turn)];
  const auto number = to.owners.number_of(owner);
  if (number == to.lines.size()) {
    to.lines.emplace_back().owner = number;
    to.lines.back().where = turn;
  }
  p.in_ = &to.lines[number];
  ++p.in_->places;
  ++size_;
}

void turn_order::leave(place& p) {
  set_busy(p);
  auto& in = *std::exchange(p.in_, nullptr);
  --size_;
  if (--in.places == 0)
    lane_of(in).owners.release(in.owner);
}

void turn_order::set_ready(place& p) {
  if (std::exchange(p.ready_, true))
    return;
  ++ready_;
  auto& in = *p.in_;
  if (!in.has_ready())
    lane_of(in).turns.push_back(in);
  p.overtaken_ = !in.ready.empty() && in.ready.back()->order_ > p.order_;
  if (p.overtaken_)
    in.overtaken.emplace(p.order_, &p);
  else
    in.ready.push_back(p);
}

void turn_order::set_busy(place& p) {
  if (!std::exchange(p.ready_, false))
    return;
  --ready_;
  auto& in = *p.in_;
  if (p.overtaken_)
    in.overtaken.erase(p.order_);
  else
    in.ready.erase(p);
  if (!in.has_ready())
    lane_of(in).turns.erase(in);
}

void turn_order::serve(place& p) {
  auto& in = *p.in_;
  set_busy(p);
  if (in.has_ready()) {
    auto& turns = lane_of(in).turns;
    turns.erase(in);
    turns.push_back(in);
  }
  if (in.where != lane::debt)
    preferred_ = in.where == lane::fresh ? lane::retry : lane::fresh;
}

std::string turn_order::check_invariants() const {
  std::size_t places = 0;
  std::size_t ready = 0;
  for (const auto& each : lanes_) {
    std::size_t with_turn = 0;
    std::size_t owners = 0;
    for (const auto& in : each.lines) {
      owners += in.places > 0;
      places += in.places;
      ready += in.overtaken.size();
      with_turn += in.has_ready();
      std::uint64_t last = 0;
      for (const auto* p = in.ready.front(); p != nullptr; p = p->after) {
        if (!p->ready_ || p->in_ != &in || p->order_ <= last)
          return "line out of order";
        last = p->order_;
        ++ready;
      }
    }
    for (const auto* in = each.turns.front(); in != nullptr; in = in->after) {
      if (!in->has_ready())
        return "turn without ready place";
      --with_turn;
    }
    if (owners != each.owners.size())
      return "a line for each owner";
    if (with_turn != 0)
      return "count of turns";
  }
  if (places != size_ || ready != ready_)
    return "count of places";
  return {};
}

} // namespace purgatory::engine
