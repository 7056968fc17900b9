#define CAF_SUITE metrics

#include "actors/metrics.hpp"
#include "tests/support/deterministic.hpp"

#include <cstdint>
#include <map>
#include <string>

using namespace purgatory;

namespace {

struct fixture : test::deterministic {
  metrics_actor uut = track(sys.spawn(metrics));

  void tell(counter what, const std::string& label, std::uint64_t by = 1) {
    caf::anon_send(uut, count{what, label, by});
  }

  std::map<std::string, std::uint64_t> scraped() {
    return ask<metrics_snapshot>(uut, scrape{}).values;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(metrics_tests, fixture)

CAF_TEST(every counter has the name and the label keys of the rules) {
  tell(counter::sync_attempts, "not_here");
  tell(counter::oids_fetched, "", 7);
  tell(counter::domain_requests, "git.example.org");
  tell(counter::wire_requests, "git.example.org", 3);
  tell(counter::fates, "30618 served");
  tell(counter::refused, "invalid");
  tell(counter::fetch_bytes, "ok", 4096);
  const std::map<std::string, std::uint64_t> expected = {
    {R"(purgatory_sync_attempts_total{class="not_here"})", 1},
    {R"(purgatory_sync_oids_fetched_total)", 7},
    {R"(purgatory_domain_requests_total{domain="git.example.org"})", 1},
    {R"(purgatoryd_wire_requests_total{domain="git.example.org"})", 3},
    {R"(purgatoryd_fates_total{kind="30618",fate="served"})", 1},
    {R"(purgatoryd_refused_total{reason="invalid"})", 1},
    {R"(purgatoryd_fetch_bytes_total{class="ok"})", 4096},
  };
  CAF_CHECK(scraped() == expected);
}

CAF_TEST(counts add up) {
  tell(counter::sync_attempts, "ok");
  tell(counter::sync_attempts, "ok");
  tell(counter::sync_attempts, "timeout", 5);
  const auto values = scraped();
  CAF_CHECK_EQUAL(values.at(R"(purgatory_sync_attempts_total{class="ok"})"),
                  2u);
  CAF_CHECK_EQUAL(
    values.at(R"(purgatory_sync_attempts_total{class="timeout"})"), 5u);
}

CAF_TEST(a counter without labels is there before anything happens) {
  CAF_CHECK(scraped().at("purgatory_sync_oids_fetched_total") == 0);
}

CAF_TEST(the first twenty domains keep their label and the rest are other) {
  for (int host = 0; host < 50; ++host)
    tell(counter::domain_requests, "h" + std::to_string(host) + ".org");
  for (int round = 0; round < 3; ++round)
    tell(counter::domain_requests, "h49.org");
  tell(counter::domain_requests, "h0.org");
  const auto values = scraped();
  CAF_CHECK_EQUAL(values.size(), 22u);
  CAF_CHECK_EQUAL(
    values.at(R"(purgatory_domain_requests_total{domain="other"})"), 33u);
  CAF_CHECK_EQUAL(
    values.at(R"(purgatory_domain_requests_total{domain="h0.org"})"), 2u);
}

CAF_TEST(both counters by domain show the same hosts) {
  for (int host = 0; host < 20; ++host)
    tell(counter::domain_requests, "h" + std::to_string(host) + ".org");
  tell(counter::wire_requests, "h3.org");
  tell(counter::wire_requests, "late.org", 2);
  const auto values = scraped();
  CAF_CHECK_EQUAL(
    values.at(R"(purgatoryd_wire_requests_total{domain="h3.org"})"), 1u);
  CAF_CHECK_EQUAL(
    values.at(R"(purgatoryd_wire_requests_total{domain="other"})"), 2u);
}

CAF_TEST(labels are bounded for any input) {
  for (int i = 0; i < 10'000; ++i) {
    tell(counter::refused, "reason " + std::to_string(i));
    tell(counter::fates, std::to_string(i) + " served");
  }
  const auto values = scraped();
  CAF_CHECK(values.size() < 200);
  CAF_CHECK(values.at(R"(purgatoryd_refused_total{reason="other"})") > 9000u);
  CAF_CHECK(values.at(R"(purgatoryd_fates_total{kind="other",fate="other"})")
            > 9000u);
}

CAF_TEST(label values are escaped) {
  tell(counter::refused, "a\"b\\c\nd");
  CAF_CHECK(scraped().at("purgatoryd_refused_total{reason=\"a\\\"b\\\\c\\nd\"}")
            == 1);
}

CAF_TEST_FIXTURE_SCOPE_END()
