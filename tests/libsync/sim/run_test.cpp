#define CAF_SUITE sim_run

#include "libsync/sim/generate.hpp"
#include "libsync/sim/run.hpp"
#include "tests/libsync/sim/small_worlds.hpp"

#include <caf/test/dsl.hpp>

#include <optional>

using namespace purgatory;
using namespace purgatory::sim;
using namespace purgatory::test;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

/// When `name` was at the relay, in milliseconds; nothing: never.
std::optional<std::int64_t> released_ms(const summary& of,
                                        const std::string& name) {
  const auto i = of.released_at.find(name);
  if (i == of.released_at.end())
    return std::nullopt;
  return std::chrono::duration_cast<milliseconds>(i->second).count();
}

std::string url(const std::string& host, const std::string& path) {
  return "https://" + host + ".example/" + path + ".git";
}

void check_clean(const summary& of) {
  CAF_CHECK_EQUAL(of.violation_count, 0u);
  for (const auto& each : of.violations)
    CAF_MESSAGE(each.what);
}

} // namespace

CAF_TEST(one unit is released a second after its debounce) {
  auto what = exact_world();
  what.hosts["a.example"] = exact_host();
  add_unit(what, "alice", {url("a", "x")});
  hold(what, url("a", "x"), {"alice/main"});
  const auto found = run(what);
  CAF_CHECK(released_ms(found, "alice.state") == 1500);
  CAF_CHECK_EQUAL(found.announcements, 1u);
  CAF_CHECK_EQUAL(found.starts, 1u);
  CAF_CHECK(found.lag.max == duration::zero());
  check_clean(found);
}

