#include "libsync/ports.hpp"

#include <array>

namespace purgatory {

const char* to_string(object_kind value) {
  static constexpr std::array<const char*, 5> names
    = {"absent", "commit", "tree", "blob", "tag"};
  return names.at(static_cast<std::size_t>(value));
}

const char* to_string(store_result value) {
  static constexpr std::array<const char*, 4> names
    = {"done", "conflict", "missing", "failed"};
  return names.at(static_cast<std::size_t>(value));
}

} // namespace purgatory
