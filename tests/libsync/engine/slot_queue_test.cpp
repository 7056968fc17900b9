#define CAF_SUITE slot_queue
#include "libsync/engine/sliding_window.hpp"
#include "libsync/engine/slot_queue.hpp"
#include "libsync/engine/token_bucket.hpp"

#include <caf/test/dsl.hpp>

#include <string>
#include <vector>

using namespace purgatory;
using namespace std::chrono_literals;

namespace {

constexpr auto span = 60s + 200ms;
const time_point start{1h};

/// A queue with short names: the first letter of a subject is its owner.
struct bench {
  engine::slot_queue slots;
  std::vector<engine::grant> granted;
  time_point now = start;

  explicit bench(std::uint32_t concurrent = 5, std::uint32_t per_window = 30)
    : slots(7, concurrent,
            std::make_unique<engine::sliding_window>(per_window, span)) {}

  void ask(const std::string& who, lane turn = lane::fresh) {
    slots.enqueue(engine::subject{who}, engine::subject_owner{who.substr(0, 1)},
                  turn);
  }

  /// Pumps and returns who was granted, one word.
  std::string pump() {
    std::string names;
    for (auto& each : slots.pump(now)) {
      names += (names.empty() ? "" : " ") + each.who.value;
      granted.push_back(each);
    }
    check();
    return names;
  }

  lease_id lease_of(const std::string& who) const {
    for (auto each = granted.rbegin(); each != granted.rend(); ++each)
      if (each->who.value == who)
        return each->lease;
    return {};
  }

  void send(const std::string& who) {
    CAF_CHECK(slots.start(lease_of(who)));
    CAF_CHECK(slots.started(lease_of(who), now));
  }

  void complete(const std::string& who) {
    CAF_CHECK(slots.completed(lease_of(who)));
    check();
  }

  /// One turn from grant to end.
  void run(const std::string& who) {
    send(who);
    complete(who);
  }

  void check() { CAF_CHECK_EQUAL(slots.check_invariants(), ""); }
};

} // namespace

CAF_TEST(concurrency blocks and a completion frees) {
  bench b{2};
  for (const auto* who : {"a1", "b1", "c1"})
    b.ask(who);
  CAF_CHECK_EQUAL(b.pump(), "a1 b1");
  CAF_CHECK_EQUAL(b.pump(), "");
  b.run("a1");
  CAF_CHECK_EQUAL(b.pump(), "c1");
}

CAF_TEST(the window blocks until it ends and not one nanosecond less) {
  bench b{50, 3};
  for (const auto* who : {"a1", "b1", "c1", "d1"})
    b.ask(who);
  CAF_CHECK_EQUAL(b.pump(), "a1 b1 c1");
  for (const auto* who : {"a1", "b1", "c1"})
    b.run(who);
  CAF_CHECK(*b.slots.wake_at(b.now) == start + span);
  b.now = start + span - 1ns;
  CAF_CHECK_EQUAL(b.pump(), "");
  b.now = start + span;
  CAF_CHECK_EQUAL(b.pump(), "d1");
}

CAF_TEST(an unsent lease counts however old and a sent one after its end) {
  bench b{50, 2};
  for (const auto* who : {"a1", "b1", "c1"})
    b.ask(who);
  CAF_CHECK_EQUAL(b.pump(), "a1 b1");
  b.now += 1h;
  CAF_CHECK_EQUAL(b.pump(), "");
  CAF_CHECK(!b.slots.wake_at(b.now));
  b.run("a1");
  CAF_CHECK_EQUAL(b.pump(), "");
  CAF_CHECK(*b.slots.wake_at(b.now) == b.now + span);
}

CAF_TEST(a lease that ends unsent is refunded) {
  bench b{50, 1};
  b.ask("a1");
  b.ask("b1");
  CAF_CHECK_EQUAL(b.pump(), "a1");
  CAF_CHECK(b.slots.start(b.lease_of("a1")));
  b.complete("a1");
  CAF_CHECK_EQUAL(b.pump(), "b1");
}

CAF_TEST(round robin gives A B C A) {
  bench b{1, 1000};
  for (const auto* who : {"xA", "xB", "xC"})
    b.ask(who);
  std::string order;
  for (int i = 0; i < 7; ++i) {
    const auto who = b.pump();
    order += who.substr(1);
    b.run(who);
    b.ask(who);
  }
  CAF_CHECK_EQUAL(order, "ABCABCA");
}

