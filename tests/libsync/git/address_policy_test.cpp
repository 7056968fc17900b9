#define CAF_SUITE address_policy

#include "libsync/git/address_policy.hpp"

#include <arpa/inet.h>
#include <caf/test/dsl.hpp>

#include <string>

using namespace purgatory::git;

namespace {

bool is_public(const std::string& text) {
  std::array<std::uint8_t, 4> v4{};
  if (inet_pton(AF_INET, text.c_str(), v4.data()) == 1)
    return is_public_address(v4);
  std::array<std::uint8_t, 16> v6{};
  if (inet_pton(AF_INET6, text.c_str(), v6.data()) != 1)
    CAF_FAIL("no address: " << text);
  return is_public_address(v6);
}

} // namespace

CAF_TEST(refused_ipv4_networks_end_where_they_should) {
  // First and last refused address of each network, and their neighbours.
  const std::array<const char*, 4> networks[] = {
    {"", "0.0.0.0", "0.255.255.255", "1.0.0.0"},
    {"9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"},
    {"100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"},
    {"126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"},
    {"169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"},
    {"172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"},
    {"191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"},
    {"192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"},
    {"192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"},
    {"198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"},
    {"198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"},
    {"203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"},
    {"223.255.255.255", "224.0.0.0", "255.255.255.255", ""},
  };
  for (const auto& [before, first, last, after] : networks) {
    CAF_CHECK(*before == '\0' || is_public(before));
    CAF_CHECK(!is_public(first));
    CAF_CHECK(!is_public(last));
    CAF_CHECK(*after == '\0' || is_public(after));
  }
  CAF_CHECK(!is_public("169.254.169.254"));
  CAF_CHECK(is_public("8.8.8.8"));
}

CAF_TEST(only_global_unicast_is_public_in_ipv6) {
  for (const auto* text :
       {"2000::", "2001:1::", "2606:4700::1111", "2a00::1", "2001:db7:ffff::",
        "2001:db9::", "3fff:1000::", "3ffe:ffff::", "2003::1"})
    CAF_CHECK(is_public(text));
  for (const auto* text :
       {"::", "::1", "::8.8.8.8", "1fff:ffff::", "4000::", "fc00::1", "fd00::1",
        "fe80::1", "fec0::1", "ff02::1", "100::1", "2001::1", "2001:0:ffff::1",
        "2001:db8::1", "2001:db8:ffff::", "3fff::1", "3fff:fff::1", "5f00::1",
        "64:ff9b:1::8.8.8.8"})
    CAF_CHECK(!is_public(text));
}

CAF_TEST(addresses_inside_addresses_are_judged) {
  for (const auto* text :
       {"::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:0808:0808::1"})
    CAF_CHECK(is_public(text));
  for (const auto* text :
       {"::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1",
        "64:ff9b::169.254.169.254", "2002:7f00:1::", "2002:a00:1::1",
        "2002:c0a8:101::8.8.8.8"})
    CAF_CHECK(!is_public(text));
}
