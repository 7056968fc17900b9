#pragma once

#include <cstddef>
#include <random>
#include <string_view>

namespace purgatory::test {

/// Hands `bytes` to `take` in random pieces of 1 to `most` bytes, until `take`
/// returns false.
template <class Take>
void in_random_chunks(std::string_view bytes, std::mt19937_64& random,
                      std::size_t most, Take take) {
  std::uniform_int_distribution<std::size_t> size{1, most};
  while (!bytes.empty()) {
    const auto chunk = bytes.substr(0, size(random));
    bytes.remove_prefix(chunk.size());
    if (!take(chunk))
      return;
  }
}

} // namespace purgatory::test
