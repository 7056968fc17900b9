#define CAF_SUITE name_table
#include "libsync/engine/name_table.hpp"
#include "tests/support/seed.hpp"

#include <caf/test/dsl.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <string>

using namespace purgatory;

CAF_TEST(a name keeps its number until it is released) {
  engine::name_table names;
  const auto a = names.number_of("a");
  const auto b = names.number_of("b");
  CAF_CHECK_NOT_EQUAL(a, b);
  CAF_CHECK_EQUAL(names.number_of("a"), a);
  CAF_CHECK_EQUAL(names.name(b), "b");
  names.release(a);
  CAF_CHECK(!names.find("a"));
  CAF_CHECK_EQUAL(names.number_of("c"), a);
  CAF_CHECK_EQUAL(names.size(), 2u);
}

CAF_TEST(the empty name is a name) {
  engine::name_table names;
  CAF_CHECK(!names.find(""));
  const auto none = names.number_of("");
  CAF_CHECK(names.find("") == none);
}

CAF_TEST(random use agrees with a plain map and numbers stay dense) {
  const auto seed = test::first_seed();
  CAF_MESSAGE("seed " << seed);
  std::mt19937_64 rng{seed};
  engine::name_table names;
  std::map<std::string, engine::name_table::number> plain;
  std::size_t most = 0;
  bool same = true;
  for (int step = 0; step < 200'000 && same; ++step) {
    const auto name = std::to_string(rng() % 3000);
    const auto known = plain.find(name);
    const auto found = names.find(name);
    same = found.has_value() == (known != plain.end())
           && (!found || *found == known->second)
           && names.size() == plain.size();
    if (known == plain.end()) {
      plain[name] = names.number_of(name);
    } else if (rng() % 2 == 0) {
      names.release(known->second);
      plain.erase(known);
    }
    most = std::max(most, plain.size());
  }
  CAF_CHECK(same);
  for (const auto& [name, number] : plain) {
    CAF_REQUIRE_EQUAL(names.name(number), name);
    CAF_REQUIRE(number < most);
  }
}
