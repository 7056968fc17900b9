#include "libsync/engine/debounce.hpp"

namespace purgatory::engine {

bool debounce::pull_to(time_point due) {
  if (due_ && *due_ <= due)
    return false;
  due_ = due;
  return true;
}

} // namespace purgatory::engine
