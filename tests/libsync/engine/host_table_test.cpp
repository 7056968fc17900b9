#define CAF_SUITE host_table
#include "libsync/engine/host_table.hpp"
#include "tests/support/seed.hpp"

#include <caf/test/dsl.hpp>

#include <algorithm>
#include <random>

using namespace purgatory;
using purgatory::test::first_seed;

namespace {

host_key host(std::uint64_t number) {
  return host_key{"h" + std::to_string(number) + ".example"};
}

engine::host_standing blocked_until(live_seconds end) {
  engine::host_standing s;
  s.reason = fetch_class::refused;
  s.blocks = 1;
  s.failed_probes = 3;
  s.blocked_until = end;
  return s;
}

engine::host_standing learned(std::uint32_t per_minute) {
  engine::host_standing s;
  s.learned_per_minute = per_minute;
  return s;
}

constexpr std::size_t all = 1000;
using hosts = std::vector<host_key>;

} // namespace

CAF_TEST(what is remembered is found until it is replaced) {
  engine::host_table table;
  CAF_CHECK(!table.find(host(1)));
  CAF_CHECK(!table.remember(host(1), blocked_until(100), 10));
  CAF_CHECK(table.find(host(1)) == blocked_until(100));
  table.remember(host(1), learned(7), 20);
  CAF_CHECK(table.find(host(1)) == learned(7));
  CAF_CHECK_EQUAL(table.size(), 1u);
}

CAF_TEST(a plain standing is not kept) {
  engine::host_table table;
  table.remember(host(1), {}, 10);
  CAF_CHECK_EQUAL(table.size(), 0u);
  table.remember(host(1), blocked_until(100), 10);
  table.remember(host(1), {}, 20);
  CAF_CHECK_EQUAL(table.size(), 0u);
  CAF_CHECK(!table.next_end());
}

CAF_TEST(the end of a block is told once and not early) {
  engine::host_table table;
  table.remember(host(1), blocked_until(100), 10);
  table.remember(host(2), blocked_until(50), 10);
  CAF_CHECK(table.next_end() == 50);
  CAF_CHECK(table.take_ended(49, all).empty());
  CAF_CHECK(table.take_ended(100, 1) == hosts{host(2)});
  CAF_CHECK(table.take_ended(100, all) == hosts{host(1)});
  CAF_CHECK(table.take_ended(1000, all).empty());
  CAF_CHECK(!table.next_end());
  // It is remembered all the same.
  CAF_CHECK(table.find(host(1)) == blocked_until(100));
}

CAF_TEST(a longer block replaces the end and a recovery takes it away) {
  engine::host_table table;
  table.remember(host(1), blocked_until(100), 10);
  table.remember(host(1), blocked_until(200), 20);
  CAF_CHECK(table.take_ended(199, all).empty());
  table.remember(host(1), learned(5), 150);
  CAF_CHECK(!table.next_end());
}

CAF_TEST(a block that is over already has no end to tell) {
  engine::host_table table;
  table.remember(host(1), blocked_until(100), 100);
  CAF_CHECK(!table.next_end());
  CAF_CHECK_EQUAL(table.size(), 1u);
}

CAF_TEST(the host heard of longest ago leaves first and a blocked one last) {
  engine::host_table table{3};
  table.remember(host(1), blocked_until(100), 0);
  table.remember(host(2), learned(1), 0);
  table.remember(host(3), learned(1), 0);
  table.remember(host(2), learned(2), 0); // Heard of again.
  CAF_CHECK(table.remember(host(4), learned(1), 0) == host(3));
  CAF_CHECK(table.remember(host(5), learned(1), 0) == host(2));
  CAF_CHECK(!table.remember(host(5), learned(2), 0));
  // When its block is over, it counts by its age.
  CAF_CHECK(table.take_ended(100, all) == hosts{host(1)});
  CAF_CHECK(table.remember(host(6), learned(1), 101) == host(1));
}

CAF_TEST(with blocked hosts only the oldest block leaves) {
  engine::host_table table{2};
  table.remember(host(1), blocked_until(900), 0);
  table.remember(host(2), blocked_until(100), 0);
  CAF_CHECK(table.remember(host(3), blocked_until(500), 0) == host(1));
  CAF_CHECK(table.take_ended(1000, all) == (hosts{host(2), host(3)}));
}

CAF_TEST(random news never break the bound nor lose an end) {
  const auto first = first_seed();
  CAF_MESSAGE("seeds from " << first);
  std::size_t told = 0;
  for (auto seed = first; seed < first + 100; ++seed) {
    std::mt19937_64 rng(seed);
    engine::host_table table{8};
    live_seconds now = 1;
    for (int step = 0; step < 300; ++step) {
      const auto who = host(rng() % 12);
      now += static_cast<live_seconds>(rng() % 3);
      const auto left
        = rng() % 3 == 0
            ? table.remember(who, learned(1), now)
            : table.remember(
              who, blocked_until(now + static_cast<live_seconds>(rng() % 20)),
              now);
      if (left && table.find(*left))
        CAF_FAIL("seed " << seed << ": who left is still here");
      for (const auto& ended : table.take_ended(now, rng() % 3)) {
        ++told;
        if (table.find(ended)->blocked_until > now)
          CAF_FAIL("seed " << seed << ": told early");
      }
      if (!table.check_invariants().empty())
        CAF_FAIL("seed " << seed << ": " << table.check_invariants());
    }
  }
  CAF_CHECK_GREATER(told, 1000u);
}
