#pragma once

#include <string>
#include <string_view>

namespace purgatory::git {

/// The block of addresses that counts as one server (rules §8.2): the /24 of
/// an IPv4 address, mapped ones included, or the /48 of an IPv6 address, in
/// canonical text such as `192.0.2.0/24` and `2001:db8:7::/48`. Empty when
/// `address` is not a plain address.
std::string address_prefix(std::string_view address);

} // namespace purgatory::git
