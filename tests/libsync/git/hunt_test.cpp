// The bookkeeping of one round: whom to ask next, what a grant is good for.

#include "libsync/git/hunt.hpp"
#include "tests/support/events.hpp"

#define CAF_SUITE hunt
#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::git;
using purgatory::test::object;

namespace {

task to(const std::string& host, std::vector<oid> wants,
        wish kind = wish::states) {
  auto parsed = parse_clone_url("https://" + host + "/r.git");
  const auto& url = std::get<clone_url>(parsed);
  return {url, url.text, kind, test::key(1), std::move(wants)};
}

host_key host(const std::string& name) {
  return host_key{name};
}

const unit_key unit{test::key(1), identifier{"r"}};
const auto now = time_point{} + std::chrono::hours(1);

struct fixture {
  hunt h{unit, {}};
  std::vector<task> open
    = {to("a.example", {object(1), object(2)}), to("b.example", {object(1)}),
       to("c.example", {object(2)})};
  fixture() { h.begin_round(); }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(hunt_tests, fixture)

CAF_TEST(one question at a time in the order of the tasks) {
  CAF_CHECK(h.next_to_ask(open, now)->url.host == host("a.example"));
  CAF_CHECK(!h.next_to_ask(open, now));
  h.queued(host("a.example"), {});
  CAF_CHECK(h.next_to_ask(open, now)->url.host == host("b.example"));
}

CAF_TEST(outside a round nothing is asked and an offered task starts) {
  h.end_round(false);
  CAF_CHECK(!h.next_to_ask(open, now));
  CAF_CHECK(!h.granted(unit, host("a.example"), lease_id{1}, {}, now).start);
  CAF_CHECK(h.granted(unit, host("a.example"), lease_id{2}, open, now).start);
}

CAF_TEST(objects in flight are not fetched twice) {
  h.next_to_ask(open, now);
  CAF_CHECK(h.granted(unit, host("a.example"), lease_id{1}, open, now).start);
  CAF_CHECK(!h.next_to_ask(open, now));
  CAF_CHECK(h.granted(unit, host("b.example"), lease_id{2}, open, now).defer);
  h.answered(lease_id{1}, true);
  // The answer is known but not what it brought: its objects stay covered.
  CAF_CHECK(!h.next_to_ask(open, now));
  h.settle(lease_id{1});
  open = h.untried(open);
  CAF_REQUIRE_EQUAL(open.size(), 2u);
  CAF_CHECK(h.next_to_ask(open, now)->url.host == host("b.example"));
}

CAF_TEST(a partly covered task starts with what is left) {
  h.next_to_ask(open, now);
  h.queued(host("a.example"), {});
  h.next_to_ask(open, now);
  CAF_CHECK(h.granted(unit, host("b.example"), lease_id{1}, open, now).start);
  const auto t = h.granted(unit, host("a.example"), lease_id{2}, open, now);
  CAF_REQUIRE(t.start);
  CAF_REQUIRE_EQUAL(t.job.wants.size(), 1u);
  CAF_CHECK(t.job.wants.front() == object(2));
}

CAF_TEST(beyond the job limit a grant is deferred) {
  hunt narrow{unit, {1}};
  narrow.begin_round();
  narrow.next_to_ask(open, now);
  CAF_CHECK(
    narrow.granted(unit, host("b.example"), lease_id{1}, open, now).start);
  CAF_CHECK(
    narrow.granted(unit, host("c.example"), lease_id{2}, open, now).defer);
}

CAF_TEST(one job per host also for two tasks) {
  open = {to("a.example", {object(1)}),
          to("a.example", {object(5)}, wish::pull_requests)};
  h.next_to_ask(open, now);
  CAF_CHECK(h.granted(unit, host("a.example"), lease_id{1}, open, now).start);
  CAF_CHECK(!h.next_to_ask(open, now));
  CAF_CHECK(h.granted(unit, host("a.example"), lease_id{2}, open, now).defer);
}

CAF_TEST(what was tried is not asked again in this round but in the next) {
  h.next_to_ask(open, now);
  h.granted(unit, host("a.example"), lease_id{1}, open, now);
  h.answered(lease_id{1}, true);
  h.settle(lease_id{1});
  CAF_CHECK_EQUAL(h.untried(open).size(), 2u);
  h.end_round(true);
  h.begin_round();
  CAF_CHECK_EQUAL(h.untried(open).size(), 3u);
  CAF_CHECK_EQUAL(h.attempts(), 1u);
}

CAF_TEST(a place that no task needs is given up unless its answer is due) {
  h.next_to_ask(open, now);
  h.queued(host("a.example"), {});
  h.next_to_ask(open, now);
  const auto left = h.take_useless_places({});
  CAF_REQUIRE_EQUAL(left.size(), 1u);
  CAF_CHECK(left.front().host == host("a.example"));
  CAF_CHECK(h.busy());
  h.lost_place(host("b.example"));
  CAF_CHECK(!h.busy());
}

CAF_TEST(a redirect replaces its url and long or circular chains end) {
  const auto url
    = [](const std::string& name) { return to(name, {object(1)}).url; };
  CAF_CHECK(h.redirect(url("a.example").text, url("d.example")));
  CAF_CHECK(h.untried(open).front().url.host == host("d.example"));
  CAF_CHECK(!h.redirect(url("d.example").text, url("a.example")));
  CAF_CHECK(h.redirect(url("d.example").text, url("e.example")));
  CAF_CHECK(h.redirect(url("e.example").text, url("f.example")));
  CAF_CHECK(!h.redirect(url("f.example").text, url("g.example")));
  CAF_CHECK(h.untried(open).front().url.host == host("f.example"));
}

CAF_TEST_FIXTURE_SCOPE_END()
