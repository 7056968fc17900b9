#pragma once

#include <cstdint>
#include <string>

namespace purgatory::test {

/// A loopback address that no other server of this test run uses, each in a
/// /24 of its own: limits count per host, and a host key ignores the port.
std::string own_loopback_address();

/// A port that is free on `address` now.
std::uint16_t free_port(const std::string& address);

} // namespace purgatory::test
