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

/// How many seeds to try: PURGATORY_TEST_SEEDS, or what is usual; fewer under a
/// sanitizer, which looks for other faults at a higher price.
inline std::uint64_t seeds_or(std::uint64_t usual) {
  const char* wanted = std::getenv("PURGATORY_TEST_SEEDS");
  if (wanted != nullptr)
    return std::stoull(wanted);
#ifdef __SANITIZE_ADDRESS__
  return usual < 8 ? 1 : usual / 8;
#else
  return usual;
#endif
}

} // namespace purgatory::test
