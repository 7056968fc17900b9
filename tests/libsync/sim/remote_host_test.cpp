#define CAF_SUITE sim_remote_host

#include "libsync/sim/names.hpp"
#include "libsync/sim/remote_host.hpp"
#include "tests/libsync/sim/small_worlds.hpp"

#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::sim;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

struct fixture {
  std::mt19937_64 random{1};
  time_point begin{std::chrono::hours{1}};
  remote_url url = url_of("https://a.example/x.git");
  oid here = object_of("here");
  oid elsewhere = object_of("elsewhere");

  job_course visit(remote_host& host, time_point at) {
    return host.visit(url, {here, elsewhere}, at, random);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(remote_host_tests, fixture)

CAF_TEST(a host gives what it holds and names the rest) {
  remote_host host{test::exact_host(), begin, {}};
  host.put(url, begin + seconds{10}, here);
  CAF_CHECK(visit(host, begin).outcome == fetch_class::not_here);
  const auto course = visit(host, begin + seconds{10});
  CAF_CHECK(course.outcome == fetch_class::ok);
  CAF_CHECK(course.got == std::vector{here});
  CAF_CHECK(course.missing == std::vector{elsewhere});
  CAF_CHECK(course.takes == seconds{1});
}

CAF_TEST(without a repository there is no repo) {
  remote_host host{test::exact_host(), begin, {}};
  CAF_CHECK(visit(host, begin).outcome == fetch_class::no_repo);
}

CAF_TEST(an outage begins and ends) {
  auto model = test::exact_host();
  model.down = {{milliseconds{10'000}, milliseconds{20'000}, fetch_class::dns},
                {milliseconds{20'000}, milliseconds{30'000}, fetch_class::tls}};
  remote_host host{model, begin, {}};
  host.put(url, begin, here);
  CAF_CHECK(visit(host, begin + seconds{10}).outcome == fetch_class::dns);
  CAF_CHECK(visit(host, begin + seconds{20}).outcome == fetch_class::tls);
  CAF_CHECK(visit(host, begin + seconds{30}).outcome == fetch_class::ok);
  CAF_CHECK(host.up_from(begin + seconds{11}) == begin + seconds{30});
  // What is under way when it goes down is lost.
  CAF_CHECK(visit(host, begin + seconds{9}).outcome == fetch_class::timeout);
}

CAF_TEST(an outage ends with the faults) {
  auto model = test::exact_host();
  model.down = {{milliseconds{0}, milliseconds{20'000}, fetch_class::dns}};
  const remote_host host{model, begin, begin + seconds{5}};
  CAF_CHECK(!host.is_up(begin + seconds{4}));
  CAF_CHECK(host.is_up(begin + seconds{5}));
  CAF_CHECK(host.up_from(begin) == begin + seconds{5});
}

CAF_TEST(a hidden limit counts what was welcome in the last minute) {
  auto model = test::exact_host();
  model.limits
    = {{milliseconds{0}, 2, true}, {milliseconds{120'000}, 3, false}};
  remote_host host{model, begin, {}};
  host.put(url, begin, here);
  CAF_CHECK(visit(host, begin).outcome == fetch_class::ok);
  CAF_CHECK(visit(host, begin + seconds{20}).outcome == fetch_class::ok);
  const auto third = visit(host, begin + seconds{30});
  CAF_CHECK(third.outcome == fetch_class::limited);
  CAF_CHECK(third.retry_after == seconds{30});
  CAF_CHECK(visit(host, begin + seconds{60}).outcome == fetch_class::ok);
  for (int i = 0; i < 3; ++i)
    CAF_CHECK(visit(host, begin + minutes{3}).outcome == fetch_class::ok);
  const auto last = visit(host, begin + minutes{3});
  CAF_CHECK(last.outcome == fetch_class::limited);
  CAF_CHECK(!last.retry_after);
}

CAF_TEST(a job may bring only a part) {
  auto model = test::exact_host();
  model.objects_per_job = 1;
  remote_host host{model, begin, {}};
  host.put(url, begin, here);
  host.put(url, begin, elsewhere);
  const auto course = visit(host, begin);
  CAF_CHECK(course.outcome == fetch_class::partial);
  CAF_CHECK_EQUAL(course.got.size(), 1u);
  CAF_CHECK(course.missing.empty());
}

CAF_TEST(a share of the answers is wrong) {
  auto model = test::exact_host();
  model.errors = {{0.25, fetch_class::corrupt}};
  remote_host host{model, begin, {}};
  host.put(url, begin, here);
  int wrong = 0;
  for (int i = 0; i < 4000; ++i)
    wrong += visit(host, begin + minutes{i}).outcome == fetch_class::corrupt;
  CAF_CHECK(wrong > 900 && wrong < 1100);
}

CAF_TEST(another host is named by a redirect) {
  auto model = test::exact_host();
  model.redirect_to = "b.example";
  remote_host host{model, begin, {}};
  const auto course = visit(host, begin);
  CAF_CHECK(course.outcome == fetch_class::redirected);
  CAF_CHECK_EQUAL(course.redirect, "b.example");
}

CAF_TEST_FIXTURE_SCOPE_END()
