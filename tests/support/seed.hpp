#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace purgatory::test {

/// Where random tests start: PURGATORY_TEST_SEED, or a fixed number so that a
/// plain run is the same everywhere. Print it, so that a failure can be
/// repeated.
inline std::uint64_t first_seed() {
  const char* wanted = std::getenv("PURGATORY_TEST_SEED");
  return wanted != nullptr ? std::stoull(wanted) : 1;
}

} // namespace purgatory::test
