#pragma once

#include "libsync/sim/world.hpp"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// Worlds as documented JSON (docs/simulation.md).
namespace purgatory::sim {

/// What is wrong with a world file, each with the place in it, such as
/// `script[3].at: no duration`. At most 100 are told.
using world_problems = std::vector<std::string>;

/// Reads a world strictly: unknown members, wrong types, values out of range
/// and names that nobody introduced are problems. All of them are named.
/// Refuses text over 256 MiB and nesting over 16.
std::variant<world, world_problems> read_world(std::string_view text);

/// The same world as JSON with two spaces of indentation: `read_world` gives
/// it back. Members that have their default are left out.
std::string write_world(const world& what);

} // namespace purgatory::sim
