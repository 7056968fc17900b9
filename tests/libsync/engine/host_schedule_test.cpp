#define CAF_SUITE host_schedule
#include "libsync/engine/host_schedule.hpp"

#include <caf/test/dsl.hpp>

#include <string>
#include <vector>

using namespace purgatory;
using namespace std::chrono_literals;
using engine::host_event;
using engine::host_signal;

namespace {

const time_point start{1h};
constexpr auto guard = 200ms;

/// A host with short names: the first letter of a subject is its owner.
struct host {
  engine::host_schedule schedule;
  time_point now = start;
  std::vector<engine::grant> granted;
  std::vector<host_event> news;

  explicit host(engine::start_limits limits = {}) : schedule({7}, limits) {}

  void ask(const std::string& who, lane turn = lane::retry) {
    schedule.enqueue(engine::subject{who},
                     engine::subject_owner{who.substr(0, 1)}, turn);
  }

  void ask_all(const std::vector<std::string>& subjects) {
    for (const auto& who : subjects)
      ask(who);
  }

  /// Pumps and returns who was granted, one word.
  std::string pump() {
    std::string names;
    for (auto& each : schedule.pump(now)) {
      names += (names.empty() ? "" : " ") + each.who.value;
      granted.push_back(each);
    }
    for (const auto each : schedule.take_news())
      news.push_back(each);
    CAF_CHECK_EQUAL(schedule.check_invariants(), "");
    return names;
  }

  lease_id lease_of(const std::string& who) const {
    for (auto each = granted.rbegin(); each != granted.rend(); ++each)
      if (each->who.value == who)
        return each->lease;
    return {};
  }

  /// The granted lease of `who`, from start to end.
  void run(const std::string& who, host_signal signal = host_signal::good,
           std::optional<std::chrono::seconds> retry_after = {}) {
    CAF_CHECK(schedule.started(lease_of(who), now));
    CAF_CHECK(schedule.completed(lease_of(who), signal, retry_after, now));
  }

  /// Asks, is granted, ends.
  void turn(const std::string& who, host_signal signal = host_signal::good,
            std::optional<std::chrono::seconds> retry_after = {}) {
    ask(who);
    CAF_CHECK_EQUAL(pump(), who);
    run(who, signal, retry_after);
    pump();
  }

  void block() {
    for (const auto* who : {"a", "b", "c"})
      turn(who, host_signal::server);
  }

  void sit_out() { now = *schedule.view(now).blocked_until; }
};

} // namespace

CAF_TEST(minute hour and day windows hold together) {
  host h{{5, 3, 5, 6}};
  const auto spend = [&h] {
    int starts = 0;
    for (h.ask("a"); h.pump() == "a"; h.ask("a")) {
      h.run("a");
      ++starts;
    }
    return starts;
  };
  CAF_CHECK_EQUAL(spend(), 3);
  CAF_CHECK(h.schedule.wake_at(h.now) == start + 60s + guard);
  h.now += 60s + guard;
  CAF_CHECK_EQUAL(spend(), 2);
  CAF_CHECK(h.schedule.wake_at(h.now) == start + 1h + guard);
  h.now = start + 1h + guard;
  CAF_CHECK_EQUAL(spend(), 1);
  CAF_CHECK(h.schedule.wake_at(h.now) == start + 24h + guard);
}

CAF_TEST(a limit that is set later counts what started before) {
  host h{{5, 1000, 0, 0}};
  for (int i = 0; i < 50; ++i)
    h.turn("a");
  h.schedule.set_limits({5, 1000, 50, 0});
  h.ask("a");
  CAF_CHECK_EQUAL(h.pump(), "");
  const auto wake = h.schedule.wake_at(h.now);
  CAF_REQUIRE(wake);
  CAF_CHECK(*wake >= start + 1h);
  CAF_CHECK(*wake <= start + 1h + 1min + guard);
  h.schedule.set_limits({5, 1000, 51, 0});
  CAF_CHECK_EQUAL(h.pump(), "a");
}

CAF_TEST(a denied host gets no start and keeps its places) {
  host h{{0, 30, 0, 0}};
  h.ask("a");
  CAF_CHECK_EQUAL(h.pump(), "");
  CAF_CHECK(!h.schedule.wake_at(h.now));
  h.schedule.set_limits({1, 30, 0, 0});
  CAF_CHECK_EQUAL(h.pump(), "a");
}

