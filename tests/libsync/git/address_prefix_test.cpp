#define CAF_SUITE git_address_prefix

#include "libsync/git/address_prefix.hpp"

#include <caf/test/dsl.hpp>

using namespace purgatory::git;

CAF_TEST(an IPv4 address belongs to its first 24 bits) {
  CAF_CHECK_EQUAL(address_prefix("192.0.2.7"), "192.0.2.0/24");
  CAF_CHECK_EQUAL(address_prefix("192.0.2.255"), "192.0.2.0/24");
  CAF_CHECK_EQUAL(address_prefix("192.0.3.7"), "192.0.3.0/24");
}

CAF_TEST(an IPv6 address belongs to its first 48 bits) {
  CAF_CHECK_EQUAL(address_prefix("2001:db8:7:1::9"), "2001:db8:7::/48");
  CAF_CHECK_EQUAL(address_prefix("2001:DB8:7:ffff:0:0:0:1"), "2001:db8:7::/48");
  CAF_CHECK_EQUAL(address_prefix("2001:db8:8::9"), "2001:db8:8::/48");
  CAF_CHECK_EQUAL(address_prefix("::1"), "::/48");
}

CAF_TEST(a mapped IPv4 address is the IPv4 address) {
  CAF_CHECK_EQUAL(address_prefix("::ffff:192.0.2.7"), "192.0.2.0/24");
}

CAF_TEST(whatever is no plain address has no prefix) {
  using namespace std::string_view_literals;
  for (const auto text :
       {""sv, "192.0.2"sv, "192.0.2.256"sv, "127.1"sv, "0x7f000001"sv,
        "example.org"sv, "[::1]"sv, "::1%lo"sv, "192.0.2.7:80"sv,
        " 192.0.2.7"sv, "192.0.2.7\0"sv, "192.0.2.7/24"sv, ":::"sv}) {
    CAF_MESSAGE(text);
    CAF_CHECK_EQUAL(address_prefix(text), "");
  }
  CAF_CHECK_EQUAL(address_prefix(std::string(10'000, '1')), "");
}
