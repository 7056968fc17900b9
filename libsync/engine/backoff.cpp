#include "libsync/engine/backoff.hpp"

#include <algorithm>

namespace purgatory::engine {

duration backoff::after(std::uint32_t n, double draw) const {
  if (n == 0)
    return duration::zero();
  auto wait = std::min(base, cap);
  // Doubling by steps: n may be anything, a shift would overflow.
  while (--n > 0 && wait < cap)
    wait = wait > cap / 2 ? cap : wait * 2;
  if (jitter == 0)
    return wait;
  const auto factor = 1.0 - jitter + 2.0 * jitter * draw;
  return duration{
    static_cast<duration::rep>(static_cast<double>(wait.count()) * factor)};
}

time_point round_up(time_point due, duration interval) {
  if (interval <= duration::zero())
    return due;
  const auto past = due.time_since_epoch() % interval;
  return past == duration::zero() ? due : due + (interval - past);
}

} // namespace purgatory::engine
