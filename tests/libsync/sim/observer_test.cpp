#define CAF_SUITE sim_observer

#include "libsync/sim/names.hpp"
#include "libsync/sim/observer.hpp"

#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::sim;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

struct fixture {
  time_point begin{std::chrono::hours{1}};
  observer watch{begin};
  host_key host{"a.example"};
  remote_url url{"https://a.example/x.git"};

  unit_key unit(const std::string& name) {
    return {key_of(name), identifier{"r"}};
  }
  void limit(std::uint32_t concurrent, std::uint32_t per_minute,
             time_point at) {
    watch.limits(host, {concurrent, per_minute, 0, 0}, at);
  }
  void start(const std::string& who, time_point at) {
    watch.started(host, unit(who), url, at);
  }
  void end(const std::string& who, fetch_class outcome, time_point at,
           std::vector<oid> got = {}, std::vector<oid> missing = {}) {
    job_course course;
    course.outcome = outcome;
    course.got = std::move(got);
    course.missing = std::move(missing);
    watch.ended(host, unit(who), url, course, at);
  }
  void visit(const std::string& who, fetch_class outcome, time_point at,
             std::vector<oid> got = {}) {
    start(who, at);
    end(who, outcome, at, std::move(got));
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(observer_tests, fixture)

CAF_TEST(one start too many in a minute is a violation) {
  limit(5, 2, begin);
  visit("a", fetch_class::ok, begin);
  visit("b", fetch_class::ok, begin + seconds{30});
  visit("c", fetch_class::ok, begin + seconds{60});
  CAF_CHECK_EQUAL(watch.violation_count(), 0u);
  visit("d", fetch_class::ok, begin + seconds{89});
  CAF_CHECK_EQUAL(watch.violation_count(), 1u);
}

CAF_TEST(one job too many at once is a violation) {
  limit(1, 30, begin);
  start("a", begin);
  CAF_CHECK_EQUAL(watch.violation_count(), 0u);
  start("b", begin);
  CAF_CHECK_EQUAL(watch.violation_count(), 1u);
}

CAF_TEST(two jobs of one unit at one host are a violation) {
  limit(5, 30, begin);
  start("a", begin);
  start("a", begin);
  CAF_CHECK_EQUAL(watch.violation_count(), 1u);
}

CAF_TEST(lowered limits count once the old window is over) {
  limit(5, 3, begin);
  visit("a", fetch_class::ok, begin);
  visit("b", fetch_class::ok, begin + seconds{1});
  limit(5, 1, begin + seconds{2});
  visit("c", fetch_class::ok, begin + seconds{59});
  CAF_CHECK_EQUAL(watch.violation_count(), 0u);
  visit("d", fetch_class::ok, begin + seconds{70});
  CAF_CHECK_EQUAL(watch.violation_count(), 1u);
}

CAF_TEST(hours and days are windows too) {
  watch.limits(host, {5, 30, 2, 3}, begin);
  visit("a", fetch_class::ok, begin);
  visit("b", fetch_class::ok, begin + minutes{10});
  visit("c", fetch_class::ok, begin + minutes{61});
  CAF_CHECK_EQUAL(watch.violation_count(), 0u);
  visit("d", fetch_class::ok, begin + minutes{65});
  CAF_CHECK_EQUAL(watch.violation_count(), 2u);
}

CAF_TEST(a start is of use if it brings an object or news) {
  const auto useless = [&] { return watch.units().at(unit("a")).useless; };
  visit("a", fetch_class::not_here, begin); // Known from now on.
  CAF_CHECK_EQUAL(useless(), 0u);
  visit("a", fetch_class::not_here, begin + minutes{1});
  CAF_CHECK_EQUAL(useless(), 1u);
  visit("a", fetch_class::ok, begin + minutes{2}, {object_of("x")});
  CAF_CHECK_EQUAL(useless(), 1u);
  visit("a", fetch_class::refused, begin + minutes{3}); // The host is down.
  CAF_CHECK_EQUAL(useless(), 1u);
  visit("b", fetch_class::refused, begin + minutes{4}); // Known already.
  CAF_CHECK_EQUAL(watch.units().at(unit("b")).useless, 1u);
}

CAF_TEST(another missing object is news) {
  start("a", begin);
  end("a", fetch_class::not_here, begin, {}, {object_of("x")});
  start("a", begin + minutes{1});
  end("a", fetch_class::not_here, begin + minutes{1}, {}, {object_of("y")});
  CAF_CHECK_EQUAL(watch.units().at(unit("a")).useless, 0u);
}

CAF_TEST(a backlog that is worked off at the limit is used in full) {
  limit(5, 2, begin);
  watch.backlog(host, true, begin);
  auto at = begin;
  for (int i = 0; i < 10; ++i) {
    at += seconds{60} + std::chrono::milliseconds{200};
    visit("a", fetch_class::ok, at);
    visit("b", fetch_class::ok, at);
  }
  watch.backlog(host, false, at);
  const auto& tally = watch.hosts().at(host);
  CAF_CHECK(tally.backlog == at - begin);
  CAF_CHECK(tally.ideal == tally.backlog);
}

CAF_TEST(equal sights give equal traces) {
  observer other{begin};
  watch.note("x", begin + seconds{1});
  other.note("x", begin + seconds{1});
  CAF_CHECK_EQUAL(watch.trace(), other.trace());
  watch.note("x", begin + seconds{2});
  other.note("x", begin + seconds{3});
  CAF_CHECK_NOT_EQUAL(watch.trace(), other.trace());
}

CAF_TEST_FIXTURE_SCOPE_END()
