#include "libsync/types.hpp"

#include <array>

namespace purgatory {

const char* to_string(fetch_class value) {
  static constexpr std::array<const char*, fetch_class_count> names = {
    "ok",      "partial", "redirected", "not_here",    "no_repo",  "auth",
    "limited", "server",  "timeout",    "refused",     "dns",      "tls",
    "policy",  "corrupt", "oversize",   "unsupported", "internal",
  };
  return names.at(static_cast<std::size_t>(value));
}

const char* to_string(lane value) {
  static constexpr std::array<const char*, 3> names
    = {"fresh", "retry", "debt"};
  return names.at(static_cast<std::size_t>(value));
}

bool is_real_outcome(fetch_class value) {
  return value != fetch_class::redirected && value != fetch_class::partial
         && value != fetch_class::internal;
}

std::string to_string(const unit_key& unit) {
  return unit.owner.value + "/" + unit.repo.value;
}

std::string to_string(const tenant& repository) {
  return repository.owner.value + "/" + repository.repo.value;
}

} // namespace purgatory
