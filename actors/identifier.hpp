#pragma once

#include "libsync/git/identifier_plan.hpp"
#include "libsync/live_clock.hpp"
#include "messages/actors.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>

namespace purgatory {

/// Everybody an identifier talks to.
struct identifier_doors {
  supervisor_actor supervisor;
  fetch_pool_actor pool;
  journal_actor journal;
  relay_link_actor relay;
  timer_wheel_actor wheel;
  metrics_actor metrics;
  sync_report_sink progress = {}; ///< Null unless an initial sync is on.
};

/// Wall-clock seconds; handed in, so that tests own the time.
using wall_clock = std::function<unix_seconds()>;

/// What all identifiers share.
struct identifier_config {
  git::plan_settings plan;
  wall_clock wall;
  std::uint64_t seed = 0; ///< Mixed with the identifier's name for jitter.
  live_clock live = {};
};

/// Shell of git::identifier_plan: each message becomes one call, each effect
/// one send or request. It decides nothing.
///
/// What the supervisor sends is counted (`seen_`). Between `retire` and `close`
/// nothing is begun: a tick that comes meanwhile is kept until it is clear that
/// the farewell was void.
class identifier_state {
public:
  using pointer = identifier_actor::stateful_pointer<identifier_state>;
  static inline const char* name = "identifier";

  explicit identifier_state(pointer self) : self_(self) {}

  identifier_actor::behavior_type
  make_behavior(identifier repo, identifier_doors doors,
                const identifier_config& config);

private:
  using promise = caf::typed_response_promise<admission>;

  struct running_job {
    unit_key unit;
    time_point since;
  };

  git::moment at() const;
  void load();
  void on_image(const identifier_image& image);
  void give_up(const caf::error& reason);
  /// Something from the supervisor, counted; before the image is here it waits.
  template <class Step>
  void counted(Step step);
  void try_to_leave();
  void report_progress();
  bool is_leaving() const { return asked_to_retire_ == seen_; }
  void perform(git::effects todo);
  caf::result<admission> admit(event_arrived message);
  void take(const event_arrived& message, promise owed);
  void on_tick(std::uint64_t generation);
  void on_complete(request_complete message);
  void on_moving(const fetch_moving& message);

  void act(git::write_records& e);
  void act(git::answer_offer& e);
  void act(git::ask_turn& e);
  void act(git::use_lease& e);
  void act(git::start_fetch& e);
  void act(git::give_up_place& e);
  void act(git::prepare_repository& e);
  void act(git::look_up& e);
  void act(git::take_pack& e);
  void act(git::copy_objects& e);
  void act(git::move_refs& e);
  void act(git::move_pr_ref& e);
  void act(git::release_event& e);
  void act(git::arm_timer& e);
  void act(git::may_sleep& e);
  void act(git::fact& e);
  void act(git::met_fate& e);

  template <class Use, class Fail>
  void with_throttle(const host_key& host, Use use, Fail fail);
  template <class Use, class Fail>
  void with_repository(const tenant& repository, Use use, Fail fail);
  template <class Message, class Done>
  void ask_for_report(Message message, Done done);
  void tally(counter what, std::string label, std::uint64_t by = 1);

  pointer self_;
  identifier repo_;
  identifier_doors doors_;
  wall_clock wall_;
  live_clock live_;
  std::optional<git::identifier_plan> plan_;
  bool loaded_ = false;

  std::deque<git::effect> todo_;
  bool performing_ = false;
  std::deque<std::pair<event_arrived, promise>> early_; ///< Before loading.
  std::set<host_key> early_recovered_;
  std::set<host_key> early_probes_;
  std::optional<plan_changed> early_plan_;
  std::map<std::uint64_t, promise> offers_;
  std::uint64_t next_offer_ = 1;
  std::uint64_t seen_ = 0;
  std::uint64_t asked_to_retire_ = ~std::uint64_t{0}; ///< At which `seen_`.
  std::optional<git::may_sleep> may_sleep_;           ///< The plan's last word.
  bool catching_up_ = false;               ///< With what came before the image.
  std::optional<std::uint64_t> late_tick_; ///< Came while it was leaving.
  std::map<lease_id, running_job> running_;
  engine::sync_standing told_; ///< Of the initial sync, with what follows.
  engine::sync_steps steps_;
  time_point told_at_;
  std::map<host_key, throttle_actor> throttles_;
  std::map<tenant, git_actor> repositories_;
};

/// Spawn function: `sys.spawn(identifier_shell, repo, doors, config)`.
identifier_actor::behavior_type
identifier_shell(identifier_state::pointer self, identifier repo,
                 identifier_doors doors, const identifier_config& config);

} // namespace purgatory
