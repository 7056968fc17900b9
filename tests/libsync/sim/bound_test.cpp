#define CAF_SUITE sim_bound

#include "libsync/sim/bound.hpp"
#include "libsync/sim/run.hpp"
#include "tests/libsync/sim/small_worlds.hpp"

#include <caf/test/dsl.hpp>

#include <algorithm>

using namespace purgatory;
using namespace purgatory::sim;
using namespace purgatory::test;
using std::chrono::hours;

namespace {

/// Judges a world whose events were all offered at its begin.
struct judged {
  explicit judged(const world& what) : after(what) {
    std::map<event_id, time_point> offered;
    std::map<event_id, provenance> from;
    const auto say = [&](const nostr::event& ev) {
      after.claims.add(ev);
      offered.emplace(ev.id, scene::begin);
      from.emplace(ev.id, provenance::sync);
    };
    for (const auto& each : what.script) {
      if (const auto* a = std::get_if<announce>(&each.what))
        say(to_event(*a, scene::wall_begin));
      if (const auto* s = std::get_if<push_state>(&each.what))
        say(to_event(*s, scene::wall_begin));
    }
    after.now = after.at(what.length);
    all = judge(after, offered, from);
  }

  /// In milliseconds since the begin, sorted.
  std::vector<std::int64_t> earliest() const {
    std::vector<std::int64_t> result;
    for (const auto& each : all)
      result.push_back(
        std::chrono::duration_cast<milliseconds>(each.earliest - scene::begin)
          .count());
    std::sort(result.begin(), result.end());
    return result;
  }

  scene after;
  std::vector<possibility> all;
};

world with_units(std::size_t count, const engine::start_limits& limits) {
  auto what = exact_world();
  what.daemon.limits = limits;
  add_units(what, count);
  return what;
}

} // namespace

CAF_TEST(the bound is the queue of one host in order) {
  const judged found{with_units(3, {1, 2, 0, 0})};
  CAF_CHECK(found.earliest() == std::vector<std::int64_t>{1500, 2500, 61'700});
}

CAF_TEST(a hidden limit bounds like our own) {
  auto what = with_units(3, {9, 30, 0, 0});
  what.hosts["a.example"].limits = {{milliseconds{0}, 1, false}};
  const judged found{what};
  CAF_CHECK(found.earliest()
            == std::vector<std::int64_t>{1500, 61'700, 121'900});
}

CAF_TEST(outages move the bound) {
  auto what = with_units(1, {});
  what.hosts["a.example"].down
    = {{milliseconds{0}, milliseconds{10'000}, fetch_class::dns}};
  const judged found{what};
  CAF_CHECK(found.earliest() == std::vector<std::int64_t>{11'000});
  CAF_CHECK(found.all.front().is_reachable);
}

CAF_TEST(a short stretch is not reachable) {
  auto what = with_units(1, {});
  what.length = hours{10};
  auto& down = what.hosts["a.example"].down;
  down = {{milliseconds{0}, hours{2}, fetch_class::dns},
          {hours{2} + milliseconds{30 * 60'000}, hours{11}, fetch_class::dns}};
  CAF_CHECK(!judged{what}.all.front().is_reachable);
  down[1].from = hours{3};
  CAF_CHECK(judged{what}.all.front().is_reachable);
}

CAF_TEST(what is nowhere is not reachable) {
  auto what = with_units(1, {});
  what.contents.clear();
  CAF_CHECK(!judged{what}.all.front().is_reachable);
}

CAF_TEST(fewest starts skip hosts that are down) {
  auto what = exact_world();
  what.hosts["a.example"] = exact_host();
  what.hosts["b.example"] = exact_host();
  what.hosts["c.example"] = exact_host();
  what.hosts["a.example"].down
    = {{milliseconds{0}, hours{1}, fetch_class::dns}};
  add_unit(what, "alice",
           {"https://a.example/x.git", "https://b.example/x.git",
            "https://c.example/x.git"});
  hold(what, "https://c.example/x.git", {"alice/main"});
  const judged found{what};
  CAF_CHECK_EQUAL(found.all.front().starts, 2u);
}
