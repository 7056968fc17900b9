#pragma once

#include "libsync/sim/json_object.hpp"
#include "libsync/sim/world.hpp"

namespace purgatory::sim {

inline constexpr std::uint64_t max_limit = 1'000'000;

/// Reads the limits of a host; what is not named stays as it is.
void read_limits(json_object& from, engine::start_limits& to);

/// Reads `script`. Names of events have to be introduced before they are used.
void read_script(json_object& from, world& to);

} // namespace purgatory::sim