CAF_TEST(a blocked host grants nothing and wakes at the end of its block) {
  host h;
  h.block();
  CAF_CHECK(h.news == std::vector{host_event::blocked});
  h.ask("a");
  CAF_CHECK_EQUAL(h.pump(), "");
  const auto until = h.schedule.view(h.now).blocked_until;
  CAF_REQUIRE(until);
  CAF_CHECK(h.schedule.wake_at(h.now) == until);
  h.now = *until - 1ns;
  CAF_CHECK_EQUAL(h.pump(), "");
}

CAF_TEST(after a block exactly one probe goes out and its success frees all) {
  host h;
  h.block();
  h.ask_all({"a", "b", "c"});
  h.sit_out();
  CAF_CHECK_EQUAL(h.pump(), "a");
  CAF_CHECK_EQUAL(h.pump(), "");
  CAF_CHECK(!h.schedule.wake_at(h.now));
  h.run("a");
  CAF_CHECK_EQUAL(h.pump(), "b c");
  CAF_CHECK(h.news.back() == host_event::recovered);
  CAF_CHECK(!h.schedule.view(h.now).blocked_until);
}

CAF_TEST(a probe that fails begins a longer block and is counted) {
  host h;
  h.block();
  h.ask_all({"a", "b"});
  h.sit_out();
  h.pump();
  h.run("a", host_signal::server);
  CAF_CHECK_EQUAL(h.pump(), "");
  CAF_CHECK(h.news.back() == host_event::blocked);
  const auto view = h.schedule.view(h.now);
  CAF_CHECK(view.blocked_until == h.now + 2min);
  CAF_CHECK_EQUAL(view.failed_probes, 1u);
}

CAF_TEST(a probe that is given back or tells nothing is followed by another) {
  host h;
  h.block();
  h.ask_all({"a", "b", "c", "d"});
  h.sit_out();
  CAF_CHECK_EQUAL(h.pump(), "a");
  h.schedule.defer(h.lease_of("a"));
  CAF_CHECK_EQUAL(h.pump(), "b");
  h.schedule.withdraw(h.lease_of("b"));
  CAF_CHECK_EQUAL(h.pump(), "c");
  h.schedule.reclaim(h.lease_of("c"));
  CAF_CHECK_EQUAL(h.pump(), "d");
  h.run("d", host_signal::none);
  CAF_CHECK_EQUAL(h.pump(), "c");
  CAF_CHECK_EQUAL(h.pump(), "");
}

CAF_TEST(the end of a block with nobody there is told once) {
  host h;
  h.block();
  CAF_CHECK(h.schedule.wake_at(h.now) == h.schedule.view(h.now).blocked_until);
  h.sit_out();
  h.pump();
  CAF_CHECK(h.news.back() == host_event::unblocked);
  const auto told = h.news.size();
  h.pump();
  CAF_CHECK_EQUAL(h.news.size(), told);
  // Who comes because of that is the probe.
  h.ask_all({"a", "b"});
  CAF_CHECK_EQUAL(h.pump(), "a");
}

CAF_TEST(the end of a block is not told while somebody is there) {
  host h;
  h.block();
  h.ask("a");
  h.sit_out();
  h.pump();
  CAF_CHECK(h.news == std::vector{host_event::blocked});
}

CAF_TEST(all of few subjects block a host that a crowd would not ) {
  host h;
  for (int i = 0; i < 3; ++i)
    for (const auto* who : {"a", "b"})
      h.turn(who, host_signal::refused);
  h.ask("c"); // Somebody else needs it and has not tried.
  h.pump();
  h.turn("a", host_signal::refused);
  h.turn("b", host_signal::refused);
  CAF_CHECK(h.news.empty());
  h.schedule.withdraw(h.lease_of("c"));
  h.turn("a", host_signal::refused);
  CAF_CHECK(h.news == std::vector{host_event::blocked});
}

