#include "libsync/git/http_outcome.hpp"

#define CAF_SUITE git_http_outcome

#include <caf/test/dsl.hpp>

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