CAF_TEST(owners take turns whatever the number of their subjects) {
  bench b{1, 1000};
  for (const auto* who : {"a1", "a2", "a3", "a4", "b1", "c1", "c2"})
    b.ask(who);
  std::string order;
  for (int i = 0; i < 7; ++i) {
    const auto who = b.pump();
    order += who + " ";
    b.run(who);
  }
  CAF_CHECK_EQUAL(order, "a1 b1 c1 a2 c2 a3 a4 ");
}

CAF_TEST(fresh and retry lanes take turns and debt comes last) {
  bench b{1, 1000};
  for (const auto* who : {"a1", "a2", "a3", "a4"})
    b.ask(who, lane::fresh);
  for (const auto* who : {"b1", "b2"})
    b.ask(who, lane::retry);
  b.ask("c1", lane::debt);
  std::string order;
  for (int i = 0; i < 7; ++i) {
    const auto who = b.pump();
    order += who + " ";
    b.run(who);
  }
  CAF_CHECK_EQUAL(order, "a1 b1 a2 b2 a3 a4 c1 ");
}

CAF_TEST(skips in progress and grants none when all are busy) {
  bench b{5};
  b.ask("a1");
  b.ask("b1");
  CAF_CHECK_EQUAL(b.pump(), "a1 b1");
  b.send("a1");
  b.send("b1");
  b.ask("a1");
  b.ask("b1");
  CAF_CHECK_EQUAL(b.pump(), "");
  CAF_CHECK(!b.slots.wake_at(b.now));
  CAF_CHECK(b.slots.has_place(engine::subject{"a1"}));
  b.complete("b1");
  CAF_CHECK_EQUAL(b.pump(), "b1");
}

CAF_TEST(removal adjusts index and keeps the order) {
  bench b{1, 1000};
  for (const auto* who : {"xA", "xB", "xC", "xD"})
    b.ask(who);
  CAF_CHECK_EQUAL(b.pump(), "xA");
  b.run("xA");
  b.ask("xA");
  CAF_CHECK(b.slots.leave(engine::subject{"xB"}));
  CAF_CHECK(!b.slots.leave(engine::subject{"xB"}));
  for (const auto* expected : {"xC", "xD", "xA"}) {
    CAF_CHECK_EQUAL(b.pump(), expected);
    b.run(expected);
  }
}

CAF_TEST(removing an owner keeps the order of the others) {
  bench b{1, 1000};
  for (const auto* who : {"a1", "b1", "c1", "d1", "a2"})
    b.ask(who);
  CAF_CHECK_EQUAL(b.pump(), "a1");
  b.run("a1");
  b.slots.leave(engine::subject{"c1"});
  for (const auto* expected : {"b1", "d1", "a2"}) {
    CAF_CHECK_EQUAL(b.pump(), expected);
    b.run(expected);
  }
}

CAF_TEST(has queued work) {
  bench b;
  CAF_CHECK_EQUAL(b.slots.waiting(), 0u);
  b.ask("a1");
  CAF_CHECK_EQUAL(b.slots.waiting(), 1u);
  CAF_CHECK(b.slots.has_place(engine::subject{"a1"}));
  CAF_CHECK(!b.slots.has_place(engine::subject{"a2"}));
  b.slots.leave(engine::subject{"a1"});
  CAF_CHECK_EQUAL(b.slots.waiting(), 0u);
  CAF_CHECK_EQUAL(b.pump(), "");
}

CAF_TEST(enqueue twice keeps one place at its position) {
  bench b{1, 1000};
  for (const auto* who : {"xA", "xB", "xA"})
    b.ask(who);
  CAF_CHECK_EQUAL(b.slots.waiting(), 2u);
  CAF_CHECK_EQUAL(b.pump(), "xA");
  b.run("xA");
  CAF_CHECK_EQUAL(b.pump(), "xB");
  b.run("xB");
  CAF_CHECK_EQUAL(b.pump(), "");
}

CAF_TEST(enqueue in another lane moves the place there) {
  bench b{1, 1000};
  b.ask("a1", lane::debt);
  b.ask("b1", lane::fresh);
  b.ask("a1", lane::fresh);
  CAF_CHECK_EQUAL(b.slots.waiting(), 2u);
  CAF_CHECK_EQUAL(b.pump(), "b1");
  b.run("b1");
  CAF_CHECK_EQUAL(b.pump(), "a1");
}

CAF_TEST(enqueue under another owner keeps the order of arrival) {
  bench b{1, 1000};
  b.ask("a1");
  b.ask("b1");
  b.slots.enqueue(engine::subject{"a1"}, engine::subject_owner{"b"},
                  lane::fresh);
  CAF_CHECK_EQUAL(b.pump(), "a1");
}

