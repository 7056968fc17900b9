#define CAF_SUITE sim_light_world

#include "libsync/sim/light_world.hpp"

#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::sim;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

light_options small() {
  light_options options;
  options.hosts = 3;
  options.owners = 20;
  options.units_per_owner = 3;
  options.starts = 10'000;
  return options;
}

} // namespace

CAF_TEST(no window is overrun although limits change and throttles restart) {
  auto options = small();
  options.changes = true;
  const auto found = run_light(options);
  CAF_CHECK_EQUAL(found.violations, 0u);
  CAF_CHECK_EQUAL(found.starts, options.starts);
  CAF_MESSAGE(found.first_violation);
}

CAF_TEST(a backlog uses the budget) {
  const auto found = run_light(small());
  CAF_MESSAGE("utilisation " << found.utilisation);
  CAF_CHECK(found.utilisation >= 0.99);
}

CAF_TEST(slots are the budget where jobs are slow) {
  auto options = small();
  options.limits.per_minute = 0;
  options.limits.concurrent = 3;
  const auto found = run_light(options);
  CAF_MESSAGE("utilisation " << found.utilisation);
  CAF_CHECK(found.utilisation >= 0.99);
}

CAF_TEST(equal owners get equal turns) {
  const auto found = run_light(small());
  CAF_MESSAGE("Jain index " << found.jain);
  CAF_CHECK(found.jain >= 0.99);
}

CAF_TEST(equal seeds give equal runs) {
  auto options = small();
  options.changes = true;
  const auto first = run_light(options);
  CAF_CHECK_EQUAL(run_light(options).trace, first.trace);
  options.seed = 2;
  CAF_CHECK_NOT_EQUAL(run_light(options).trace, first.trace);
}

CAF_TEST(a hidden limit is found and its end too) {
  light_options options;
  options.hosts = 1;
  options.owners = 40;
  options.units_per_owner = 1;
  options.starts = 1'000'000;
  options.length = hours{3};
  options.hidden = light_limit{12, false, hours{2}};
  const auto found = run_light(options);
  CAF_MESSAGE("429 " << found.limited << ", goodput " << found.goodput);
  CAF_CHECK(found.limited <= 0.03);
  CAF_CHECK(found.goodput >= 0.8);
  CAF_CHECK(found.recovery.has_value());
}
