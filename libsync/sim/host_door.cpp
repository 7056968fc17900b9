#include "libsync/sim/host_door.hpp"

#include <utility>

namespace purgatory::sim {

host_door::host_door(host_key host, std::uint32_t serial,
                     const engine::start_limits& limits)
  : host_(std::move(host)), serial_(serial), schedule_({serial}, limits) {}

void host_door::enqueue(const unit_key& who, std::uint64_t resident,
                        lane where) {
  auto name = to_string(who);
  schedule_.enqueue(engine::subject{name},
                    engine::subject_owner{who.owner.value}, where);
  waiters_.insert_or_assign(std::move(name), waiter{who, resident});
}

void host_door::leave(const unit_key& who) {
  const auto name = to_string(who);
  schedule_.leave(engine::subject{name});
  waiters_.erase(name);
}

void host_door::forget_if_gone(const std::string& subject) {
  if (!schedule_.has_place(engine::subject{subject}))
    waiters_.erase(subject);
}

void host_door::defer(lease_id lease) {
  schedule_.defer(lease);
  holders_.erase(lease);
}

void host_door::withdraw(lease_id lease) {
  schedule_.withdraw(lease);
  if (const auto node = holders_.extract(lease); !node.empty())
    forget_if_gone(node.mapped());
}

void host_door::completed(lease_id lease, fetch_class outcome,
                          std::optional<std::chrono::seconds> retry_after,
                          time_point now) {
  schedule_.completed(lease, signal_of(outcome), retry_after, now);
  if (const auto node = holders_.extract(lease); !node.empty())
    forget_if_gone(node.mapped());
}

std::vector<host_door::turn> host_door::pump(time_point now) {
  std::vector<turn> result;
  for (auto& grant : schedule_.pump(now)) {
    result.push_back({waiters_.at(grant.who.value), grant.lease});
    holders_.emplace(grant.lease, std::move(grant.who.value));
  }
  return result;
}

bool host_door::has_backlog(time_point now) {
  if (schedule_.waiting() == 0 || schedule_.view(now).blocked_until)
    return false;
  return schedule_.leases() >= schedule_.limits().concurrent
         || schedule_.wake_at(now).has_value();
}

} // namespace purgatory::sim
