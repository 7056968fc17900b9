#pragma once

#include "libsync/engine/name_table.hpp"
#include "libsync/engine/rate_policy.hpp"
#include "libsync/engine/turn_order.hpp"
#include "libsync/types.hpp"

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace purgatory::engine {

/// What waits for a turn. Opaque: the queue only compares.
using subject = strong_text<struct subject_tag>;
/// Who shares a turn with all of its subjects. Opaque, too.
using subject_owner = strong_text<struct subject_owner_tag>;

/// A lease for the subject whose turn it is.
struct grant {
  subject who;
  lease_id lease;
};

/// A lease that began before this queue did.
struct inherited_lease {
  lease_id lease;
  subject who;
  bool running = false;
  std::optional<time_point> started; ///< Nothing: not sent yet.
};

/// One host: who waits, which leases count, when the next may start.
///
/// - A lease is a slot and a start in the rate, taken in one step. At most
///   `concurrent` leases; the rate policy bounds the starts.
///   Why one step: check-then-act lets a burst start hundreds at once.
/// - An unsent lease counts in the rate; one that ends unsent is refunded; a
///   sent one counts on after its end.
/// - A subject has one place, however often it asks, and one lease at a time:
///   while it has a lease its place is passed over (busy).
/// - Every grant is a question. start: the place ends. defer: the lease ends,
///   the place stays where it was and is passed over until it asks again.
///   withdraw: lease and place end.
/// - Fairness: lanes fresh and retry in turn, debt when both have nothing
///   ready, and once an hour whatever they have. In a lane the owners in
///   turn, in an owner the subjects in order of arrival.
///
/// Nothing happens by itself: call `pump` after every change and at
/// `wake_at`. Logarithmic or constant time, independent of how many wait.
class slot_queue {
public:
  /// `serial` is the upper half of the lease ids granted here.
  slot_queue(std::uint32_t serial, std::uint32_t concurrent,
             std::unique_ptr<rate_policy> rate);

  // -- how it stands ---------------------------------------------------------

  /// Places, also those whose grant is not answered yet.
  [[nodiscard]] std::size_t waiting() const { return turns_.size(); }
  /// Places that could be granted now.
  [[nodiscard]] std::size_t ready() const { return turns_.ready(); }
  /// Subjects with a place, a lease or both.
  [[nodiscard]] std::size_t subjects() const { return names_.size(); }
  [[nodiscard]] std::size_t leases() const { return leases_.size(); }
  [[nodiscard]] std::uint32_t concurrent() const { return concurrent_; }
  [[nodiscard]] bool has_place(const subject& who) const;
  [[nodiscard]] bool has_lease(lease_id lease) const;
  /// With a place, a lease or both.
  [[nodiscard]] bool knows(std::string_view who) const;
  /// Whose lease it is; valid until the next change. Null: unknown.
  [[nodiscard]] const std::string* holder_of(lease_id lease) const;

  /// Earliest time at which `pump` can grant something. Nothing if that takes
  /// a message first: a new place, a free slot, the end of an unsent lease.
  [[nodiscard]] std::optional<time_point> wake_at(time_point now);

  /// Recomputes everything that is kept twice. What is wrong, or nothing.
  [[nodiscard]] std::string check_invariants() const;

  // -- what happened ---------------------------------------------------------

  /// `who` asks for a turn. Asking again keeps the place, ends a deferral and
  /// takes over a changed owner or lane. After a grant that is not answered
  /// yet it asks for one more turn.
  void enqueue(const subject& who, const subject_owner& owner, lane turn);

  /// `who` gives its place up; a lease stays. False if there was no place.
  bool leave(const subject& who);

  /// Grants until slots, queue or rate are exhausted, or `at_most` are given.
  [[nodiscard]] std::vector<grant>
  pump(time_point now,
       std::size_t at_most = std::numeric_limits<std::size_t>::max());

  // Answers to a grant. False: the lease is unknown, or answered already.
  bool start(lease_id lease);
  bool defer(lease_id lease);
  bool withdraw(lease_id lease);

  /// The first request of the lease left at `at`. Implies `start`, whose
  /// message may come later. False: unknown, or said before.
  bool started(lease_id lease, time_point at);

  /// The lease has ended. Implies `start`. False if the lease is unknown.
  bool completed(lease_id lease);

  /// The holder vanished and nothing was sent: as if never granted. A place
  /// stays. False if the lease is unknown.
  bool reclaim(lease_id lease);

  /// Raising lets `pump` grant more, lowering stops nothing. `concurrent` 0:
  /// nothing is granted.
  void set_limits(std::optional<std::uint32_t> concurrent,
                  std::optional<std::uint32_t> starts);

  /// Takes over what counts already. Call it before the first `pump`.
  void seed(std::vector<inherited_lease> inherited);

private:
  /// A subject with a place, a lease or both.
  struct entry : turn_order::place {
    name_table::number who = 0;
    bool deferred = false;
    bool asked_again = false; ///< Since the grant that is not answered yet.
    bool leased = false;
  };

  struct lease_record {
    entry* holder = nullptr;
    bool answered = false;
    bool sent = false;
  };

  using lease_table = std::unordered_map<lease_id, lease_record>;

  entry& entry_of(const subject& who);
  void settle(entry& e);
  void close_place(entry& e);
  grant grant_next(time_point now);
  bool debt_is_due(time_point now);
  void accept(lease_record& lease);
  lease_table::iterator unanswered(lease_id lease);
  void end_lease(lease_table::iterator lease);
  lease_id next_lease_id();

  std::uint32_t serial_;
  std::uint32_t last_lease_ = 0;
  std::uint32_t concurrent_;
  std::unique_ptr<rate_policy> rate_;
  turn_order turns_;
  name_table names_;
  std::deque<entry> entries_; ///< By number of the name; never moves.
  lease_table leases_;
  /// Since when debts wait without one being served; nothing: none is ready.
  std::optional<time_point> debts_since_;
};

} // namespace purgatory::engine
