#define CAF_SUITE throttle_chaos
#include "actors/throttle.hpp"
#include "tests/support/deterministic.hpp"
#include "tests/support/seed.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

using namespace purgatory;
using namespace std::chrono_literals;

namespace {

/// Identifiers that answer at random and die at random, a pool that starts and
/// ends jobs at random; the test watches what a server would see.
struct chaos : purgatory::test::random_schedule {
  fetch_pool_actor pool;
  throttle_actor domain;
  std::map<lease_id, url_ready> jobs; ///< Given to the pool, not ended.
  std::set<lease_id> sent;
  std::set<lease_id> reclaimed;
  std::vector<clock_time> sends;
  std::vector<grant_sink> holders;

  explicit chaos(std::uint64_t seed) : random_schedule(seed) {
    pool = track(
      sys.spawn([this](fetch_pool_actor::pointer) { return pool_behavior(); }));
    domain = track(
      sys.spawn(throttle, throttle_config{host_key{"h"}, 1, 3, 6}, pool));
    caf::anon_send(domain, throttle_seed{});
    for (int i = 0; i < 4; ++i)
      holders.push_back(new_holder());
    settle();
  }

  fetch_pool_actor::behavior_type pool_behavior() {
    return {
      [this](const fetch_request& wanted, const completion_sink&) {
        if (!reclaimed.contains(wanted.lease))
          jobs[wanted.lease]
            = {wanted.who, wanted.order.url, wanted.host, wanted.lease};
      },
      [](const fetch_started&) {},
      [](const fetch_moving&) {},
      [](const adopt_throttle&, const throttle_actor&) {},
      [this](const reclaim& lost) {
        if (jobs.contains(lost.lease))
          return reclaim_answer{lost.lease, reclaim_outcome::running};
        reclaimed.insert(lost.lease);
        return reclaim_answer{lost.lease, reclaim_outcome::reclaimed};
      },
      [](const backoff_tick&) {},
      [](const drain&) { return drained{}; },
    };
  }

  grant_sink new_holder() {
    return track(sys.spawn([this](grant_sink::pointer me) {
      return grant_sink::behavior_type{
        [this, me](const url_ready& grant) { on_grant(me, grant); }};
    }));
  }

  void on_grant(grant_sink::pointer me, const url_ready& grant) {
    const auto decision = static_cast<grant_decision>(rng() % 3);
    me->send(domain, grant_answer{grant.lease, decision});
    if (decision == grant_decision::start)
      me->send(
        pool,
        fetch_request{grant.lease, grant.who, grant.host, {grant.url, {}, {}}},
        completion_sink{});
    if (rng() % 8 == 0)
      me->quit(caf::exit_reason::unhandled_exception);
  }

  /// The outside world does something.
  void disturb() {
    switch (rng() % 4) {
    case 0:
    case 1: {
      auto& sink = holders[rng() % holders.size()];
      if (rng() % 16 == 0)
        sink = new_holder();
      const unit_key who{pubkey{std::to_string(rng() % 3)},
                         identifier{std::to_string(rng() % 8)}};
      // Asked without waiting: a grant in the answer would be lost, so the
      // sink asks through an actor of its own.
      sys.spawn([this, who, sink](caf::event_based_actor* asker) {
        asker
          ->request(domain, caf::infinite, enqueue{who, {}, lane::fresh}, sink)
          .then(
            [asker, sink](const enqueue_answer& answer) {
              if (answer.outcome == enqueue_outcome::granted)
                asker->send(sink, answer.grant);
            },
            [](const caf::error&) {});
      });
      return;
    }
    case 2:
      return start_some();
    default:
      return end_some();
    }
  }

  void start_some() {
    for (const auto& [lease, job] : jobs)
      if (!sent.contains(lease) && rng() % 2 == 0) {
        sent.insert(lease);
        sends.push_back(now());
        caf::anon_send(domain, fetch_started{lease, now()});
      }
  }

  void end_some() {
    std::erase_if(jobs, [this](const auto& entry) {
      if (rng() % 2 != 0)
        return false;
      const auto& job = entry.second;
      caf::anon_send(
        domain, request_complete{job.lease, job.who, job.host, job.url, {}});
      return true;
    });
  }

  void check() {
    // Plain branches: a CAF_CHECK would write a line for every step.
    if (jobs.size() > 3)
      CAF_FAIL("more than three jobs at once");
    std::ptrdiff_t recent = 0;
    for (auto at = sends.rbegin(); at != sends.rend() && *at + 60s > now();
         ++at)
      ++recent;
    if (recent > 6)
      CAF_FAIL("more than six starts in a minute");
    const auto problem = state_of<throttle_state>(domain).check_invariants();
    if (!problem.empty())
      CAF_FAIL(problem);
  }
};

} // namespace

CAF_TEST(limits hold and nobody is lost in random schedules with deaths) {
  const auto first = purgatory::test::first_seed();
  constexpr std::uint64_t seeds = 300;
  std::size_t sends = 0;
  for (auto seed = first; seed < first + seeds; ++seed) {
    CAF_MESSAGE("seed " << seed);
    chaos world{seed};
    for (int minute = 0; minute < 10; ++minute) {
      for (int i = 0; i < 6; ++i)
        world.disturb();
      world.explore(
        1min, [&] { world.disturb(); }, [&] { world.check(); });
    }
    sends += world.sends.size();
    // Whatever happened: once the pool is empty, a newcomer has its turn.
    const auto newcomer = world.new_holder();
    world.holders = {newcomer};
    for (int i = 0; i < 100; ++i) {
      world.end_some();
      world.advance(1min);
    }
    const auto left = world.ask<throttle_report>(world.domain, describe{});
    if (left.leases != 0)
      CAF_FAIL("seed " << seed << ": " << left.leases << " leases are lost");
  }
  CAF_CHECK_GREATER(sends, seeds);
}
