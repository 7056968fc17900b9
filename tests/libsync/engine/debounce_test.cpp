#define CAF_SUITE debounce
#include "libsync/engine/debounce.hpp"

#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace std::chrono_literals;

CAF_TEST(nothing is due before the first request) {
  const engine::debounce wait;
  CAF_CHECK(!wait.due());
  CAF_CHECK(!wait.elapsed(time_point::max()));
}

CAF_TEST(a later delay does not push back and a sooner one pulls in) {
  const time_point now{1h};
  engine::debounce wait;
  CAF_CHECK(wait.pull_to(now + 180s));
  CAF_CHECK(!wait.pull_to(now + 200s));
  CAF_CHECK(!wait.pull_to(now + 180s));
  CAF_CHECK(*wait.due() == now + 180s);
  CAF_CHECK(wait.pull_to(now + 500ms));
  CAF_CHECK(*wait.due() == now + 500ms);
}

CAF_TEST(default and immediate delay elapse at their own time) {
  const time_point now{1h};
  engine::debounce direct;
  engine::debounce sync;
  direct.pull_to(now + 180s);
  sync.pull_to(now + 500ms);
  CAF_CHECK(!sync.elapsed(now + 500ms - 1ns));
  CAF_CHECK(sync.elapsed(now + 500ms));
  CAF_CHECK(!direct.elapsed(now + 180s - 1ns));
  CAF_CHECK(direct.elapsed(now + 180s));
}

CAF_TEST(rapid requests keep one due time) {
  const time_point now{1h};
  engine::debounce wait;
  int pulled = 0;
  for (int i = 0; i < 10; ++i)
    pulled += wait.pull_to(now + i * 10ms + 500ms);
  CAF_CHECK_EQUAL(pulled, 1);
  CAF_CHECK(*wait.due() == now + 500ms);
}

CAF_TEST(after clear a later time is taken again) {
  const time_point now{1h};
  engine::debounce wait;
  wait.pull_to(now);
  wait.clear();
  CAF_CHECK(wait.pull_to(now + 1s));
}
