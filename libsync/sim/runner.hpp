#pragma once

#include "libsync/sim/run.hpp"
#include "libsync/sim/scene.hpp"
#include "libsync/sim/sim_engine.hpp"

#include <deque>
#include <map>
#include <memory>
#include <optional>

namespace purgatory::sim {

/// Plays the script of a world: who says what, and when the process dies.
class runner {
public:
  runner(const world& what, const run_options& options);

  /// To the end of the world.
  void run();

  [[nodiscard]] scene& around() { return scene_; }
  [[nodiscard]] const std::map<event_id, time_point>& offered() const {
    return offered_;
  }
  [[nodiscard]] const std::map<event_id, provenance>& provenances() const {
    return from_;
  }
  [[nodiscard]] std::uint64_t steps() const;
  [[nodiscard]] std::uint64_t crashes() const { return crashes_; }
  [[nodiscard]] const sim_engine* engine() const { return engine_.get(); }
  [[nodiscard]] std::map<std::string, std::uint64_t> facts() const;
  /// The name of an offered event, as the world calls it.
  [[nodiscard]] const std::map<std::string, nostr::event>& names() const {
    return events_;
  }

private:
  void start(journal_image image);
  void end_process(const crash& how);
  void play(const action& what);
  void offer(const nostr::event& ev, provenance from);
  void after_step();
  void check_promises(const journal_image& image);
  [[nodiscard]] time_point next() const;

  template <class Event>
  void say(const Event& what);

  const world& plan_;
  run_options options_;
  scene scene_;
  std::unique_ptr<sim_engine> engine_;
  std::size_t next_happening_ = 0;
  std::map<std::string, nostr::event> events_;
  std::map<event_id, time_point> offered_;
  std::map<event_id, provenance> from_;
  /// Offered while nobody was there: clients and relays try again.
  std::deque<std::pair<nostr::event, provenance>> missed_;
  std::vector<configure> configured_;
  std::optional<journal_image> disk_; ///< While the process is down.
  time_point back_at_ = time_point::max();
  std::optional<std::pair<std::uint64_t, crash>> doom_; ///< At which step.
  std::uint64_t crashes_ = 0;
  std::uint64_t steps_at_once_ = 0; ///< Since time went on.
  std::uint64_t steps_before_ = 0;
  std::map<std::string, std::uint64_t> facts_;
};

} // namespace purgatory::sim
