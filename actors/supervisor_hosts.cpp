// Throttles, and what is known of hosts beyond them.
#include "actors/log.hpp"
#include "actors/supervisor.hpp"

#include <caf/actor_system.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <algorithm>

namespace purgatory {

namespace {

/// Until another identifier is asked to probe a host: grows, as long as nobody
/// finds anything to ask there.
constexpr duration first_probe_pause = std::chrono::minutes(1);
constexpr duration last_probe_pause = std::chrono::minutes(30);

engine::host_standing standing_of(const host_record& record) {
  return {record.reason, record.blocks, record.failed_probes,
          record.blocked_until, record.learned_per_minute};
}

host_record record_of(const host_key& host, const engine::host_standing& s) {
  host_record record;
  record.host = host;
  record.reason = s.reason;
  record.blocks = s.blocks;
  record.failed_probes = s.failed_probes;
  record.blocked_until = s.blocked_until;
  record.learned_per_minute = s.learned_per_minute;
  return record;
}

} // namespace

// -- throttles ----------------------------------------------------------------

caf::result<throttle_actor>
supervisor_state::throttle_of(const host_key& host) {
  const auto& asking = self_->current_sender();
  const auto i = identifier_ids_.find(asking ? asking->id() : 0);
  const auto who = i == identifier_ids_.end() ? identifier{} : i->second;
  const auto known = throttles_.find(host);
  if (known == throttles_.end() || !known->second.leaving)
    return hand_out(host, who);
  // Its successor must not grant before it is gone.
  auto owed = self_->make_response_promise<throttle_actor>();
  known->second.waiting.emplace_back(who, owed);
  return owed;
}

throttle_actor supervisor_state::hand_out(const host_key& host,
                                          const identifier& to) {
  const auto i = throttles_.find(host);
  auto& known = i == throttles_.end() ? spawn_throttle(host) : i->second;
  note_interest(to, host);
  return known.handle;
}

void supervisor_state::note_interest(const identifier& repo,
                                     const host_key& host) {
  const auto known = identifiers_.find(repo);
  if (known == identifiers_.end())
    return;
  known->second.hosts.insert(host);
  interest_[host].insert(repo);
}

/// Of who has named very many hosts in his life; the others keep theirs.
void supervisor_state::forget_interest(const host_key& host) {
  const auto named = interest_.find(host);
  if (named == interest_.end())
    return;
  std::erase_if(named->second, [&](const auto& repo) {
    auto& hosts = identifiers_.at(repo).hosts;
    return hosts.size() > max_named_hosts && hosts.erase(host) > 0;
  });
  if (named->second.empty())
    interest_.erase(named);
}

supervisor_state::known_throttle&
supervisor_state::spawn_throttle(const host_key& host) {
  throttle_order order{host, next_serial_++, limits_of(host), std::nullopt};
  if (const auto standing = hosts_.find(host))
    order.known = record_of(host, *standing);
  auto handle
    = make_.make_throttle(host_news_sink{supervisor_actor{self_}}, order);
  self_->monitor(handle);
  throttle_ids_[handle->id()] = host;
  // The pool tells it which leases and starts of its predecessor count.
  self_->send(pool_, adopt_throttle{host, order.serial, options_.quiet_until},
              handle);
  auto& known = throttles_[host];
  known.handle = std::move(handle);
  return known;
}

/// It left or died: who holds its handle must ask for another one, and waits
/// nowhere until then.
void supervisor_state::on_throttle_down(const host_key& host) {
  auto node = throttles_.extract(host);
  auto gone = std::move(node.mapped());
  if (stopping_) {
    for (auto& [who, owed] : gone.waiting)
      owed.deliver(gone.handle);
    return;
  }
  if (const auto named = interest_.find(host); named != interest_.end())
    for (const auto& repo : named->second)
      tell(identifiers_.at(repo), throttle_restarted{host});
  if (gone.leaving)
    forget_interest(host);
  else
    log::error("Throttle died and will be replaced", {{"domain", host}});
  for (auto& [who, owed] : gone.waiting)
    owed.deliver(hand_out(host, who));
}

/// A handle may be in use at this very moment. That does no harm: a question
/// to who is gone comes back, and is asked again as after a death.
void supervisor_state::let_go(const host_key& host) {
  const auto i = throttles_.find(host);
  if (i == throttles_.end() || std::exchange(i->second.leaving, true))
    return;
  self_->send_exit(i->second.handle, caf::exit_reason::user_shutdown);
}

// -- what is remembered -------------------------------------------------------

void supervisor_state::on_news(const host_news& news) {
  const auto& host = news.state.host;
  remember(news.state);
  switch (news.what) {
  case host_change::blocked:
    end_probe(host);
    break;
  case host_change::recovered:
    end_probe(host);
    start_recovery(host);
    break;
  case host_change::unblocked:
    start_probe(host);
    break;
  case host_change::idle:
    let_go(host);
    break;
  }
}

void supervisor_state::remember(const host_record& record) {
  const auto standing = standing_of(record);
  const auto before = hosts_.find(record.host);
  if (before.value_or(engine::host_standing{}) == standing)
    return;
  const auto left = hosts_.remember(record.host, standing,
                                    options_.live.at(self_->clock().now()));
  if (left) {
    // A record that says nothing.
    unwritten_hosts_[*left] = record_of(*left, {});
    end_probe(*left);
  }
  unwritten_hosts_[record.host] = record;
  write_hosts();
}

/// One write at a time: what changes meanwhile shares the next.
void supervisor_state::write_hosts() {
  if (writing_hosts_ || unwritten_hosts_.empty())
    return;
  writing_hosts_ = true;
  record_batch batch;
  for (auto& [host, record] : std::exchange(unwritten_hosts_, {}))
    batch.records.emplace_back(std::move(record));
  self_->request(journal_, caf::infinite, std::move(batch))
    .then(
      [this](const recorded&) {
        writing_hosts_ = false;
        write_hosts();
      },
      // The daemon ends with its journal.
      [](caf::error&) { log::error("Host state is not written any more"); });
}

void supervisor_state::restore_host(const host_record& record) {
  const auto now = self_->clock().now();
  hosts_.remember(record.host, standing_of(record), options_.live.at(now));
  const bool may_be_tried
    = record.blocks > 0 && record.blocked_until <= options_.live.at(now);
  if (!may_be_tried || throttles_.contains(record.host))
    return;
  probes_[record.host] = {{}, first_probe_pause};
  probe_times_.arm(record.host.value, now);
}

// -- recovery -----------------------------------------------------------------

/// Who lives and names the host hears it now, and who has yet to say what he
/// names; the journal knows who sleeps.
void supervisor_state::start_recovery(const host_key& host) {
  auto hearers = loading_;
  if (const auto named = interest_.find(host); named != interest_.end())
    hearers.insert(named->second.begin(), named->second.end());
  for (const auto& repo : hearers)
    tell(identifiers_.at(repo), host_recovered{host});
  recovering_[host] = identifier{};
}

/// One page at a time, hosts in turn; no further than there is room to load.
void supervisor_state::continue_recovery() {
  const auto room = room_to_load();
  if (asking_interest_ || recovering_.empty() || room == 0
      || identifiers_.size() >= options_.max_awake)
    return;
  auto next = recovering_.upper_bound(last_recovering_);
  if (next == recovering_.end())
    next = recovering_.begin();
  last_recovering_ = next->first;
  asking_interest_ = true;
  self_
    ->request(journal_, caf::infinite,
              find_interested{next->first, next->second, room})
    .then(
      [this, host = next->first, after = next->second,
       room](const interested& page) {
        asking_interest_ = false;
        on_interested(host, after, page.repos, room);
        pump();
      },
      [this](caf::error&) { asking_interest_ = false; });
}

void supervisor_state::on_interested(const host_key& host,
                                     const identifier& after,
                                     const std::vector<identifier>& page,
                                     std::size_t limit) {
  for (const auto& repo : page)
    if (!stopping_ && !resting_.contains(repo))
      call(repo, host_recovered{host});
  // It may have recovered once more meanwhile.
  const auto i = recovering_.find(host);
  if (i == recovering_.end() || i->second != after)
    return;
  if (page.size() < limit)
    recovering_.erase(i);
  else
    i->second = page.back();
}

// -- probes -------------------------------------------------------------------

void supervisor_state::start_probe(const host_key& host) {
  if (probes_.emplace(host, probe{{}, first_probe_pause}).second)
    send_probe(host);
}

void supervisor_state::end_probe(const host_key& host) {
  probes_.erase(host);
  probe_times_.remove(host.value);
}

/// One identifier at a time is asked, in order of name: who lives and names the
/// host, or who sleeps and does so in the journal.
void supervisor_state::send_probe(const host_key& host) {
  const auto i = probes_.find(host);
  if (i == probes_.end())
    return;
  probe_times_.arm(host.value, self_->clock().now() + i->second.pause);
  i->second.pause = std::min(2 * i->second.pause, last_probe_pause);
  self_
    ->request(journal_, caf::infinite, find_interested{host, i->second.last, 1})
    .then(
      [this, host](const interested& page) {
        if (!stopping_)
          probe_next(host, page.repos);
        pump();
      },
      [](caf::error&) {});
}

void supervisor_state::probe_next(const host_key& host,
                                  std::vector<identifier> candidates) {
  const auto i = probes_.find(host);
  if (i == probes_.end())
    return;
  if (const auto named = interest_.find(host); named != interest_.end()) {
    const auto next = named->second.upper_bound(i->second.last);
    if (next != named->second.end())
      candidates.push_back(*next);
  }
  if (!candidates.empty()) {
    const auto chosen = *std::min_element(candidates.begin(), candidates.end());
    i->second.last = chosen;
    if (!resting_.contains(chosen))
      call(chosen, probe_host{host});
    return;
  }
  // All were asked: once more from the start. Nobody at all: no need.
  if (i->second.last.value.empty())
    end_probe(host);
  else
    i->second.last = identifier{};
}

} // namespace purgatory
