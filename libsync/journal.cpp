#include "libsync/journal.hpp"

#include <array>

namespace purgatory {

bool is_waiting(entry_state state) {
  return state <= entry_state::publishing || state == entry_state::parked
         || state == entry_state::soft_expired;
}

bool can_follow(entry_state from, entry_state to) {
  switch (from) {
  case entry_state::served:
    return to == entry_state::superseded || to == entry_state::deleted;
  case entry_state::superseded:
    return to == entry_state::deleted;
  case entry_state::refused:
  case entry_state::dropped:
    return to == entry_state::served || to == entry_state::deleted;
  case entry_state::deleted:
    return false;
  default:
    return true;
  }
}

const char* to_string(provenance value) {
  static constexpr std::array<const char*, 4> names
    = {"direct", "sync", "import", "served"};
  return names.at(static_cast<std::size_t>(value));
}

const char* to_string(entry_state value) {
  static constexpr std::array<const char*, 14> names
    = {"orphan",     "hunting", "unsatisfiable", "future",      "aligning",
       "publishing", "served",  "superseded",    "deleted",     "refused",
       "dropped",    "parked",  "verdict",       "soft_expired"};
  return names.at(static_cast<std::size_t>(value));
}

} // namespace purgatory
