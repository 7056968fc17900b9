#pragma once

#include "libsync/engine/generation.hpp"
#include "libsync/engine/sync_progress.hpp"
#include "messages/actors.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace purgatory {

struct sync_watch_config {
  std::size_t workers = 128;
  git::plan_settings afterwards; ///< In force when it is over.
  duration longest = std::chrono::hours{24 * 7};
  duration pause = std::chrono::minutes{1}; ///< Between two lines of progress.
};

/// Shell of a sync_progress: asks the throttles what waits, writes one line a
/// minute, and tells the supervisor when it is over. Then it ends.
class sync_watch_state {
public:
  using pointer = sync_watch_actor::stateful_pointer<sync_watch_state>;
  static inline const char* name = "sync_watch";

  explicit sync_watch_state(pointer self) : self_(self) {}

  sync_watch_actor::behavior_type make_behavior(supervisor_actor supervisor,
                                                sync_watch_config config);

private:
  /// What the throttles answer to one question.
  struct census {
    std::vector<engine::host_backlog> hosts;
    std::size_t open = 0;
  };

  void on_tick();
  void ask_throttles(const std::vector<throttle_actor>& all);
  void write_line(const std::vector<engine::host_backlog>& hosts);
  void end();
  void arm();

  pointer self_;
  supervisor_actor supervisor_;
  sync_watch_config config_;
  std::optional<engine::sync_progress> progress_;
  engine::generation timer_;
};

sync_watch_actor::behavior_type sync_watch(sync_watch_state::pointer self,
                                           supervisor_actor supervisor,
                                           sync_watch_config config);

} // namespace purgatory
