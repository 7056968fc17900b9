#define CAF_SUITE sync_progress
#include "libsync/engine/sync_progress.hpp"

#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace std::chrono_literals;
using engine::host_backlog;

namespace {

constexpr time_point start{1h};

struct fixture {
  engine::sync_progress progress{start};

  void report(const char* who, std::size_t held, std::size_t units,
              std::size_t fresh, engine::sync_steps steps = {}) {
    progress.report(who, {held, units, fresh}, steps);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(sync_progress_tests, fixture)

CAF_TEST(a later report of a name replaces what it holds and adds what it did) {
  report("a", 5, 2, 2, {1, 0, {}});
  report("b", 1, 1, 0, {2, 0, {}});
  report("a", 3, 1, 1, {4, 0, {}});
  CAF_CHECK_EQUAL(progress.sums().held, 4u);
  CAF_CHECK_EQUAL(progress.sums().units, 2u);
  CAF_CHECK_EQUAL(progress.sums().fresh, 1u);
  CAF_CHECK_EQUAL(progress.sums().released, 7u);
}

CAF_TEST(it is over when history is read and every unit had a full round) {
  report("a", 2, 1, 1);
  CAF_CHECK(!progress.is_over(start));
  progress.history_read(start);
  CAF_CHECK(!progress.is_over(start + 1h));
  report("a", 2, 1, 0);
  CAF_CHECK(progress.is_over(start + 1h));
}

CAF_TEST(what came last in history has a minute to be reported) {
  progress.history_read(start);
  CAF_CHECK(!progress.is_over(start + 59s));
  progress.history_read(start + 59s); // A second connection.
  CAF_CHECK(progress.is_over(start + 60s));
}

CAF_TEST(it is not over before history is read) {
  report("a", 2, 1, 0);
  CAF_CHECK(!progress.is_over(start + 1h));
}

CAF_TEST(after seven days it is over in any case) {
  report("a", 2, 1, 1);
  CAF_CHECK(!progress.is_over(start + 7 * 24h - 1s));
  CAF_CHECK(progress.is_over(start + 7 * 24h));
}

CAF_TEST(the slowest host decides how long it takes) {
  const std::vector<host_backlog> hosts = {{1858, 30}, {10, 5}, {0, 30}};
  // 1858 at 30 a minute: 61.93 min.
  CAF_CHECK(progress.remaining(hosts, 128) == 3716s);
  CAF_CHECK(progress.remaining({{1858, 30}, {10, 0.1}}, 128) == 100min);
}

CAF_TEST(few workers with long jobs take longer than any host) {
  report("a", 1, 1, 1, {0, 10, 200s});
  CAF_CHECK(progress.mean_job() == 20s);
  const std::vector<host_backlog> hosts = {{60, 60}, {60, 60}};
  CAF_CHECK(progress.remaining(hosts, 128) == 60s);
  CAF_CHECK(progress.remaining(hosts, 4) == 600s);
}

CAF_TEST(nothing waits and nothing remains) {
  CAF_CHECK(progress.remaining({}, 128) == 0s);
  CAF_CHECK(progress.remaining({{0, 0}}, 128) == 0s);
  CAF_CHECK(!progress.mean_job());
}

CAF_TEST(a host that bears no start leaves the end open) {
  CAF_CHECK(!progress.remaining({{5, 30}, {1, 0}}, 128));
}

CAF_TEST_FIXTURE_SCOPE_END()
