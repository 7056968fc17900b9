#include "actors/fetch_pool.hpp"

#include "actors/harden.hpp"
#include "libsync/git/address_prefix.hpp"

#include <caf/actor_system.hpp>

#include <chrono>
#include <utility>

namespace purgatory {

namespace {

using pool_self = fetch_pool_actor::stateful_pointer<fetch_pool_state>;
using job = fetch_pool_state::job;

/// A minute's window plus a second for late arrival (rules §8.2).
constexpr auto start_memory = std::chrono::seconds{61};

fetch_outcome internal_failure(std::string detail) {
  fetch_outcome result;
  result.detail = std::move(detail);
  return result;
}

request_complete completion(const fetch_request& request,
                            fetch_outcome result) {
  return {request.lease, request.who, request.host, request.order.url,
          std::move(result)};
}

void tell_throttle(pool_self self, request_complete done) {
  const auto found = self->state.throttles.find(done.host);
  if (found == self->state.throttles.end())
    return;
  done.result.pack = nullptr;
  self->send(found->second.handle, std::move(done));
}

void carry_out(pool_self self, const engine::board_orders& orders);

void answer_drains(pool_self self) {
  auto& state = self->state;
  if (!state.jobs.empty())
    return;
  for (auto& promise : state.drains)
    promise.deliver(drained{state.cancelled});
  state.drains.clear();
}

/// What is told of a job that gave its worker back because others need it.
void blame_slowness(fetch_outcome& result) {
  if (result.outcome != fetch_class::internal)
    return;
  result.outcome = fetch_class::timeout;
  result.detail = "cancelled: slow jobs may not hold more workers";
}

/// The one end of a lease. Nothing is left to do when it has ended before: an
/// error reply and the death of the worker tell the same story twice.
void end_job(pool_self self, lease_id lease, fetch_outcome result,
             bool worker_is_fine) {
  auto& state = self->state;
  const auto found = state.jobs.find(lease);
  if (found == state.jobs.end())
    return;
  const auto ended = std::move(found->second);
  state.jobs.erase(found);
  state.spent.add(lease);
  if (worker_is_fine && state.board->is_cancelled(lease))
    blame_slowness(result);
  const auto orders = state.board->end(lease, self->clock().now(),
                                       git::address_prefix(result.peer));
  if (ended.worker && worker_is_fine) {
    state.crew.put_back(*ended.worker);
  } else if (ended.worker) {
    state.crew.dismiss(ended.worker->address());
    self->send_exit(*ended.worker, caf::exit_reason::user_shutdown);
  }
  auto done = completion(ended.request, std::move(result));
  tell_throttle(self, done);
  self->send(ended.sink, std::move(done));
  carry_out(self, orders);
  answer_drains(self);
}

/// The board starts no more jobs than there are workers.
void hand_over(pool_self self, lease_id lease) {
  auto& work = self->state.jobs.at(lease);
  work.worker = self->state.crew.take(
    [self](const fetch_worker_actor& fresh) { self->monitor(fresh); });
  self
    ->request(work.worker.value(), caf::infinite,
              fetch_job{lease, work.request.order, work.cancel})
    .then(
      [self, lease](fetch_outcome& result) {
        end_job(self, lease, std::move(result), true);
      },
      [self, lease](caf::error& problem) {
        end_job(self, lease, internal_failure(self->system().render(problem)),
                false);
      });
}

void arm(pool_self self, std::optional<time_point> wake) {
  auto& state = self->state;
  // Jobs grow old in the order of their start: a timer that runs is early
  // enough.
  if (!wake || state.look)
    return;
  state.look = state.next_timer++;
  self->delayed_send(self, *wake - self->clock().now(),
                     backoff_tick{*state.look});
}

void carry_out(pool_self self, const engine::board_orders& orders) {
  for (const auto lease : orders.cancel)
    self->state.jobs.at(lease).cancel->store(true);
  for (const auto lease : orders.start)
    hand_over(self, lease);
  arm(self, orders.wake);
}

void on_worker_down(pool_self self, const caf::down_msg& down) {
  auto& state = self->state;
  state.crew.dismiss(down.source);
  std::optional<lease_id> orphaned;
  for (const auto& [lease, work] : state.jobs)
    if (work.worker && work.worker->address() == down.source)
      orphaned = lease;
  if (orphaned)
    end_job(self, *orphaned,
            internal_failure("fetch worker died: "
                             + self->system().render(down.reason)),
            false);
}

void accept(pool_self self, fetch_request& request, completion_sink& sink) {
  auto& state = self->state;
  const auto lease = request.lease;
  const auto found = state.throttles.find(request.host);
  const auto granted_here = found != state.throttles.end()
                            && found->second.serial == throttle_serial(lease);
  if (!granted_here || state.jobs.contains(lease)
      || state.spent.contains(lease)) {
    self->send(sink, completion(request, internal_failure("lease refused")));
    return;
  }
  const auto host = request.host;
  state.jobs.emplace(lease, job{std::move(request), std::move(sink),
                                std::make_shared<std::atomic<bool>>(false)});
  if (state.draining)
    end_job(self, lease, internal_failure("draining"), true);
  else
    carry_out(self, state.board->add(lease, host, self->clock().now()));
}

void note_start(pool_self self, const fetch_started& start) {
  auto& state = self->state;
  const auto found = state.jobs.find(start.lease);
  if (found == state.jobs.end())
    return;
  auto& work = found->second;
  work.started = start.at;
  auto& recent = state.recent_starts;
  while (!recent.empty()
         && *recent.front().lease.started + start_memory < start.at)
    recent.pop_front();
  recent.push_back(
    {work.request.host, {start.lease, work.request.who, false, start.at}});
  const auto throttle = state.throttles.find(work.request.host);
  if (throttle != state.throttles.end())
    self->send(throttle->second.handle, start);
}

void note_moving(pool_self self, const fetch_moving& news) {
  const auto found = self->state.jobs.find(news.lease);
  if (found != self->state.jobs.end())
    self->send(found->second.sink, news);
}

throttle_seed seed_for(pool_self self, const adopt_throttle& adopted) {
  const auto& state = self->state;
  const auto since = self->clock().now() - start_memory;
  throttle_seed seed;
  seed.quiet_until = adopted.quiet_until;
  for (const auto& [lease, work] : state.jobs)
    if (work.request.host == adopted.host)
      seed.leases.push_back({lease, work.request.who, true, work.started});
  for (const auto& start : state.recent_starts)
    if (start.host == adopted.host && *start.lease.started >= since
        && !state.jobs.contains(start.lease.lease))
      seed.leases.push_back(start.lease);
  return seed;
}

reclaim_answer take_back(pool_self self, lease_id lease) {
  auto& state = self->state;
  const auto found = state.jobs.find(lease);
  if (found != state.jobs.end() && found->second.worker)
    return {lease, reclaim_outcome::running};
  if (found != state.jobs.end())
    state.jobs.erase(found);
  state.spent.add(lease);
  carry_out(self, state.board->end(lease, self->clock().now()));
  answer_drains(self);
  return {lease, reclaim_outcome::reclaimed};
}

void begin_drain(pool_self self, duration grace) {
  auto& state = self->state;
  if (!std::exchange(state.draining, true)) {
    for (const auto lease : state.board->give_up_waiting())
      end_job(self, lease, internal_failure("draining"), true);
    state.grace = state.next_timer++;
    self->delayed_send(self, grace, backoff_tick{*state.grace});
  }
  answer_drains(self);
}

void cancel_all(pool_self self) {
  for (auto& [lease, work] : self->state.jobs)
    if (!work.cancel->exchange(true))
      ++self->state.cancelled;
}

void on_tick(pool_self self, std::uint64_t timer) {
  auto& state = self->state;
  if (timer == state.grace)
    cancel_all(self);
  if (timer != state.look)
    return;
  state.look.reset();
  carry_out(self, state.board->tick(self->clock().now()));
}

void stop(pool_self self, const caf::exit_msg& why) {
  cancel_all(self);
  for (const auto& worker : self->state.crew.all())
    self->send_exit(worker, why.reason);
  self->quit(why.reason);
}

} // namespace

fetch_pool_actor::behavior_type
fetch_pool(fetch_pool_actor::stateful_pointer<fetch_pool_state> self,
           engine::board_limits limits, fetch_worker_factory make_worker) {
  harden(self);
  self->state.board.emplace(limits);
  self->state.crew = {limits.workers, [self, make = std::move(make_worker)] {
                        return make(started_sink{self});
                      }};
  self->set_down_handler(
    [self](caf::down_msg& down) { on_worker_down(self, down); });
  self->set_exit_handler([self](caf::exit_msg& why) { stop(self, why); });
  return {
    [=](fetch_request& request, completion_sink& sink) {
      accept(self, request, sink);
    },
    [=](const fetch_started& start) { note_start(self, start); },
    [=](const fetch_moving& news) { note_moving(self, news); },
    [=](const adopt_throttle& adopted, throttle_actor& throttle) {
      self->send(throttle, seed_for(self, adopted));
      self->state.throttles.insert_or_assign(
        adopted.host,
        fetch_pool_state::known_throttle{adopted.serial, throttle});
    },
    [=](const reclaim& order) { return take_back(self, order.lease); },
    [=](const backoff_tick& tick) { on_tick(self, tick.generation); },
    [=](const drain& order) {
      auto promise = self->make_response_promise<drained>();
      self->state.drains.push_back(promise);
      begin_drain(self, order.grace);
      return promise;
    },
  };
}

} // namespace purgatory
