#pragma once

#include <iosfwd>

namespace purgatory {

/// `purgatoryd simulate`: runs a scripted world on a virtual clock and says how
/// it went (docs/simulation.md). `argv` begins with the command's name.
///
/// 0: no violation; 1: some, or a world that can't be read; 2: wrong usage.
int run_simulate(int argc, const char* const* argv, std::ostream& out,
                 std::ostream& err);

} // namespace purgatory
