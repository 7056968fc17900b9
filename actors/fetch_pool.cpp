#include "actors/fetch_pool.hpp"

#include "actors/harden.hpp"

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

void start_jobs(pool_self self);

void answer_drains(pool_self self) {
  auto& state = self->state;
  if (!state.jobs.empty())
    return;
  for (auto& promise : state.drains)
    promise.deliver(drained{state.cancelled});
  state.drains.clear();
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
  if (ended.worker && worker_is_fine) {
    state.crew.put_back(*ended.worker);
  } else if (ended.worker) {
    state.crew.dismiss(ended.worker->address());
    self->send_exit(*ended.worker, caf::exit_reason::user_shutdown);
  }
  auto done = completion(ended.request, std::move(result));
  tell_throttle(self, done);
  self->send(ended.sink, std::move(done));
}

void hand_over(pool_self self, lease_id lease, const fetch_worker_actor& to) {
  auto& work = self->state.jobs.at(lease);
  work.worker = to;
  self
    ->request(to, caf::infinite,
              fetch_job{lease, work.request.order, work.cancel})
    .then(
      [self, lease](fetch_outcome& result) {
        end_job(self, lease, std::move(result), true);
        start_jobs(self);
      },
      [self, lease](caf::error& problem) {
        end_job(self, lease, internal_failure(self->system().render(problem)),
                false);
        start_jobs(self);
      });
}

void start_jobs(pool_self self) {
  auto& state = self->state;
  while (!state.queue.empty()) {
    const auto lease = state.queue.front();
    if (state.jobs.contains(lease)) {
      const auto worker = state.crew.take(
        [self](const fetch_worker_actor& fresh) { self->monitor(fresh); });
      if (!worker)
        break;
      hand_over(self, lease, *worker);
    }
    state.queue.pop_front();
  }
  answer_drains(self);
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
  start_jobs(self);
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
  state.jobs.emplace(lease, job{std::move(request), std::move(sink),
                                std::make_shared<std::atomic<bool>>(false),
                                std::nullopt, std::nullopt});
  if (state.draining) {
    end_job(self, lease, internal_failure("draining"), true);
    return;
  }
  state.queue.push_back(lease);
  start_jobs(self);
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
  answer_drains(self);
  return {lease, reclaim_outcome::reclaimed};
}

void begin_drain(pool_self self, duration grace) {
  auto& state = self->state;
  if (!std::exchange(state.draining, true)) {
    for (const auto lease : std::exchange(state.queue, {}))
      end_job(self, lease, internal_failure("draining"), true);
    self->delayed_send(self, grace, backoff_tick{++state.grace_generation});
  }
  answer_drains(self);
}

void cancel_all(pool_self self) {
  for (auto& [lease, work] : self->state.jobs)
    if (!work.cancel->exchange(true))
      ++self->state.cancelled;
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
           std::size_t size, fetch_worker_factory make_worker) {
  harden(self);
  self->state.crew = {size, [self, make = std::move(make_worker)] {
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
    [=](const adopt_throttle& adopted, throttle_actor& throttle) {
      self->send(throttle, seed_for(self, adopted));
      self->state.throttles.insert_or_assign(
        adopted.host,
        fetch_pool_state::known_throttle{adopted.serial, throttle});
    },
    [=](const reclaim& order) { return take_back(self, order.lease); },
    [=](const backoff_tick& tick) {
      if (tick.generation == self->state.grace_generation)
        cancel_all(self);
    },
    [=](const drain& order) {
      auto promise = self->make_response_promise<drained>();
      self->state.drains.push_back(promise);
      begin_drain(self, order.grace);
      return promise;
    },
  };
}

} // namespace purgatory
