#include "actors/sync_watch.hpp"

#include "actors/harden.hpp"
#include "actors/log.hpp"

#include <caf/actor_system.hpp>
#include <caf/scheduled_actor.hpp>

#include <utility>

namespace purgatory {

namespace {

engine::host_backlog backlog_of(const throttle_report& report) {
  return {report.waiting, static_cast<double>(report.per_minute)};
}

} // namespace

sync_watch_actor::behavior_type
sync_watch_state::make_behavior(supervisor_actor supervisor,
                                sync_watch_config config) {
  harden(self_);
  supervisor_ = std::move(supervisor);
  config_ = std::move(config);
  progress_.emplace(self_->clock().now(), config_.longest);
  log::info("Initial sync begins");
  arm();
  return {
    [this](const sync_report& m) {
      progress_->report(m.who.value, m.standing, m.steps);
    },
    [this](const history_read&) {
      progress_->history_read(self_->clock().now());
    },
    [this](const backoff_tick& tick) {
      if (timer_.is_current(tick.generation))
        on_tick();
    },
  };
}

void sync_watch_state::arm() {
  self_->delayed_send(self_, config_.pause, backoff_tick{timer_.arm()});
}

void sync_watch_state::on_tick() {
  if (progress_->is_over(self_->clock().now())) {
    end();
    return;
  }
  arm();
  self_->request(supervisor_, caf::infinite, list_throttles{})
    .then(
      [this](const std::vector<throttle_actor>& all) { ask_throttles(all); },
      [](caf::error&) {});
}

/// One that leaves meanwhile has nothing that waits.
void sync_watch_state::ask_throttles(const std::vector<throttle_actor>& all) {
  if (all.empty()) {
    write_line({});
    return;
  }
  auto answers = std::make_shared<census>();
  answers->open = all.size();
  const auto done = [this, answers] {
    if (--answers->open == 0)
      write_line(answers->hosts);
  };
  for (const auto& part : all)
    self_->request(part, caf::infinite, describe{})
      .then(
        [answers, done](const throttle_report& report) {
          answers->hosts.push_back(backlog_of(report));
          done();
        },
        [done](caf::error&) { done(); });
}

void sync_watch_state::write_line(
  const std::vector<engine::host_backlog>& hosts) {
  const auto& sums = progress_->sums();
  const auto rest = progress_->remaining(hosts, config_.workers);
  const auto seconds
    = rest ? std::chrono::ceil<std::chrono::seconds>(*rest).count() : -1;
  log::info(
    "Initial sync goes on",
    {{"held", sums.held},
     {"released", sums.released},
     {"units", sums.units},
     {"units_without_full_round", sums.fresh},
     {"jobs", sums.jobs},
     {"eta_seconds", rest ? std::to_string(seconds) : std::string{"unknown"}}});
}

void sync_watch_state::end() {
  const auto& sums = progress_->sums();
  log::info("Initial sync is over", {{"held", sums.held},
                                     {"released", sums.released},
                                     {"units_without_full_round", sums.fresh}});
  self_->send(supervisor_, plan_changed{config_.afterwards});
  self_->quit();
}

sync_watch_actor::behavior_type sync_watch(sync_watch_state::pointer self,
                                           supervisor_actor supervisor,
                                           sync_watch_config config) {
  return self->state.make_behavior(std::move(supervisor), std::move(config));
}

} // namespace purgatory
