#pragma once

#include "libsync/options.hpp"

#include <vector>

/// Parts of the option table, one function per part.
namespace purgatory {

std::vector<option> horizon_options();
std::vector<option> politeness_options();

} // namespace purgatory