CAF_TEST(slots and the minute window decide who is released when) {
  auto what = exact_world();
  what.hosts["a.example"] = exact_host();
  what.daemon.limits = {1, 2, 0, 0};
  for (const auto* who : {"alice", "bob", "carol"}) {
    add_unit(what, who, {url("a", who)});
    hold(what, url("a", who), {std::string{who} + "/main"});
  }
  const auto found = run(what);
  // One slot: the second waits for the first. Two starts a minute: the third
  // waits until the first is 60.2 s old.
  CAF_CHECK(released_ms(found, "alice.state") == 1500);
  CAF_CHECK(released_ms(found, "bob.state") == 2500);
  CAF_CHECK(released_ms(found, "carol.state") == 500 + 60'200 + 1000);
  check_clean(found);
}

CAF_TEST(the next url is asked after the first had nothing) {
  auto what = exact_world();
  what.hosts["a.example"] = exact_host();
  what.hosts["b.example"] = exact_host();
  add_unit(what, "alice", {url("a", "x"), url("b", "x")});
  hold(what, url("b", "x"), {"alice/main"});
  const auto found = run(what);
  CAF_CHECK(released_ms(found, "alice.state") == 2500);
  CAF_CHECK_EQUAL(found.starts, 2u);
  CAF_CHECK_EQUAL(found.starts_clairvoyant, 2u);
  CAF_CHECK_EQUAL(found.starts_useless, 0u);
  check_clean(found);
}

CAF_TEST(backoff follows a round that found nothing) {
  auto what = exact_world();
  what.hosts["a.example"] = exact_host();
  add_unit(what, "alice", {url("a", "x")});
  // There from 30 s on: asked at 0.5 s, at 1.5 + 20 -> 22 s, at 23 + 40 s.
  hold(what, url("a", "x"), {"alice/main"}, milliseconds{30'000});
  const auto found = run(what);
  CAF_CHECK(released_ms(found, "alice.state") == 64'000);
  check_clean(found);
}

CAF_TEST(a direct event waits three minutes for its push) {
  auto what = exact_world();
  what.hosts["a.example"] = exact_host();
  add_unit(what, "alice", {url("a", "x")});
  std::get<push_state>(what.script[1].what).from = provenance::direct;
  what.script.push_back(
    {milliseconds{100'000}, push{"alice", "repo-of-alice", {"alice/main"}}});
  const auto found = run(what);
  CAF_CHECK(released_ms(found, "alice.state") == 100'000);
  CAF_CHECK_EQUAL(found.starts, 0u);
  check_clean(found);
}

CAF_TEST(what is taken back is not released) {
  auto what = exact_world();
  what.hosts["a.example"] = exact_host();
  add_unit(what, "alice", {url("a", "x")});
  hold(what, url("a", "x"), {"alice/main"}, milliseconds{30'000});
  what.script.push_back({milliseconds{10'000},
                         take_back{"alice", "repo-of-alice", {"alice.state"}}});
  const auto found = run(what);
  CAF_CHECK(!released_ms(found, "alice.state"));
  check_clean(found);
}

CAF_TEST(a pull request brings its own url) {
  auto what = exact_world();
  what.hosts["a.example"] = exact_host();
  what.hosts["b.example"] = exact_host();
  add_unit(what, "alice", {url("a", "x")});
  hold(what, url("a", "x"), {"alice/main"});
  hold(what, url("b", "fork"), {"tip"});
  propose said{"pr",
               "carol",
               "alice",
               "repo-of-alice",
               "tip",
               {url("b", "fork")},
               provenance::sync,
               seconds{0}};
  what.script.push_back({milliseconds{10'000}, said});
  const auto found = run(what);
  CAF_REQUIRE(released_ms(found, "pr"));
  // Asked at the owner's server, too, where it is not.
  CAF_CHECK(*released_ms(found, "pr") <= 12'500);
  check_clean(found);
}

CAF_TEST(a host that is down for two days costs nothing but time) {
  auto what = exact_world();
  what.length = hours{72};
  auto host = exact_host();
  host.down = {{milliseconds{0}, hours{48}, fetch_class::refused}};
  what.hosts["a.example"] = host;
  for (const auto* who : {"alice", "bob", "carol", "dave"}) {
    add_unit(what, who, {url("a", who)});
    hold(what, url("a", who), {std::string{who} + "/main"});
  }
  const auto found = run(what);
  CAF_CHECK_EQUAL(found.reachable, 4u);
  CAF_CHECK_EQUAL(found.reached, 4u);
  check_clean(found);
}

CAF_TEST(what is nowhere is given up after a week) {
  auto what = exact_world();
  what.length = hours{24 * 10};
  what.hosts["a.example"] = exact_host();
  add_unit(what, "alice", {url("a", "x")});
  const auto found = run(what);
  CAF_CHECK_EQUAL(found.verdicts, 1u);
  CAF_CHECK_EQUAL(found.reachable, 0u);
  check_clean(found);
}

CAF_TEST(equal worlds have equal traces and others do not ) {
  random_options options;
  options.units = 12;
  options.days = 1;
  const auto what = generate_random(options);
  const auto first = run(what);
  const auto second = run(what);
  CAF_CHECK_EQUAL(first.trace, second.trace);
  CAF_CHECK_EQUAL(to_json(first), to_json(second));
  auto other = what;
  other.seed = 2;
  CAF_CHECK_NOT_EQUAL(run(other).trace, first.trace);
}

CAF_TEST(time in which the process is down does not count) {
  auto what = exact_world();
  what.length = hours{24 * 12};
  what.hosts["a.example"] = exact_host();
  add_unit(what, "alice", {url("a", "x")});
  // Down for six days of the first seven: the verdict comes no earlier than
  // seven days of running.
  what.script.push_back(
    {milliseconds{hours{12}}, crash{hours{24 * 6}, 0, true}});
  CAF_CHECK_EQUAL(run(what).verdicts, 0u);
  what.length = hours{24 * 16};
  const auto found = run(what);
  CAF_CHECK_EQUAL(found.verdicts, 1u);
  check_clean(found);
}
