#pragma once

#include "actors/fetch_pool.hpp"
#include "actors/git_io.hpp"
#include "actors/identifier.hpp"
#include "actors/journal.hpp"
#include "actors/metrics.hpp"
#include "actors/supervisor.hpp"
#include "actors/throttle.hpp"
#include "actors/timer_wheel.hpp"
#include "tests/support/events.hpp"
#include "tests/support/memory_store.hpp"

#include <caf/actor_system.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

/// The whole engine with real actors in a world without threads, network and
/// disk: git servers, repositories, a relay and a journal of plain containers
/// on the simulated clock.
namespace purgatory::test {

/// How one git server behaves, and what an observer at its socket sees.
struct sim_host {
  std::set<oid> objects;
  duration latency = std::chrono::seconds(1);
  std::optional<fetch_class> failure; ///< Every job ends like this.
  std::uint32_t concurrent = 5;       ///< Limits that hold for it.
  std::uint32_t per_minute = 30;

  std::deque<time_point> starts; ///< All of them.
  int in_flight = 0;
  int max_in_flight = 0;
  std::map<unit_key, int> in_flight_of;
};

/// Shared by the fakes of one engine; one thread.
struct sim_world {
  explicit sim_world(std::uint64_t seed) : rng(seed) {}

  std::mt19937_64 rng;
  std::map<host_key, sim_host> hosts;
  std::map<tenant, std::map<oid, object_kind>> objects;
  std::map<tenant, std::map<std::string, oid>> refs;
  std::vector<event_id> released;
  std::vector<std::string> violations;
  bool jitter_delivery = false; ///< Random time between job and first send.

  void check(bool good, const std::string& what) {
    if (!good && violations.size() < 10)
      violations.push_back(what);
  }

  /// Jobs that run, by worker.
  std::map<caf::actor_id, std::pair<host_key, unit_key>> running;

  std::set<caf::actor_id> doomed; ///< Workers that are about to die.

  /// The worker's job is over, or its connection broke.
  void abandon(caf::actor_id worker) {
    if (auto node = running.extract(worker); !node.empty())
      ended(node.mapped().first, node.mapped().second);
  }

  void started(const host_key& host, const unit_key& who, time_point at) {
    auto& h = hosts[host];
    h.starts.push_back(at);
    h.max_in_flight = std::max(h.max_in_flight, ++h.in_flight);
    check(++h.in_flight_of[who] == 1, "two jobs of one unit at " + host.value);
    check(h.in_flight <= static_cast<int>(h.concurrent),
          "too many in flight at " + host.value);
    const auto in_window
      = std::count_if(h.starts.begin(), h.starts.end(), [at](time_point t) {
          return at - t < std::chrono::seconds(60);
        });
    check(in_window <= static_cast<std::ptrdiff_t>(h.per_minute),
          "too many starts in a minute at " + host.value);
  }

  void ended(const host_key& host, const unit_key& who) {
    auto& h = hosts[host];
    --h.in_flight;
    --h.in_flight_of[who];
  }

  std::size_t released_times(const event_id& id) const {
    return static_cast<std::size_t>(
      std::count(released.begin(), released.end(), id));
  }
};

using world_ptr = std::shared_ptr<sim_world>;

struct no_quarantine : quarantine {
  const std::string& directory() const override { return text; }
  std::string text;
};

/// Repositories as plain maps.
class sim_object_store : public object_store {
public:
  explicit sim_object_store(world_ptr world) : world_(std::move(world)) {}

