#pragma once

#include "messages/actors.hpp"

#include <memory>

namespace purgatory {

struct file_sink_state {
  static inline const char* name = "file_sink";
  explicit file_sink_state(relay_link_actor::pointer) {}
};

/// Releases into a file when there is no relay: what is in the log is served.
/// A second release of an id changes nothing. When the log can not be written
/// the answer is an error and nothing was released. Blocks on the disk: give
/// it a thread of its own.
relay_link_actor::behavior_type
file_sink(relay_link_actor::stateful_pointer<file_sink_state> self,
          std::shared_ptr<release_log> log);

} // namespace purgatory