CAF_TEST(defer gives the lease back uncounted and keeps the place) {
  bench b{1, 1};
  for (const auto* who : {"xA", "xB"})
    b.ask(who);
  CAF_CHECK_EQUAL(b.pump(), "xA");
  CAF_CHECK(b.slots.defer(b.lease_of("xA")));
  CAF_CHECK_EQUAL(b.slots.waiting(), 2u);
  CAF_CHECK_EQUAL(b.pump(), "xB");
  CAF_CHECK(b.slots.defer(b.lease_of("xB")));
  CAF_CHECK_EQUAL(b.pump(), "");
  CAF_CHECK(!b.slots.wake_at(b.now));
  b.ask("xC");
  b.ask("xB");
  b.ask("xA");
  CAF_CHECK_EQUAL(b.pump(), "xA");
}

CAF_TEST(withdraw gives lease and place back) {
  bench b{1, 1};
  b.ask("a1");
  b.ask("b1");
  CAF_CHECK_EQUAL(b.pump(), "a1");
  CAF_CHECK(b.slots.withdraw(b.lease_of("a1")));
  CAF_CHECK(!b.slots.has_place(engine::subject{"a1"}));
  CAF_CHECK_EQUAL(b.pump(), "b1");
}

CAF_TEST(leaving while granted frees the slot at the answer) {
  bench b{1, 1};
  b.ask("a1");
  b.ask("b1");
  CAF_CHECK_EQUAL(b.pump(), "a1");
  b.slots.leave(engine::subject{"a1"});
  CAF_CHECK_EQUAL(b.pump(), "");
  CAF_CHECK(b.slots.defer(b.lease_of("a1")));
  CAF_CHECK_EQUAL(b.slots.waiting(), 1u);
  CAF_CHECK_EQUAL(b.pump(), "b1");
}

CAF_TEST(asking between grant and start asks for one more turn) {
  bench b{1, 1000};
  b.ask("xA");
  CAF_CHECK_EQUAL(b.pump(), "xA");
  b.ask("xA");
  b.ask("xB");
  b.run("xA");
  CAF_CHECK_EQUAL(b.pump(), "xB");
  b.run("xB");
  CAF_CHECK_EQUAL(b.pump(), "xA");
  b.run("xA");
  CAF_CHECK_EQUAL(b.pump(), "");
}

CAF_TEST(a first send before the answer implies start) {
  bench b{2, 1000};
  b.ask("a1");
  CAF_CHECK_EQUAL(b.pump(), "a1");
  CAF_CHECK(b.slots.started(b.lease_of("a1"), b.now));
  CAF_CHECK(!b.slots.has_place(engine::subject{"a1"}));
  CAF_CHECK(!b.slots.start(b.lease_of("a1")));
  b.complete("a1");
  CAF_CHECK_EQUAL(b.pump(), "");
}

CAF_TEST(an end before the answer implies start) {
  bench b{2, 1000};
  b.ask("a1");
  CAF_CHECK_EQUAL(b.pump(), "a1");
  b.complete("a1");
  CAF_CHECK_EQUAL(b.pump(), "");
  CAF_CHECK(!b.slots.start(b.lease_of("a1")));
}

CAF_TEST(a reclaimed lease is refunded and its place stays) {
  bench b{1, 1};
  b.ask("a1");
  CAF_CHECK_EQUAL(b.pump(), "a1");
  const auto lease = b.lease_of("a1");
  CAF_CHECK(b.slots.reclaim(lease));
  CAF_CHECK(!b.slots.reclaim(lease));
  CAF_CHECK(!b.slots.start(lease));
  CAF_CHECK_EQUAL(b.pump(), "a1");
  CAF_CHECK(b.lease_of("a1") != lease);
}

CAF_TEST(every lease ends exactly once) {
  bench b;
  b.ask("a1");
  CAF_CHECK_EQUAL(b.pump(), "a1");
  b.run("a1");
  const auto lease = b.lease_of("a1");
  CAF_CHECK(!b.slots.completed(lease));
  CAF_CHECK(!b.slots.reclaim(lease));
  CAF_CHECK(!b.slots.started(lease, b.now));
  CAF_CHECK(!b.slots.withdraw(lease));
  CAF_CHECK_EQUAL(b.slots.leases(), 0u);
}

