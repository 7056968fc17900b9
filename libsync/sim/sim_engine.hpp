#pragma once

#include "libsync/git/identifier_plan.hpp"
#include "libsync/live_clock.hpp"
#include "libsync/memory_journal.hpp"
#include "libsync/sim/host_door.hpp"
#include "libsync/sim/scene.hpp"
#include "libsync/sim/worker_pool.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace purgatory::sim {

/// One run of the daemon's process: the same core as in the daemon (plans,
/// host schedules, journal), driven by the virtual clock. Destroying it at any
/// moment is a crash; what its journal had committed is in `image()`.
class sim_engine {
public:
  sim_engine(scene& around, journal_image image);

  // -- time -------------------------------------------------------------------

  [[nodiscard]] time_point next() const { return agenda_.next(); }
  /// One step: what is due next, with all that it causes at once.
  void step();

  // -- from outside -----------------------------------------------------------

  void offer(const nostr::event& ev, provenance from);
  /// Offered and not answered so far, each once, in the order of the offers.
  [[nodiscard]] std::vector<nostr::event> unanswered() const;
  void objects_arrived(const tenant& repository, const std::vector<oid>& ids);
  void configure(const std::string& host, const engine::start_limits& limits);
  void retry_all();
  /// Like a stop by the operator: everything is written, nothing is started.
  void stop();
  /// The process is about to die; its requests end at the hosts.
  void abort_jobs();

  // -- observers --------------------------------------------------------------

  [[nodiscard]] const journal_image& image() const { return store_.image(); }
  [[nodiscard]] std::size_t awake() const { return residents_.size(); }
  [[nodiscard]] std::size_t asleep() const { return beds_.size(); }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] const std::map<std::string, std::uint64_t>& facts() const {
    return facts_;
  }

  /// Checks what concerns everybody; violations go to the observer.
  void check_all();

private:
  /// An identifier that is awake.
  struct resident {
    resident(identifier name, const git::plan_settings& settings,
             std::uint64_t seed, std::uint64_t number)
      : repo(std::move(name)), serial(number), plan(repo, settings, seed) {}
    identifier repo;
    std::uint64_t serial;
    git::identifier_plan plan;
    std::deque<git::effect> todo;
    bool performing = false;
    std::uint64_t calls = 0; ///< Of the plan, so far.
    std::optional<git::arm_timer> timer;
    std::set<std::uint64_t> offers; ///< Not answered yet.
    std::set<host_key> hosts;       ///< That it asked for turns.
  };

  struct running {
    identifier repo;
    std::uint64_t resident = 0;
    git::start_fetch what;
    job_course course;
    time_point since;
  };

  struct bed {
    std::uint64_t number = 0;
    std::optional<time_point> due;
  };

  struct probing {
    identifier last;
    duration pause;
    std::uint64_t number = 0;
  };

  using step_action = std::function<void()>;

  // sim_engine.cpp
  [[nodiscard]] git::moment at() const;
  [[nodiscard]] live_clock live_now() const {
    return {around_.now, live_.at(around_.now)};
  }
  void later(duration delay, step_action what);
  resident& call(const identifier& repo);
  void sleep(resident& who, std::optional<time_point> wake);
  void put_to_bed(const identifier& repo, std::optional<time_point> due);
  void commit();
  /// Whoever asked, if he is still awake; false if not.
  template <class Use>
  bool with(const identifier& repo, std::uint64_t serial, Use use) {
    const auto i = residents_.find(repo);
    if (i == residents_.end() || i->second->serial != serial)
      return false;
    use(*i->second);
    return true;
  }
  [[nodiscard]] git::plan_settings settings() const;

  // sim_effects.cpp
  void perform(resident& who, git::effects todo);
  void act(resident& who, git::write_records& e);
  void act(resident& who, git::answer_offer& e);
  void act(resident& who, git::ask_turn& e);
  void act(resident& who, git::use_lease& e);
  void act(resident& who, git::start_fetch& e);
  void act(resident& who, git::give_up_place& e);
  void act(resident& who, git::prepare_repository& e);
  void act(resident& who, git::look_up& e);
  void act(resident& who, git::take_pack& e);
  void act(resident& who, git::copy_objects& e);
  void act(resident& who, git::move_refs& e);
  void act(resident& who, git::move_pr_ref& e);
  void act(resident& who, git::release_event& e);
  void act(resident& who, git::arm_timer& e);
  void act(resident& who, git::may_sleep& e);
  void act(resident& who, git::fact& e);
  void act(resident& who, git::met_fate& e);

  // sim_hosts.cpp
  host_door& door(const host_key& host);
  void pump(host_door& at, const unit_key* asking = nullptr,
            std::optional<lease_id>* granted = nullptr);
  void grant(const host_door::turn& turn, const host_key& host);
  void tell_news(host_door& at);
  void let_go(const host_key& host);
  void arm(host_door& at);
  void start_jobs();
  void begin_job(worker_pool::job next);
  void end_job(lease_id lease);
  void start_probe(const host_key& host, duration pause);
  void send_probe(const host_key& host, std::uint64_t number);
  void recover(const host_key& host);
  [[nodiscard]] engine::start_limits limits_of(const host_key& host) const;

  // sim_checks.cpp
  void check_answer(const nostr::event& ev, const admission& decision);
  void check_records(const std::vector<journal_record>& records);
  void check_verdict(const verdict_record& verdict);
  void check(resident& who);

  scene& around_;
  memory_store store_;
  live_clock live_;
  time_point quiet_end_; ///< Nothing is granted before.
  agenda<step_action> agenda_;
  worker_pool pool_;
  engine::start_limits limits_;
  std::map<std::string, engine::start_limits> host_limits_;

  std::map<identifier, std::unique_ptr<resident>> residents_;
  std::map<identifier, bed> beds_;
  std::map<host_key, std::unique_ptr<host_door>> doors_;
  std::map<host_key, host_record> known_hosts_;
  std::map<host_key, probing> probes_;
  std::map<lease_id, running> jobs_;
  std::map<std::uint64_t, nostr::event> offers_;

  struct unwritten {
    identifier repo;
    std::uint64_t resident = 0;
    std::uint64_t token = 0;
  };
  std::vector<unwritten> uncommitted_;
  bool committing_ = false;
  bool stopping_ = false;

  std::uint64_t next_serial_ = 1;
  std::uint64_t next_offer_ = 1;
  std::uint32_t next_door_ = 1;
  std::uint64_t steps_ = 0;
  std::map<std::string, std::uint64_t> facts_;
  std::vector<identifier> touched_;
};

} // namespace purgatory::sim