  store_report create(const tenant&) override {
    return {store_result::done, {}, ""};
  }
  std::vector<object_kind> kinds(const tenant& repository,
                                 const std::vector<oid>& ids) override {
    auto& here = world_->objects[repository];
    std::vector<object_kind> result;
    for (const auto& id : ids)
      result.push_back(here.contains(id) ? here[id] : object_kind::absent);
    return result;
  }
  store_report promote(const tenant& repository, const quarantine&,
                       const std::vector<oid>& wants) override {
    for (const auto& id : wants)
      world_->objects[repository].try_emplace(id, object_kind::commit);
    return {store_result::done, {}, ""};
  }
  store_report copy(const tenant& repository, const tenant& from,
                    const std::vector<oid>& ids) override {
    for (const auto& id : ids)
      if (!world_->objects[from].contains(id))
        return {store_result::missing, {}, "object missing"};
    for (const auto& id : ids)
      world_->objects[repository][id] = world_->objects[from][id];
    return {store_result::done, {}, ""};
  }
  store_report align(const tenant& repository,
                     const git::desired_refs& wanted) override {
    auto& here = world_->objects[repository];
    for (const auto& [name, target] : wanted.refs)
      world_->check(here.contains(target), "ref without object");
    world_->refs[repository] = wanted.refs;
    return {store_result::done, {}, ""};
  }
  store_report set_pr_ref(const tenant& repository, const event_id& pr,
                          const oid& tip) override {
    world_->check(world_->objects[repository].contains(tip),
                  "PR ref without object");
    world_->refs[repository]["refs/nostr/" + pr.value] = tip;
    return {store_result::done, {}, ""};
  }
  std::size_t remove_stale_quarantines() override { return 0; }

private:
  world_ptr world_;
};

struct sim_worker_state {
  static inline const char* name = "sim_worker";
  explicit sim_worker_state(fetch_worker_actor::pointer) {}
};

/// A worker whose job takes simulated time. `self_sink` paces it.
using sim_step
  = caf::typed_actor<caf::replies_to<fetch_job>::with<fetch_outcome>,
                     caf::reacts_to<backoff_tick>>;

struct sim_step_state {
  static inline const char* name = "sim_worker";
  explicit sim_step_state(sim_step::pointer) {}
  std::optional<fetch_job> job;
  caf::typed_response_promise<fetch_outcome> owed;
  bool sent = false;
};

inline host_key host_of(const remote_url& url) {
  const auto parsed = git::parse_clone_url(url.value);
  return std::get<git::clone_url>(parsed).host;
}

/// Waits, sends its first request, waits again, answers.
inline sim_step::behavior_type
sim_worker(sim_step::stateful_pointer<sim_step_state> self, world_ptr world,
           started_sink pool) {
  return {
    [self, world](fetch_job& job) -> caf::result<fetch_outcome> {
      auto& st = self->state;
      st.job = std::move(job);
      st.sent = false;
      st.owed = self->make_response_promise<fetch_outcome>();
      const auto wait = world->jitter_delivery
                          ? std::chrono::milliseconds(world->rng() % 300)
                          : std::chrono::milliseconds(0);
      self->delayed_send(self, wait, backoff_tick{0});
      return st.owed;
    },
    [self, world, pool](const backoff_tick&) {
      auto& st = self->state;
      if (!st.job || world->doomed.contains(self->id()))
        return;
      const auto host = host_of(st.job->order.url);
      const unit_key who{st.job->order.target.owner, st.job->order.target.repo};
      auto& h = world->hosts[host];
      if (!st.sent) {
        st.sent = true;
        world->started(host, who, self->clock().now());
        world->running[self->id()] = {host, who};
        self->send(pool, fetch_started{st.job->lease, self->clock().now()});
        self->delayed_send(self, h.latency, backoff_tick{1});
        return;
      }
      world->abandon(self->id());
      fetch_outcome result;
      result.wire_requests = 2;
      for (const auto& want : st.job->order.wants)
        (h.objects.contains(want) ? result.got : result.missing)
          .push_back(want);
      if (h.failure) {
        result.outcome = *h.failure;
        result.got.clear();
      } else {
        result.outcome
          = result.got.empty() ? fetch_class::not_here : fetch_class::ok;
      }
      if (!result.got.empty())
        result.pack = std::make_shared<no_quarantine>();
      st.job.reset();
      st.owed.deliver(std::move(result));
    }};
}

struct sim_relay_state {
  static inline const char* name = "sim_relay";
  explicit sim_relay_state(relay_link_actor::pointer) {}
};

inline relay_link_actor::behavior_type
sim_relay(relay_link_actor::stateful_pointer<sim_relay_state>,
          world_ptr world) {
  return {[world](const publish& m) {
    world->released.push_back(m.event.id);
    return published{m.event.id, publish_outcome::released, ""};
  }};
}

/// The running engine.
struct sim_engine {
  std::shared_ptr<memory_store> store;
  journal_actor journal_part;
  metrics_actor metrics_part;
  timer_wheel_actor wheel;
  git_actor git_part;
  fetch_pool_actor pool;
  relay_link_actor relay;
  supervisor_actor supervisor_part;
  std::shared_ptr<std::vector<identifier_actor>> identifiers
    = std::make_shared<std::vector<identifier_actor>>();
  std::shared_ptr<std::vector<throttle_actor>> throttles
    = std::make_shared<std::vector<throttle_actor>>();
  std::shared_ptr<std::vector<fetch_worker_actor>> workers
    = std::make_shared<std::vector<fetch_worker_actor>>();
};

/// Spawns everything; `track` is the fixture's, for a clean end.
template <class Fixture>
sim_engine start_engine(Fixture& f, world_ptr world, git::plan_settings plan,
                        memory_image image = {}, std::size_t max_workers = 128,
                        engine::start_limits limits = {},
                        std::optional<time_point> quiet_until = {}) {
  auto& sys = f.sys;
  sim_engine e;
  e.store = std::make_shared<memory_store>(std::move(image));
  const live_clock live{f.now(), e.store->last_run().live};
  e.journal_part
    = f.track(sys.spawn(journal, std::shared_ptr<event_store>(e.store), live));
  e.metrics_part = f.track(sys.spawn(metrics));
  e.wheel = f.track(sys.spawn(timer_wheel));
  e.git_part = f.track(sys.spawn(git_io, std::size_t{2}, [&f, &sys, world] {
    return f.track(
      sys.spawn(git_worker, std::shared_ptr<object_store>(
                              std::make_shared<sim_object_store>(world))));
  }));
  e.pool
    = f.track(sys.spawn(fetch_pool, engine::board_limits{max_workers},
                        [&f, &sys, world, all = e.workers](started_sink sink) {
                          auto worker = fetch_worker_actor{f.track(
                            sys.spawn(sim_worker, world, std::move(sink)))};
                          all->push_back(worker);
                          return worker;
                        }));
  e.relay = f.track(sys.spawn(sim_relay, world));
  const auto wall = [&f] {
    return std::chrono::duration_cast<std::chrono::seconds>(
             f.now().time_since_epoch())
             .count()
           + 1'000'000'000;
  };
  const identifier_config shared{plan, wall, 1, live};
  supervisor_factories make;
  make.make_identifier = [&f, &sys, e, shared](const supervisor_actor& parent,
                                               const identifier& repo,
                                               const git::plan_settings& now) {
    auto config = shared;
    config.plan = now;
    auto actor
      = f.track(sys.spawn(identifier_shell, repo,
                          identifier_doors{parent, e.pool, e.journal_part,
                                           e.relay, e.wheel, e.metrics_part},
                          config));
    e.identifiers->push_back(actor);
    return actor;
  };
  make.make_throttle = [&f, &sys, e, live](const host_news_sink& news,
                                           const throttle_order& order) {
    throttle_config cfg;
    cfg.host = order.host;
    cfg.serial = order.serial;
    cfg.limits = order.limits;
    cfg.news = news;
    cfg.known = order.known;
    cfg.live = live;
    auto actor = f.track(sys.spawn(throttle, cfg, e.pool));
    e.throttles->push_back(actor);
    return actor;
  };
  make.make_repository = [&f, &sys, e](const tenant& which) {
    return f.track(sys.spawn(repository, which, e.git_part));
  };
  supervisor_options options;
  options.limits = limits;
  options.quiet_until = quiet_until;
  options.plan = std::move(plan);
  options.live = live;
  e.supervisor_part = f.track(
    sys.spawn(supervisor, std::move(make), e.pool, e.journal_part, options));
  return e;
}

/// The process is killed: nothing is written any more.
template <class Fixture>
void stop_engine(Fixture& f, const sim_engine& e) {
  const auto end = [](const auto& part) {
    caf::anon_send_exit(part, caf::exit_reason::user_shutdown);
  };
  end(e.journal_part);
  end(e.supervisor_part);
  end(e.pool);
  end(e.git_part);
  end(e.relay);
  end(e.wheel);
  end(e.metrics_part);
  f.settle();
}

} // namespace purgatory::test
