#define CAF_SUITE generation
#include "libsync/engine/generation.hpp"

#include <caf/test/dsl.hpp>

using namespace purgatory;

CAF_TEST(only the tick that was armed last counts) {
  engine::generation timer;
  const auto first = timer.arm();
  const auto second = timer.arm();
  CAF_CHECK(!timer.is_current(first));
  CAF_CHECK(timer.is_current(second));
}

CAF_TEST(no tick counts before arming or after disarming) {
  engine::generation timer;
  CAF_CHECK(!timer.is_current(0));
  const auto armed = timer.arm();
  timer.disarm();
  CAF_CHECK(!timer.is_current(armed));
  CAF_CHECK_NOT_EQUAL(timer.arm(), armed);
  CAF_CHECK(!timer.is_current(armed));
}
