#define CAF_SUITE sim_worlds

#include "libsync/sim/generate.hpp"
#include "libsync/sim/run.hpp"
#include "tests/support/seed.hpp"

#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::sim;

namespace {

/// Mostly small: a few of the largest size cost as much as all others.
random_options options_for(std::uint64_t seed) {
  random_options options;
  options.seed = seed;
  const auto size = seed % 50;
  options.units = size == 0 ? 40 : 1 + seed % 5;
  options.hosts = size == 0 ? 12 : 1 + seed % 4;
  options.days = 7;
  return options;
}

struct totals {
  std::uint64_t worlds = 0;
  std::uint64_t starts = 0;
  std::uint64_t released = 0;
  std::uint64_t crashes = 0;
  std::uint64_t violations = 0;
};

void add(totals& to, const summary& of) {
  ++to.worlds;
  to.starts += of.starts;
  to.released += of.released;
  to.crashes += of.crashes;
  to.violations += of.violation_count;
  if (of.violation_count > 0)
    CAF_ERROR("seed " << of.seed << ": " << of.violations.front().what);
}

void tell(const char* what, const totals& of) {
  CAF_MESSAGE(of.worlds << " worlds of seven days, " << what << ": "
                        << of.starts << " starts, " << of.released
                        << " released, " << of.crashes << " restarts, "
                        << of.violations << " violations");
}

} // namespace

CAF_TEST(no invariant breaks in random worlds) {
  totals all;
  const auto first = test::first_seed();
  for (auto seed = first; seed < first + test::seeds_or(1600); ++seed)
    add(all, run(generate_random(options_for(seed))));
  tell("with faults to the end", all);
  CAF_CHECK_EQUAL(all.violations, 0u);
  CAF_CHECK(all.released > 0);
  CAF_CHECK(all.crashes > 0);
}

CAF_TEST(worlds in which something reachable was once left behind) {
  struct known_world {
    std::uint64_t seed;
    std::size_t units;
    std::size_t hosts;
  };
  // An announcement replaced while the relay was down; states that govern
  // more than one owner; an event whose journal record a crash forestalled.
  for (const auto& [seed, units, hosts] :
       {known_world{100, 40, 12}, known_world{3036, 4, 3},
        known_world{5026, 8, 4}, known_world{5060, 8, 4},
        known_world{5081, 8, 4}, known_world{5119, 8, 4},
        known_world{312, 3, 1}}) {
    random_options options;
    options.seed = seed;
    options.units = units;
    options.hosts = hosts;
    options.liveness = true;
    const auto found = run(generate_random(options));
    CAF_CHECK_EQUAL(found.violation_count, 0u);
    CAF_CHECK(found.reachable > 0);
  }
}

CAF_TEST(what can be reached is released three days after the faults) {
  totals all;
  const auto first = test::first_seed();
  for (auto seed = first; seed < first + test::seeds_or(400); ++seed) {
    auto options = options_for(seed);
    options.liveness = true;
    add(all, run(generate_random(options)));
  }
  tell("of which three without faults", all);
  CAF_CHECK_EQUAL(all.violations, 0u);
  CAF_CHECK(all.released > 0);
}
