#define CAF_SUITE sleepers
#include "libsync/engine/sleepers.hpp"
#include "tests/support/seed.hpp"

#include <caf/test/dsl.hpp>

#include <map>
#include <random>

using namespace purgatory;
using purgatory::test::first_seed;
using namespace std::chrono_literals;

namespace {

constexpr time_point start{1h};

using names = std::vector<std::string>;

/// The same with a plain map that is searched from end to end.
struct plain_sleepers {
  std::map<std::string, time_point> all;

  std::optional<time_point> next_due() const {
    std::optional<time_point> first;
    for (const auto& [name, due] : all)
      first = first ? std::min(*first, due) : due;
    return first;
  }

  names take_due(time_point now, std::size_t limit) {
    names taken;
    for (auto next = next_due(); next && *next <= now && taken.size() < limit;
         next = next_due())
      for (auto i = all.begin(); i != all.end(); ++i)
        if (i->second == *next) {
          taken.push_back(i->first);
          all.erase(i);
          break;
        }
    return taken;
  }
};

} // namespace

CAF_TEST(nobody sleeps at first) {
  engine::sleepers all;
  CAF_CHECK_EQUAL(all.size(), 0u);
  CAF_CHECK(!all.next_due());
  CAF_CHECK(all.take_due(start).empty());
  CAF_CHECK(!all.remove("a"));
  CAF_CHECK(!all.due("a"));
}

CAF_TEST(a sleeper is taken at its due time and not before) {
  engine::sleepers all;
  all.arm("a", start);
  CAF_CHECK(all.contains("a"));
  CAF_CHECK(all.due("a") == start);
  CAF_CHECK(all.take_due(start - 1ns).empty());
  CAF_CHECK(all.take_due(start) == names{"a"});
  CAF_CHECK(!all.contains("a"));
  CAF_CHECK(all.take_due(start).empty());
}

CAF_TEST(sleepers wake in order of time and equal times in order of name) {
  engine::sleepers all;
  all.arm("c", start + 1s);
  all.arm("b", start);
  all.arm("d", start);
  all.arm("a", start + 1s);
  CAF_CHECK(all.next_due() == start);
  CAF_CHECK(all.take_due(start + 1s) == (names{"b", "d", "a", "c"}));
}

CAF_TEST(no more are taken than asked for) {
  engine::sleepers all;
  for (const auto* name : {"a", "b", "c"})
    all.arm(name, start);
  CAF_CHECK(all.take_due(start, 2) == (names{"a", "b"}));
  CAF_CHECK(all.next_due() == start);
  CAF_CHECK(all.take_due(start, 2) == names{"c"});
}

CAF_TEST(arming again replaces and pulling only makes it earlier) {
  engine::sleepers all;
  all.arm("a", start);
  all.arm("a", start + 1h);
  CAF_CHECK(all.next_due() == start + 1h);
  all.pull_to("a", start + 2h);
  CAF_CHECK(all.next_due() == start + 1h);
  all.pull_to("a", start);
  CAF_CHECK(all.next_due() == start);
  all.pull_to("b", start + 5s);
  CAF_CHECK_EQUAL(all.size(), 2u);
}

CAF_TEST(who is removed does not wake) {
  engine::sleepers all;
  all.arm("a", start);
  all.arm("b", start);
  CAF_CHECK(all.remove("a"));
  CAF_CHECK(!all.remove("a"));
  CAF_CHECK(all.take_due(start) == names{"b"});
}

CAF_TEST(random sleepers behave as in a plain map) {
  const auto first = first_seed();
  CAF_MESSAGE("seeds from " << first);
  std::size_t taken = 0;
  for (auto seed = first; seed < first + 200; ++seed) {
    std::mt19937_64 rng(seed);
    engine::sleepers all;
    plain_sleepers plain;
    auto now = start;
    for (int step = 0; step < 200; ++step) {
      const auto name = "n" + std::to_string(rng() % 20);
      const auto due = now + std::chrono::seconds(rng() % 60);
      switch (rng() % 4) {
      case 0:
        all.arm(name, due);
        plain.all[name] = due;
        break;
      case 1: {
        all.pull_to(name, due);
        const auto known = plain.all.emplace(name, due).first;
        known->second = std::min(known->second, due);
        break;
      }
      case 2:
        if (all.remove(name) != (plain.all.erase(name) > 0))
          CAF_FAIL("seed " << seed << ": removed");
        break;
      default: {
        now += std::chrono::seconds(rng() % 20);
        const auto limit = rng() % 5;
        const auto woken = all.take_due(now, limit);
        if (woken != plain.take_due(now, limit))
          CAF_FAIL("seed " << seed << ": taken");
        taken += woken.size();
      }
      }
      if (all.size() != plain.all.size() || all.next_due() != plain.next_due()
          || !all.check_invariants().empty())
        CAF_FAIL("seed " << seed << ": " << all.check_invariants());
    }
  }
  CAF_CHECK_GREATER(taken, 1000u);
}
