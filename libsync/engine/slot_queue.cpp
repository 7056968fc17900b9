#include "libsync/engine/slot_queue.hpp"

#include <algorithm>
#include <utility>

namespace purgatory::engine {

namespace {

/// Debts get a turn at least so often (rules §8.3).
constexpr duration debt_interval = std::chrono::hours{1};

} // namespace

slot_queue::slot_queue(std::uint32_t serial, std::uint32_t concurrent,
                       std::unique_ptr<rate_policy> rate)
  : serial_(serial), concurrent_(concurrent), rate_(std::move(rate)) {}

bool slot_queue::has_place(const subject& who) const {
  const auto known = names_.find(who.value);
  return known && entries_[*known].in_line();
}

bool slot_queue::has_lease(lease_id lease) const {
  return leases_.contains(lease);
}

bool slot_queue::knows(std::string_view who) const {
  return names_.find(who).has_value();
}

const std::string* slot_queue::holder_of(lease_id lease) const {
  const auto found = leases_.find(lease);
  return found == leases_.end() ? nullptr
                                : &names_.name(found->second.holder->who);
}

std::optional<time_point> slot_queue::wake_at(time_point now) {
  if (leases_.size() >= concurrent_ || turns_.ready() == 0)
    return std::nullopt;
  const auto at = rate_->not_before(now);
  if (at == rate_policy::never)
    return std::nullopt;
  return std::max(at, now);
}

// -- places ------------------------------------------------------------------

void slot_queue::enqueue(const subject& who, const subject_owner& owner,
                         lane turn) {
  auto& e = entry_of(who);
  if (e.in_line())
    turns_.transfer(e, owner.value, turn);
  else
    turns_.join(e, owner.value, turn);
  e.deferred = false;
  e.asked_again = e.leased;
  settle(e);
}

bool slot_queue::leave(const subject& who) {
  const auto known = names_.find(who.value);
  if (!known || !entries_[*known].in_line())
    return false;
  auto& e = entries_[*known];
  close_place(e);
  settle(e);
  return true;
}

slot_queue::entry& slot_queue::entry_of(const subject& who) {
  const auto number = names_.number_of(who.value);
  if (number == entries_.size())
    entries_.emplace_back().who = number;
  return entries_[number];
}

void slot_queue::close_place(entry& e) {
  turns_.leave(e);
  e.deferred = false;
  e.asked_again = false;
}

/// After any change of `e`, whose number may be free afterwards.
void slot_queue::settle(entry& e) {
  if (!e.in_line() && !e.leased)
    names_.release(e.who);
  else if (e.in_line() && !e.leased && !e.deferred)
    turns_.set_ready(e);
}

// -- leases ------------------------------------------------------------------

std::vector<grant> slot_queue::pump(time_point now, std::size_t at_most) {
  std::vector<grant> grants;
  while (grants.size() < at_most && leases_.size() < concurrent_
         && turns_.ready() > 0 && rate_->not_before(now) <= now)
    grants.push_back(grant_next(now));
  static_cast<void>(debt_is_due(now)); // Their hour may begin here.
  return grants;
}

grant slot_queue::grant_next(time_point now) {
  auto& e = static_cast<entry&>(*turns_.next(debt_is_due(now)));
  if (turns_.lane_of(e) == lane::debt)
    debts_since_.reset();
  turns_.serve(e);
  rate_->reserve();
  e.leased = true;
  const auto lease = next_lease_id();
  leases_.emplace(lease, lease_record{&e, false, false});
  return {subject{names_.name(e.who)}, lease};
}

bool slot_queue::debt_is_due(time_point now) {
  if (!turns_.has_ready(lane::debt))
    debts_since_.reset();
  else if (!debts_since_)
    debts_since_ = now;
  return debts_since_ && now - *debts_since_ >= debt_interval;
}

bool slot_queue::start(lease_id lease) {
  const auto found = unanswered(lease);
  if (found == leases_.end())
    return false;
  accept(found->second);
  return true;
}

bool slot_queue::defer(lease_id lease) {
  const auto found = unanswered(lease);
  if (found == leases_.end())
    return false;
  auto& holder = *found->second.holder;
  holder.deferred = holder.in_line();
  end_lease(found);
  return true;
}

bool slot_queue::withdraw(lease_id lease) {
  const auto found = unanswered(lease);
  if (found == leases_.end())
    return false;
  auto& holder = *found->second.holder;
  if (holder.in_line())
    close_place(holder);
  end_lease(found);
  return true;
}

bool slot_queue::started(lease_id lease, time_point at) {
  const auto found = leases_.find(lease);
  if (found == leases_.end() || found->second.sent)
    return false;
  accept(found->second);
  found->second.sent = true;
  rate_->confirm(at);
  return true;
}

bool slot_queue::completed(lease_id lease) {
  const auto found = leases_.find(lease);
  if (found == leases_.end())
    return false;
  accept(found->second);
  end_lease(found);
  return true;
}

bool slot_queue::reclaim(lease_id lease) {
  const auto found = leases_.find(lease);
  if (found == leases_.end())
    return false;
  end_lease(found);
  return true;
}

/// The grant is taken: its place ends. Who asked again meanwhile waits anew.
void slot_queue::accept(lease_record& lease) {
  auto& e = *lease.holder;
  if (std::exchange(lease.answered, true) || !e.in_line())
    return;
  if (std::exchange(e.asked_again, false))
    turns_.requeue(e);
  else
    close_place(e);
}

slot_queue::lease_table::iterator slot_queue::unanswered(lease_id lease) {
  const auto found = leases_.find(lease);
  const bool open = found != leases_.end() && !found->second.answered;
  return open ? found : leases_.end();
}

void slot_queue::end_lease(lease_table::iterator lease) {
  auto& e = *lease->second.holder;
  if (!lease->second.sent)
    rate_->refund();
  leases_.erase(lease);
  e.leased = false;
  e.asked_again = false;
  settle(e);
}

lease_id slot_queue::next_lease_id() {
  lease_id next;
  do
    next.value = std::uint64_t{serial_} << 32U | ++last_lease_;
  while (leases_.contains(next));
  return next;
}

void slot_queue::set_limits(std::optional<std::uint32_t> concurrent,
                            std::optional<std::uint32_t> starts) {
  concurrent_ = concurrent.value_or(concurrent_);
  if (starts)
    rate_->set_ceiling(*starts);
}

void slot_queue::seed(std::vector<inherited_lease> inherited) {
  // In order of time, which is what the rate policy takes fastest.
  std::ranges::sort(inherited, {}, &inherited_lease::started);
  for (const auto& old : inherited) {
    if (!old.running && !old.started)
      continue;
    rate_->reserve();
    if (old.started)
      rate_->confirm(*old.started);
    if (!old.running)
      continue;
    auto& holder = entry_of(old.who);
    if (holder.in_line())
      turns_.set_busy(holder);
    holder.leased = true;
    leases_.emplace(old.lease,
                    lease_record{&holder, true, old.started.has_value()});
  }
}

// -- invariants --------------------------------------------------------------

std::string slot_queue::check_invariants() const {
  std::size_t places = 0;
  std::size_t leased = 0;
  std::size_t subjects = 0;
  for (const auto& e : entries_) {
    subjects += e.in_line() || e.leased;
    if (e.ready() != (e.in_line() && !e.leased && !e.deferred))
      return "ready or not";
    places += e.in_line();
    leased += e.leased;
  }
  if (subjects != names_.size())
    return "a name for each subject with place or lease";
  if (places != turns_.size())
    return "count of places";
  if (leased != leases_.size())
    return "one lease per subject";
  const auto unsent = std::ranges::count_if(
    leases_, [](const auto& lease) { return !lease.second.sent; });
  if (static_cast<std::size_t>(unsent) != rate_->unsent())
    return "count of unsent leases";
  return turns_.check_invariants();
}

} // namespace purgatory::engine
