#define CAF_SUITE option_values

#include "libsync/option_values.hpp"

#include <caf/test/dsl.hpp>

#include <string>

using namespace purgatory;
using namespace std::chrono_literals;

CAF_TEST(durations have a number and a unit) {
  CAF_CHECK(parse_duration("500ms") == 500ms);
  CAF_CHECK(parse_duration("20s") == 20s);
  CAF_CHECK(parse_duration("30min") == 30min);
  CAF_CHECK(parse_duration("4h") == 4h);
  CAF_CHECK(parse_duration("7d") == 168h);
  CAF_CHECK(parse_duration("0s") == 0s);
}

CAF_TEST(what is no duration is refused) {
  for (const char* text : {"", "5", "s", "-5s", "+5s", " 5s", "5s ", "5 s",
                           "5S", "5sec", "1.5h", "5m", "1h30min", "0x5s",
                           "99999999999999999999s", "9223372036854775807d"})
    CAF_CHECK(!parse_duration(text));
}

CAF_TEST(sizes are bytes or have a binary unit) {
  CAF_CHECK(parse_size("1024") == 1024u);
  CAF_CHECK(parse_size("256KiB") == 262'144u);
  CAF_CHECK(parse_size("512MiB") == 536'870'912u);
  CAF_CHECK(parse_size("1GiB") == 1'073'741'824u);
}

CAF_TEST(what is no size is refused) {
  for (const char* text : {"", "KiB", "1KB", "1 KiB", "-1", "1.5MiB", "1kib",
                           "9223372036854775807GiB"})
    CAF_CHECK(!parse_size(text));
}

CAF_TEST(whole numbers are digits only) {
  CAF_CHECK(parse_whole("0") == 0u);
  CAF_CHECK(parse_whole("18446744073709551615") == 18'446'744'073'709'551'615u);
  for (const char* text :
       {"", "-1", "+1", " 1", "1 ", "1e3", "0x10", "18446744073709551616"})
    CAF_CHECK(!parse_whole(text));
}

CAF_TEST(fractions are decimal and not negative) {
  CAF_CHECK(parse_fraction("0.1") == 0.1);
  CAF_CHECK(parse_fraction("0") == 0.0);
  for (const char* text : {"", "-0.1", "inf", "nan", "1e-1", "0,1", "0.1x"})
    CAF_CHECK(!parse_fraction(text));
}

CAF_TEST(switches are true or false) {
  CAF_CHECK(parse_switch("true") == true);
  CAF_CHECK(parse_switch("false") == false);
  for (const char* text : {"", "1", "yes", "True"})
    CAF_CHECK(!parse_switch(text));
}

CAF_TEST(lists are split at commas and keep empty parts) {
  CAF_CHECK(split_list("").empty());
  CAF_CHECK(split_list("  ").empty());
  CAF_CHECK((split_list("a, b ,c") == std::vector<std::string>{"a", "b", "c"}));
  CAF_CHECK((split_list("a,,b") == std::vector<std::string>{"a", "", "b"}));
  CAF_CHECK((split_list("a,") == std::vector<std::string>{"a", ""}));
}

CAF_TEST(values print as they are written) {
  for (const char* text : {"0ms", "500ms", "20s", "90s", "30min", "4h", "7d"})
    CAF_CHECK_EQUAL(to_text(parse_duration(text).value()), text);
  for (const char* text : {"0", "1023", "256KiB", "512MiB", "3GiB"})
    CAF_CHECK_EQUAL(size_text(parse_size(text).value()), text);
}