CAF_TEST(a complaint blocks and slows down and its success is no recovery) {
  host h;
  for (int i = 0; i < 10; ++i)
    h.turn("a");
  h.turn("b", host_signal::limited, 20s);
  CAF_CHECK(h.news == std::vector{host_event::blocked});
  CAF_CHECK(h.schedule.learned() == 9.5);
  h.sit_out();
  CAF_CHECK(h.now == start + 20s);
  h.turn("a");
  CAF_CHECK_EQUAL(h.news.size(), 1u);
  h.ask("a");
  CAF_CHECK_EQUAL(h.pump(), "");
  CAF_CHECK(*h.schedule.wake_at(h.now) > h.now + 6s);
}

CAF_TEST(a host without block and work is idle after ten minutes) {
  host h;
  h.turn("a");
  CAF_CHECK(h.schedule.idle_at() == start + 10min);
  h.now += 10min;
  h.pump();
  CAF_CHECK(h.news == std::vector{host_event::idle});
  CAF_CHECK(!h.schedule.idle_at());
  h.turn("a");
  CAF_CHECK(h.schedule.idle_at() == h.now + 10min);
  h.ask("a");
  h.pump();
  CAF_CHECK(!h.schedule.idle_at());
}

CAF_TEST(a host is not idle while its hour or day window counts something) {
  host h{{5, 30, 100, 0}};
  h.turn("a");
  CAF_CHECK(h.schedule.idle_at() == start + 1h + guard);
  h.now += 10min;
  h.pump();
  CAF_CHECK(h.news.empty());
  h.schedule.set_limits({5, 30, 0, 100});
  CAF_CHECK(*h.schedule.idle_at() >= start + 24h + guard);
  h.now = *h.schedule.idle_at();
  h.pump();
  CAF_CHECK(h.news == std::vector{host_event::idle});
}

CAF_TEST(a blocked host is not idle) {
  host h;
  h.turn("d", host_signal::limited, std::chrono::seconds{1h});
  CAF_CHECK(!h.schedule.idle_at());
  h.now += 59min;
  h.pump();
  CAF_CHECK(!h.schedule.idle_at());
  h.now += 1min;
  h.pump();
  CAF_CHECK(h.schedule.idle_at() == h.now + 10min);
}

CAF_TEST(nothing is granted in the quiet time) {
  host h;
  h.schedule.quiet_until(start + 40s);
  h.ask("a");
  CAF_CHECK_EQUAL(h.pump(), "");
  CAF_CHECK(h.schedule.wake_at(h.now) == start + 40s);
  h.now += 40s;
  CAF_CHECK_EQUAL(h.pump(), "a");
}

CAF_TEST(block and learned rate survive as an image) {
  host h;
  for (int i = 0; i < 10; ++i)
    h.turn("a");
  h.turn("b", host_signal::limited, 100s);
  const auto image = h.schedule.image();
  CAF_CHECK_EQUAL(image.learned_per_minute, 9u);
  host next;
  next.schedule.restore(image, start);
  CAF_CHECK(next.schedule.image() == image);
  next.ask("a");
  CAF_CHECK_EQUAL(next.pump(), "");
  CAF_CHECK(next.schedule.wake_at(start) == start + 100s);
}

CAF_TEST(inherited leases and starts count) {
  host h{{2, 3, 0, 0}};
  h.schedule.seed({{lease_id{1}, engine::subject{"x"}, true, start - 10s},
                   {lease_id{2}, engine::subject{"y"}, false, start - 20s}});
  h.ask_all({"a", "b"});
  CAF_CHECK_EQUAL(h.pump(), "a");
  CAF_CHECK(h.schedule.completed(lease_id{1}, host_signal::good, {}, h.now));
  CAF_CHECK_EQUAL(h.pump(), "");
  CAF_CHECK(h.schedule.wake_at(h.now) == start + 40s + guard);
}

CAF_TEST(unknown leases change nothing) {
  host h;
  CAF_CHECK(!h.schedule.started(lease_id{9}, h.now));
  CAF_CHECK(
    !h.schedule.completed(lease_id{9}, host_signal::limited, 1h, h.now));
  CAF_CHECK(!h.schedule.defer(lease_id{9}));
  CAF_CHECK(!h.schedule.withdraw(lease_id{9}));
  CAF_CHECK(!h.schedule.reclaim(lease_id{9}));
  CAF_CHECK(!h.schedule.view(h.now).blocked_until);
  CAF_CHECK_EQUAL(h.pump(), "");
}
