#include "libsync/sim/generate.hpp"

namespace purgatory::sim {

// SplitMix64.
std::uint64_t dice::next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  auto mixed = state_;
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebULL;
  return mixed ^ (mixed >> 31U);
}

std::uint64_t dice::between(std::uint64_t least, std::uint64_t most) {
  return least + next() % (most - least + 1);
}

bool dice::chance(double share) {
  return static_cast<double>(next() >> 11U) / 9007199254740992.0 < share;
}

milliseconds dice::time(milliseconds least, milliseconds most) {
  return milliseconds{static_cast<std::int64_t>(
    between(static_cast<std::uint64_t>(least.count()),
            static_cast<std::uint64_t>(most.count())))};
}

} // namespace purgatory::sim
