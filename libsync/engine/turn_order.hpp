#pragma once

#include "libsync/engine/intrusive_list.hpp"
#include "libsync/engine/name_table.hpp"
#include "libsync/types.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

namespace purgatory::engine {

/// Whose turn it is: lanes fresh and retry in turn, debt when both have
/// nothing ready or when it is asked for; in a lane the owners in turn; in an
/// owner the places in order of arrival (rules §8.3). An owner whose first
/// place becomes ready joins behind the others.
///
/// A place that is not ready keeps its position and is passed over without
/// being looked at. Constant time; logarithmic for a place that becomes ready
/// again before younger ones.
class turn_order {
  struct line;

public:
  /// One place, owned by the caller; must not move while it is in line.
  class place {
  public:
    [[nodiscard]] bool in_line() const { return in_ != nullptr; }
    [[nodiscard]] bool ready() const { return ready_; }

    place* before = nullptr; ///< For the list of its line only.
    place* after = nullptr;

  private:
    friend class turn_order;

    line* in_ = nullptr;
    std::uint64_t order_ = 0;
    bool ready_ = false;
    bool overtaken_ = false; ///< Ready again, with younger ones before it.
  };

  /// Places in line, ready or not.
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t ready() const { return ready_; }

  [[nodiscard]] bool has_ready(lane in) const {
    return !lanes_[index(in)].turns.empty();
  }

  /// The lane of a place in line.
  [[nodiscard]] static lane lane_of(const place& p) { return p.in_->where; }

  /// The ready place whose turn it is, or null. `debt_first`: of the debts,
  /// if one is ready.
  [[nodiscard]] place* next(bool debt_first = false) const;

  /// A new place at the end, not ready yet.
  void join(place& p, const std::string& owner, lane turn);

  /// Keeps the position, but under another owner or lane.
  void transfer(place& p, const std::string& owner, lane turn);

  /// Gives up the position for the last one. The place is not ready.
  void requeue(place& p) { p.order_ = ++last_order_; }

  void leave(place& p);

  /// May have its turn from now on. Harmless if it may already.
  void set_ready(place& p);

  /// Passed over from now on.
  void set_busy(place& p);

  /// `p`, which is `next()`, has its turn: it is busy and the others follow.
  void serve(place& p);

  /// Recomputes what is kept twice. What is wrong, or nothing.
  [[nodiscard]] std::string check_invariants() const;

private:
  /// The places of one owner in one lane.
  struct line {
    name_table::number owner = 0;
    lane where = lane::fresh;
    std::size_t places = 0;
    intrusive_list<place> ready; ///< In order of arrival.
    std::map<std::uint64_t, place*> overtaken;
    line* before = nullptr;
    line* after = nullptr;

    [[nodiscard]] bool has_ready() const {
      return !ready.empty() || !overtaken.empty();
    }
    [[nodiscard]] place* first() const;
  };

  struct lane_state {
    name_table owners;
    std::deque<line> lines;     ///< By number of the owner; never moves.
    intrusive_list<line> turns; ///< Those with a ready place; front is next.
  };

  static std::size_t index(lane turn) { return static_cast<std::size_t>(turn); }
  lane_state& lane_of(const line& in) { return lanes_[index(in.where)]; }
  void enter(place& p, const std::string& owner, lane turn);

  std::array<lane_state, 3> lanes_;
  lane preferred_ = lane::fresh;
  std::uint64_t last_order_ = 0;
  std::size_t size_ = 0;
  std::size_t ready_ = 0;
};

} // namespace purgatory::engine
