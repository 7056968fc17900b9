#include "libsync/git/admission.hpp"

#include <array>

namespace purgatory {

const char* to_string(action value) {
  static constexpr std::array<const char*, 3> names
    = {"accept", "hold", "reject"};
  return names.at(static_cast<std::size_t>(value));
}

const char* to_string(publish_outcome value) {
  static constexpr std::array<const char*, 4> names
    = {"released", "superseded", "deleted", "refused"};
  return names.at(static_cast<std::size_t>(value));
}

} // namespace purgatory
