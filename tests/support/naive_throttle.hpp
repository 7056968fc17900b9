#pragma once

#include "libsync/engine/slot_queue.hpp"
#include "libsync/types.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace purgatory::test {

/// The rules of a throttle (rules §8) written down as plainly as possible, for
/// a sliding window: vectors, searched from the start each time. It judges
/// slot_queue and shares nothing with it.
class naive_throttle {
public:
  naive_throttle(std::uint32_t serial, std::size_t concurrent,
                 std::size_t per_window, duration span)
    : serial_(serial), concurrent_(concurrent), per_window_(per_window),
      span_(span) {}

  void enqueue(const std::string& who, const std::string& owner, lane turn) {
    auto* place = place_of(who);
    if (place == nullptr) {
      places_.push_back({who, owner, turn, ++clock_, false, false});
      place = &places_.back();
    }
    place->owner = owner;
    place->turn = turn;
    place->deferred = false;
    place->asked_again = has_lease(who);
    note_turns();
  }

  bool leave(const std::string& who) {
    const bool left
      = std::erase_if(places_, [&](auto& p) { return p.who == who; }) > 0;
    note_turns();
    return left;
  }

  std::vector<std::pair<std::string, lease_id>> pump(time_point now) {
    std::vector<std::pair<std::string, lease_id>> grants;
    while (leases_.size() < concurrent_ && counted(now) < per_window_) {
      const auto* place = debt_is_due(now) ? next_in(lane::debt) : next();
      if (place == nullptr)
        break;
      if (place->turn == lane::debt)
        debts_since_.reset();
      const lease_id id{std::uint64_t{serial_} << 32U | ++granted_};
      turns_[{place->turn, place->owner}] = ++clock_;
      if (place->turn != lane::debt)
        last_lane_ = place->turn;
      grants.emplace_back(place->who, id);
      leases_.push_back({id, place->who, false, false});
      note_turns();
    }
    debt_is_due(now);
    return grants;
  }

  bool start(lease_id id) {
    auto* found = lease_of(id);
    if (found == nullptr || found->answered)
      return false;
    accept(*found);
    return true;
  }

  bool defer(lease_id id) {
    auto* found = lease_of(id);
    if (found == nullptr || found->answered)
      return false;
    if (auto* place = place_of(found->who))
      place->deferred = true;
    end(id);
    return true;
  }

  bool withdraw(lease_id id) {
    auto* found = lease_of(id);
    if (found == nullptr || found->answered)
      return false;
    leave(found->who);
    end(id);
    return true;
  }

  bool started(lease_id id, time_point at) {
    auto* found = lease_of(id);
    if (found == nullptr || found->sent)
      return false;
    accept(*found);
    found->sent = true;
    sends_.push_back(at);
    return true;
  }

  bool completed(lease_id id) {
    auto* found = lease_of(id);
    if (found == nullptr)
      return false;
    accept(*found);
    end(id);
    return true;
  }

  bool reclaim(lease_id id) {
    if (lease_of(id) == nullptr)
      return false;
    end(id);
    return true;
  }

  void set_limits(std::size_t concurrent, std::size_t per_window) {
    concurrent_ = concurrent;
    per_window_ = per_window;
  }

  void seed(const std::vector<engine::inherited_lease>& inherited) {
    for (const auto& old : inherited) {
      if (old.started)
        sends_.push_back(*old.started);
      if (old.running)
        leases_.push_back(
          {old.lease, old.who.value, true, old.started.has_value()});
    }
    note_turns();
  }

  /// First of the moments that matter at which a grant is possible.
  std::optional<time_point> wake_at(time_point now) {
    if (leases_.size() >= concurrent_ || next() == nullptr)
      return std::nullopt;
    std::vector<time_point> moments = {now};
    for (const auto at : sends_)
      moments.push_back(std::max(now, at + span_));
    std::ranges::sort(moments);
    for (const auto at : moments)
      if (counted(at) < per_window_)
        return at;
    return std::nullopt;
  }

  std::size_t waiting() const { return places_.size(); }
  std::size_t leases() const { return leases_.size(); }

private:
  struct waiter {
    std::string who;
    std::string owner;
    lane turn;
    std::uint64_t order;
    bool deferred;
    bool asked_again;
  };
  struct held {
    lease_id id;
    std::string who;
    bool answered;
    bool sent;
  };
  using turn_key = std::pair<lane, std::string>;

  waiter* place_of(const std::string& who) {
    const auto found = std::ranges::find(places_, who, &waiter::who);
    return found == places_.end() ? nullptr : &*found;
  }

  held* lease_of(lease_id id) {
    const auto found = std::ranges::find(leases_, id, &held::id);
    return found == leases_.end() ? nullptr : &*found;
  }

  bool has_lease(const std::string& who) const {
    return std::ranges::find(leases_, who, &held::who) != leases_.end();
  }

  bool ready(const waiter& p) const { return !p.deferred && !has_lease(p.who); }

  std::size_t counted(time_point now) const {
    const auto in_window = std::ranges::count_if(
      sends_, [&](time_point at) { return at + span_ > now; });
    const auto unsent
      = std::ranges::count_if(leases_, [](auto& l) { return !l.sent; });
    return static_cast<std::size_t>(in_window + unsent);
  }

  void accept(held& l) {
    if (std::exchange(l.answered, true))
      return;
    auto* place = place_of(l.who);
    if (place == nullptr)
      return;
    if (!place->asked_again) {
      leave(l.who);
      return;
    }
    place->asked_again = false;
    place->order = ++clock_;
  }

  void end(lease_id id) {
    if (auto* place = place_of(lease_of(id)->who))
      place->asked_again = false;
    std::erase_if(leases_, [&](auto& l) { return l.id == id; });
    note_turns();
  }

  /// An owner's turn number: when it last got ready or was served.
  void note_turns() {
    std::map<turn_key, std::uint64_t> now_ready;
    for (const auto& p : places_)
      if (ready(p)) {
        const turn_key key{p.turn, p.owner};
        const auto before = turns_.find(key);
        if (!now_ready.contains(key))
          now_ready[key] = before != turns_.end() ? before->second : ++clock_;
      }
    turns_ = std::move(now_ready);
  }

  const waiter* next() const {
    const auto other = last_lane_ == lane::fresh ? lane::retry : lane::fresh;
    for (const auto turn : {other, last_lane_, lane::debt})
      if (const auto* best = next_in(turn))
        return best;
    return nullptr;
  }

  const waiter* next_in(lane turn) const {
    const waiter* best = nullptr;
    for (const auto& p : places_)
      if (p.turn == turn && ready(p)
          && (best == nullptr || rank(p) < rank(*best)))
        best = &p;
    return best;
  }

  /// A debt has waited for an hour while others had their turns.
  bool debt_is_due(time_point now) {
    if (next_in(lane::debt) == nullptr)
      debts_since_.reset();
    else if (!debts_since_)
      debts_since_ = now;
    return debts_since_ && now - *debts_since_ >= std::chrono::hours{1};
  }

  std::pair<std::uint64_t, std::uint64_t> rank(const waiter& p) const {
    return {turns_.at({p.turn, p.owner}), p.order};
  }

  std::uint32_t serial_;
  std::size_t concurrent_;
  std::size_t per_window_;
  duration span_;
  std::uint32_t granted_ = 0;
  std::uint64_t clock_ = 0;
  lane last_lane_ = lane::retry;
  std::vector<waiter> places_;
  std::vector<held> leases_;
  std::vector<time_point> sends_;
  std::map<turn_key, std::uint64_t> turns_;
  std::optional<time_point> debts_since_;
};

} // namespace purgatory::test
