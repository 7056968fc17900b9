#define CAF_SUITE git_http_date

#include "libsync/git/http_date.hpp"

#include <caf/test/dsl.hpp>

#include <limits>
#include <string>

using namespace purgatory;
using namespace purgatory::git;

namespace {

constexpr unix_seconds example = 784'111'777; // RFC 9110 §5.6.7
constexpr unix_seconds in_2026 = 1'790'000'000;

std::optional<unix_seconds> read(const std::string& text) {
  return parse_http_date(text, in_2026);
}

} // namespace

CAF_TEST(all three forms of a date are the same moment) {
  CAF_CHECK(read("Sun, 06 Nov 1994 08:49:37 GMT") == example);
  CAF_CHECK(read("Sunday, 06-Nov-94 08:49:37 GMT") == example);
  CAF_CHECK(read("Sun Nov  6 08:49:37 1994") == example);
}

CAF_TEST(every month and the leap day are known) {
  CAF_CHECK(read("Thu, 01 Jan 1970 00:00:00 GMT") == 0);
  CAF_CHECK(read("Wed, 31 Dec 1969 23:59:59 GMT") == -1);
  CAF_CHECK(read("Thu, 29 Feb 2024 12:00:00 GMT") == 1'709'208'000);
  CAF_CHECK(read("Thu Dec 31 23:59:60 2026") == 1'798'761'600);
  CAF_CHECK(read("Fri, 31 Dec 9999 23:59:59 GMT") == 253'402'300'799);
  for (const std::string month : {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"})
    CAF_CHECK(read("Sun, 01 " + month + " 2023 00:00:00 GMT"));
}

CAF_TEST(two digits of a year mean at most fifty years ahead) {
  CAF_CHECK(read("Friday, 01-Jan-76 00:00:00 GMT") == 3'345'062'400); // 2076
  CAF_CHECK(read("Friday, 01-Jan-77 00:00:00 GMT") == 220'924'800);   // 1977
  CAF_CHECK(read("Friday, 01-Jan-00 00:00:00 GMT") == 946'684'800);
}

CAF_TEST(a clock that is out of its mind does no harm) {
  using limits = std::numeric_limits<unix_seconds>;
  for (const auto now : {limits::min(), limits::max()})
    CAF_CHECK(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT", now));
}

CAF_TEST(what is no date is nothing) {
  for (const std::string text : {"",
                                 "Sun",
                                 "Sun,",
                                 "Sunday",
                                 "Sunday,",
                                 "Sun, 06 Nov 1994",
                                 "Sun, 6 Nov 1994 08:49:37 GMT",
                                 "Sun, 06 Nov 1994 08:49:37",
                                 "Sun, 06 Nov 1994 08:49:37 UTC",
                                 "Sun, 06 Nov 1994 08:49:37 GMT ",
                                 "Sun, 06 Nov 94 08:49:37 GMT",
                                 "Sun, 06 nov 1994 08:49:37 GMT",
                                 "sun, 06 Nov 1994 08:49:37 GMT",
                                 "Sun, 31 Feb 1994 08:49:37 GMT",
                                 "Sun, 00 Nov 1994 08:49:37 GMT",
                                 "Sun, 06 Nov 1994 24:00:00 GMT",
                                 "Sun, 06 Nov 1994 08:60:00 GMT",
                                 "Sun, 06 Nov 1994 08:49:61 GMT",
                                 "Sun, 06 Nov 1994 -8:49:37 GMT",
                                 "Sunday, 06-Nov-1994 08:49:37 GMT",
                                 "Sun Nov 06 08:49:37 94",
                                 "Sun Nov 6 08:49:37 1994",
                                 "1994-11-06T08:49:37Z",
                                 "784111777",
                                 "99999999999999999999999999999999"}) {
    CAF_MESSAGE(text);
    CAF_CHECK(!read(text));
  }
  CAF_CHECK(!read(std::string(100'000, ' ')));
}
