#include "libsync/git/http_outcome.hpp"

#define CAF_SUITE git_http_outcome

#include <caf/test/dsl.hpp>

#include <limits>
#include <string>

using namespace purgatory;
using namespace purgatory::git;

CAF_TEST(each status has the class of the rules) {
  CAF_CHECK(http_outcome(200, false) == fetch_class::ok);
  CAF_CHECK(http_outcome(401, false) == fetch_class::auth);
  CAF_CHECK(http_outcome(403, false) == fetch_class::auth);
  CAF_CHECK(http_outcome(404, false) == fetch_class::no_repo);
  CAF_CHECK(http_outcome(410, false) == fetch_class::no_repo);
  CAF_CHECK(http_outcome(408, false) == fetch_class::timeout);
  CAF_CHECK(http_outcome(429, false) == fetch_class::limited);
  CAF_CHECK(http_outcome(500, false) == fetch_class::server);
  CAF_CHECK(http_outcome(502, true) == fetch_class::server);
  CAF_CHECK(http_outcome(302, false) == fetch_class::policy);
}

CAF_TEST(a bare 503 is the server and one with Retry - After a limit) {
  CAF_CHECK(http_outcome(503, false) == fetch_class::server);
  CAF_CHECK(http_outcome(503, true) == fetch_class::limited);
}

CAF_TEST(every other status is no git answer) {
  for (const int status : {0, 100, 204, 206, 400, 405, 418, 451, 600, 999})
    CAF_CHECK(http_outcome(status, false) == fetch_class::unsupported);
}

CAF_TEST(redirects are those with a location to follow) {
  for (const int status : {301, 302, 303, 307, 308})
    CAF_CHECK(is_redirect(status));
  for (const int status : {200, 300, 304, 404})
    CAF_CHECK(!is_redirect(status));
}

CAF_TEST(only a refusal of the request as such means another protocol) {
  for (const int status : {400, 405, 406, 415, 501})
    CAF_CHECK(refuses_protocol(status));
  for (const int status : {200, 401, 404, 429, 500, 503})
    CAF_CHECK(!refuses_protocol(status));
}

namespace {

constexpr unix_seconds now = 784'111'777; // Sun, 06 Nov 1994 08:49:37

std::string wait_of(const std::string& text) {
  const auto wait = parse_retry_after(text, now);
  return wait ? std::to_string(wait->count()) : "nothing";
}

} // namespace

CAF_TEST(Retry - After is seconds or a date) {
  CAF_CHECK_EQUAL(wait_of("120"), "120");
  CAF_CHECK_EQUAL(wait_of(" 0120\t"), "120");
  CAF_CHECK_EQUAL(wait_of("0"), "0");
  CAF_CHECK_EQUAL(wait_of("Sun, 06 Nov 1994 08:50:37 GMT"), "60");
  CAF_CHECK_EQUAL(wait_of(" Sunday, 06-Nov-94 08:49:38 GMT"), "1");
  CAF_CHECK_EQUAL(wait_of("Sun Nov  6 08:49:37 1994"), "0");
}

CAF_TEST(Retry - After is never longer than a day and never negative) {
  CAF_CHECK_EQUAL(wait_of("86400"), "86400");
  CAF_CHECK_EQUAL(wait_of("86401"), "86400");
  CAF_CHECK_EQUAL(wait_of("18446744073709551617"), "86400");
  CAF_CHECK_EQUAL(wait_of(std::string(5000, '9')), "86400");
  CAF_CHECK_EQUAL(wait_of("Mon, 07 Nov 1994 08:49:37 GMT"), "86400");
  CAF_CHECK_EQUAL(wait_of("Fri, 31 Dec 9999 23:59:59 GMT"), "86400");
  CAF_CHECK_EQUAL(wait_of("Sun, 06 Nov 1994 08:49:36 GMT"), "0");
  CAF_CHECK_EQUAL(wait_of("Thu, 01 Jan 1970 00:00:00 GMT"), "0");
  CAF_CHECK_EQUAL(wait_of("Sat, 01 Jan 0000 00:00:00 GMT"), "0");
}

CAF_TEST(what Retry - After does not say is nothing) {
  for (const std::string text :
       {"", " ", "-1", "+1", "1.5", "1e3", "0x10", "12s", "1 2", "soon",
        "Sun, 06 Nov", "120, 120", "\"120\""})
    CAF_CHECK_EQUAL(wait_of(text), "nothing");
}

CAF_TEST(a clock at either end of time does no harm to Retry - After) {
  using limits = std::numeric_limits<unix_seconds>;
  const std::string date = "Sun, 06 Nov 1994 08:49:37 GMT";
  CAF_CHECK(parse_retry_after(date, limits::min()) == std::chrono::hours{24});
  CAF_CHECK(parse_retry_after(date, limits::max()) == std::chrono::seconds{0});
}