CAF_TEST(raised limits grant more and lowered ones stop nothing) {
  bench b{5, 1000};
  for (int i = 0; i < 50; ++i)
    b.ask(std::string(1, static_cast<char>('A' + i)));
  CAF_CHECK_EQUAL(b.pump(), "A B C D E");
  b.slots.set_limits(10, std::nullopt);
  CAF_CHECK_EQUAL(b.pump(), "F G H I J");
  b.slots.set_limits(2, std::nullopt);
  CAF_CHECK_EQUAL(b.slots.leases(), 10u);
  for (const auto* who : {"A", "B", "C", "D", "E", "F", "G", "H"}) {
    b.run(who);
    CAF_CHECK_EQUAL(b.pump(), "");
  }
  b.run("I");
  CAF_CHECK_EQUAL(b.pump(), "K");
  // J and K have not answered: their places are still theirs.
  CAF_CHECK_EQUAL(b.slots.waiting(), 50u - 9u);
}

CAF_TEST(seeded leases and starts count) {
  bench b{2, 3};
  const lease_id running{1};
  b.slots.seed({{running, engine::subject{"a1"}, true, std::nullopt},
                {lease_id{2}, engine::subject{"b1"}, false, start - 30s},
                {lease_id{3}, engine::subject{"c1"}, false, std::nullopt}});
  for (const auto* who : {"a1", "b1", "c1"})
    b.ask(who);
  CAF_CHECK_EQUAL(b.pump(), "b1");
  b.send("b1");
  CAF_CHECK(b.slots.started(running, b.now));
  CAF_CHECK(b.slots.completed(running));
  CAF_CHECK_EQUAL(b.pump(), "");
  CAF_CHECK(*b.slots.wake_at(b.now) == start - 30s + span);
  // a1 was busy until now, so its owner stands behind c1's.
  b.now = start - 30s + span;
  CAF_CHECK_EQUAL(b.pump(), "c1");
}

CAF_TEST(a place taken before the seed is busy while its lease runs) {
  bench b;
  b.ask("a1");
  b.slots.seed({{lease_id{1}, engine::subject{"a1"}, true, start}});
  CAF_CHECK_EQUAL(b.pump(), "");
  CAF_CHECK(b.slots.completed(lease_id{1}));
  CAF_CHECK_EQUAL(b.pump(), "a1");
}

CAF_TEST(lease ids carry the serial and differ) {
  bench b;
  b.ask("a1");
  b.ask("b1");
  b.pump();
  CAF_CHECK_EQUAL(throttle_serial(b.lease_of("a1")), 7u);
  CAF_CHECK_EQUAL(throttle_serial(b.lease_of("b1")), 7u);
  CAF_CHECK(b.lease_of("a1") != b.lease_of("b1"));
}

CAF_TEST(any rate policy will do) {
  engine::slot_queue slots{1, 10,
                           std::make_unique<engine::token_bucket>(60, 2)};
  for (const auto* who : {"a", "b", "c"})
    slots.enqueue(engine::subject{who}, engine::subject_owner{who},
                  lane::fresh);
  for (const auto& each : slots.pump(start))
    slots.started(each.lease, start);
  CAF_CHECK_EQUAL(slots.waiting(), 1u);
  CAF_CHECK(*slots.wake_at(start) == start + 1s);
  CAF_CHECK_EQUAL(slots.pump(start + 1s).size(), 1u);
}

CAF_TEST(a debt has its turn once an hour whatever else is ready) {
  bench b{1, 1000};
  b.ask("d1", lane::debt);
  b.ask("d2", lane::debt);
  for (int i = 0; i < 200; ++i)
    b.ask("a" + std::to_string(i), i % 2 == 0 ? lane::fresh : lane::retry);
  std::vector<time_point> debts;
  for (int minute = 0; minute < 130; ++minute) {
    const auto who = b.pump();
    if (who.starts_with("d"))
      debts.push_back(b.now);
    b.run(who);
    b.now += 1min;
  }
  CAF_REQUIRE_EQUAL(debts.size(), 2u);
  CAF_CHECK(debts[0] == start + 60min);
  CAF_CHECK(debts[1] == start + 120min);
}

CAF_TEST(pump gives at most as many as it is asked for) {
  bench b{5};
  for (const auto* who : {"a1", "b1", "c1"})
    b.ask(who);
  CAF_CHECK_EQUAL(b.slots.pump(b.now, 1).size(), 1u);
  CAF_CHECK_EQUAL(b.slots.pump(b.now).size(), 2u);
}

CAF_TEST(with no slots nothing is granted and nothing wakes) {
  bench b{0};
  b.ask("a1");
  CAF_CHECK_EQUAL(b.pump(), "");
  CAF_CHECK(!b.slots.wake_at(b.now));
}
