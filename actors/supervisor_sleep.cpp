// Who sleeps, who loads, and the one timer of the supervisor.
#include "actors/log.hpp"
#include "actors/supervisor.hpp"

#include <caf/actor_system.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <algorithm>

namespace purgatory {

/// Hosts first: a throttle has to know of a block before it grants.
caf::result<pending_identifiers> supervisor_state::take_up_work() {
  auto owed = self_->make_response_promise<pending_identifiers>();
  const auto fail
    = [owed](caf::error& reason) mutable { owed.deliver(std::move(reason)); };
  self_->request(journal_, caf::infinite, list_hosts{})
    .then(
      [this, owed, fail](const known_hosts& known) {
        for (const auto& record : known.hosts)
          restore_host(record);
        self_->request(journal_, caf::infinite, list_pending{})
          .then(
            [this, owed](const pending_identifiers& pending) mutable {
              put_to_bed(pending);
              pump();
              owed.deliver(pending);
            },
            fail);
      },
      fail);
  return owed;
}

/// Who is awake in the journal is due now; the sleepers are the queue in which
/// he waits until there is room to load.
void supervisor_state::put_to_bed(const pending_identifiers& pending) {
  const auto now = self_->clock().now();
  for (const auto& [repo, asleep, due] : pending.repos) {
    if (identifiers_.contains(repo) || resting_.contains(repo))
      continue;
    if (!asleep)
      sleepers_.pull_to(repo.value, now);
    else if (due)
      sleepers_.pull_to(repo.value, options_.live.moment_of(*due));
  }
}

void supervisor_state::on_loaded(const loaded& message) {
  loading_.erase(message.who);
  for (const auto& host : message.hosts)
    note_interest(message.who, host);
}

void supervisor_state::pump() {
  if (stopping_)
    return;
  const auto now = self_->clock().now();
  if (const auto room = room_to_load(); room > 0)
    for (const auto& repo : sleepers_.take_due(now, room))
      wake(identifier{repo});
  for (const auto& host :
       hosts_.take_ended(options_.live.at(now), max_probes_at_once))
    // A throttle that lives says itself when nobody waits there.
    if (!throttles_.contains(host))
      start_probe(host);
  for (const auto& host : probe_times_.take_due(now, max_probes_at_once))
    send_probe(host_key{host});
  continue_recovery();
  arm();
}

std::size_t supervisor_state::room_to_load() const {
  return options_.max_loading - std::min(loading_.size(), options_.max_loading);
}

void supervisor_state::wake(const identifier& repo) {
  resting_.erase(repo);
  spawn_identifier(repo);
}

/// A timer can not be called back, so a pending one that comes early enough is
/// left alone: it finds the right time when it fires.
void supervisor_state::arm() {
  std::optional<time_point> at = probe_times_.next_due();
  const auto consider = [&](std::optional<time_point> due) {
    if (due)
      at = at ? std::min(*at, *due) : *due;
  };
  // Without room the next one that has loaded makes some.
  if (room_to_load() > 0)
    consider(sleepers_.next_due());
  if (const auto end = hosts_.next_end())
    consider(options_.live.moment_of(*end));
  if (const auto number = alarm_.arm(at))
    self_->scheduled_send(self_, *at, backoff_tick{*number});
}

} // namespace purgatory
