#include "actors/identifier.hpp"

#include "actors/harden.hpp"
#include "actors/log.hpp"

#include <caf/actor_system.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <array>
#include <span>
#include <utility>

namespace purgatory {

namespace {

/// Offers that wait for their answer, and events that wait for the image.
constexpr std::size_t max_offers = 1024;

/// Between two lines of an identifier in the progress of an initial sync.
constexpr auto report_pause = std::chrono::seconds(10);

constexpr const char* busy_text = "error: purgatory busy, try again";

store_report failure(const caf::error& reason) {
  return {store_result::failed, {}, to_string(reason)};
}

/// Why an offer was refused, for metrics: the texts of rules §2.1 start with a
/// word from a fixed set.
std::string reason_of(const admission& refusal) {
  return refusal.message.substr(0, refusal.message.find(':'));
}

log::level level_of(git::severity value) {
  switch (value) {
  case git::severity::debug:
    return log::level::debug;
  case git::severity::info:
    return log::level::info;
  default:
    return log::level::warn;
  }
}

} // namespace

identifier_actor::behavior_type
identifier_state::make_behavior(identifier repo, identifier_doors doors,
                                const identifier_config& config) {
  harden(self_);
  repo_ = std::move(repo);
  doors_ = std::move(doors);
  wall_ = config.wall;
  live_ = config.live;
  plan_.emplace(repo_, config.plan,
                config.seed ^ std::hash<identifier>{}(repo_));
  load();
  return {
    [this](event_arrived& message) { return admit(std::move(message)); },
    [this](const url_ready& m) {
      perform(plan_->on_granted(m.who, m.host, m.lease, at()));
    },
    [this](request_complete& message) { on_complete(std::move(message)); },
    [this](const fetch_moving& message) { on_moving(message); },
    [this](const backoff_tick& m) { on_tick(m.generation); },
    [this](const throttle_restarted& m) {
      throttles_.erase(m.host);
      counted([&] {
        // Before the journal's image is here nothing is queued.
        if (loaded_)
          perform(plan_->on_throttle_restarted(m.host, at()));
      });
    },
    [this](const host_recovered& m) {
      counted([&] {
        if (loaded_)
          perform(plan_->on_host_recovered(m.host, at()));
        else
          early_recovered_.insert(m.host);
      });
    },
    [this](const probe_host& m) {
      counted([&] {
        if (loaded_)
          perform(plan_->on_probe(m.host, at()));
        else
          early_probes_.insert(m.host);
      });
    },
    [this](const plan_changed& m) {
      counted([&] {
        if (loaded_)
          perform(plan_->on_settings(m.plan, m.revive, at()));
        else
          early_plan_ = plan_changed{
            m.plan, m.revive || (early_plan_ && early_plan_->revive)};
      });
    },
    [this](const close&) { self_->quit(); },
  };
}

git::moment identifier_state::at() const {
  const auto now = self_->clock().now();
  return {now, wall_(), live_.at(now)};
}

void identifier_state::load() {
  self_->request(doors_.journal, caf::infinite, load_identifier{repo_})
    .then([this](const identifier_image& image) { on_image(image); },
          [this](const caf::error& reason) { give_up(reason); });
}

void identifier_state::on_image(const identifier_image& image) {
  loaded_ = true;
  catching_up_ = true;
  perform(plan_->restore(image, at()));
  self_->send(doors_.supervisor, loaded{repo_, plan_->hosts_of_interest()});
  if (early_plan_)
    perform(plan_->on_settings(early_plan_->plan, early_plan_->revive, at()));
  for (auto& [message, owed] : std::exchange(early_, {}))
    take(message, owed);
  for (const auto& host : std::exchange(early_recovered_, {}))
    perform(plan_->on_host_recovered(host, at()));
  for (const auto& host : std::exchange(early_probes_, {}))
    perform(plan_->on_probe(host, at()));
  early_plan_.reset();
  catching_up_ = false;
  try_to_leave();
}

// Without a journal nothing may go on; the supervisor starts us anew. Who waits
// for an answer can offer again at once.
void identifier_state::give_up(const caf::error& reason) {
  for (auto& [message, owed] : std::exchange(early_, {}))
    owed.deliver(reason);
  for (auto& [offer, owed] : std::exchange(offers_, {}))
    owed.deliver(reason);
  self_->quit(reason);
}

template <class Step>
void identifier_state::counted(Step step) {
  ++seen_;
  step();
  // It did not leave after all.
  if (const auto tick = std::exchange(late_tick_, std::nullopt))
    perform(plan_->on_tick(*tick, at()));
}

void identifier_state::on_tick(std::uint64_t generation) {
  if (is_leaving())
    late_tick_ = generation;
  else
    perform(plan_->on_tick(generation, at()));
}

caf::result<admission> identifier_state::admit(event_arrived message) {
  if (early_.size() + offers_.size() >= max_offers) {
    counted([] {});
    return admission{action::reject, busy_text};
  }
  auto owed = self_->make_response_promise<admission>();
  counted([&] {
    if (loaded_)
      take(message, owed);
    else
      early_.emplace_back(std::move(message), owed);
  });
  return owed;
}

void identifier_state::take(const event_arrived& message, promise owed) {
  const auto offer = next_offer_++;
  offers_.emplace(offer, std::move(owed));
  perform(plan_->on_event(message.event, message.from, offer, at()));
}

void identifier_state::on_moving(const fetch_moving& message) {
  if (const auto i = running_.find(message.lease); i != running_.end())
    perform(plan_->on_moving(i->second.unit, message.lease, at()));
}

void identifier_state::on_complete(request_complete message) {
  const auto& result = message.result;
  if (const auto job = running_.extract(message.lease); !job.empty()) {
    ++steps_.jobs;
    steps_.job_time += self_->clock().now() - job.mapped().since;
  }
  tally(counter::sync_attempts, to_string(result.outcome));
  tally(counter::oids_fetched, "", result.got.size());
  tally(counter::wire_requests, message.host.value, result.wire_requests);
  tally(counter::fetch_bytes, to_string(result.outcome), result.bytes);
  perform(plan_->on_fetched(message.who, message.lease, result, at()));
}

// Effects that cause further effects queue behind the present ones, so that
// what the plan decided happens in the order in which it was decided.
void identifier_state::perform(git::effects todo) {
  may_sleep_.reset();
  todo_.insert(todo_.end(), std::make_move_iterator(todo.begin()),
               std::make_move_iterator(todo.end()));
  if (performing_)
    return;
  performing_ = true;
  while (!todo_.empty()) {
    auto next = std::move(todo_.front());
    todo_.pop_front();
    std::visit([this](auto& e) { act(e); }, next);
  }
  performing_ = false;
  report_progress();
}

template <class Use, class Fail>
void identifier_state::with_throttle(const host_key& host, Use use, Fail fail) {
  if (const auto i = throttles_.find(host); i != throttles_.end()) {
    use(i->second);
    return;
  }
  self_->request(doors_.supervisor, caf::infinite, host)
    .then(
      [this, host, use](const throttle_actor& found) {
        throttles_.insert_or_assign(host, found);
        use(found);
      },
      [fail](caf::error&) { fail(); });
}

template <class Use, class Fail>
void identifier_state::with_repository(const tenant& repository, Use use,
                                       Fail fail) {
  if (const auto i = repositories_.find(repository); i != repositories_.end()) {
    use(i->second);
    return;
  }
  self_->request(doors_.supervisor, caf::infinite, repository)
    .then(
      [this, repository, use](const git_actor& found) {
        repositories_.insert_or_assign(repository, found);
        use(found);
      },
      fail);
}

template <class Message, class Done>
void identifier_state::ask_for_report(Message message, Done done) {
  const auto repository = message.repository;
  const auto fail = [this, repository, done](caf::error& reason) {
    repositories_.erase(repository);
    done(repository, failure(reason));
  };
  const auto use = [this, message = std::move(message), done,
                    fail](const git_actor& writer) {
    self_->request(writer, caf::infinite, message)
      .then(
        [done](const repository_report& m) { done(m.repository, m.report); },
        fail);
  };
  with_repository(repository, use, fail);
}

void identifier_state::act(git::write_records& e) {
  self_
    ->request(doors_.journal, caf::infinite, record_batch{std::move(e.records)})
    .then([this, token = e.token](
            const recorded&) { perform(plan_->on_recorded(token, at())); },
          [this](const caf::error& reason) { give_up(reason); });
}

void identifier_state::act(git::answer_offer& e) {
  auto node = offers_.extract(e.offer);
  if (node.empty())
    return;
  if (e.decision.what == action::reject)
    tally(counter::refused, reason_of(e.decision));
  node.mapped().deliver(std::move(e.decision));
}

void identifier_state::act(git::ask_turn& e) {
  const auto lost = [this, unit = e.unit, host = e.url.host] {
    throttles_.erase(host);
    perform(plan_->on_place_lost(unit, host, at()));
  };
  const auto ask = [this, e, lost](const throttle_actor& throttle) {
    self_
      ->request(throttle, caf::infinite, enqueue{e.unit, e.url.text, e.turn},
                grant_sink{identifier_actor{self_}})
      .then(
        [this, e](const enqueue_answer& answer) {
          const auto& host = e.url.host;
          perform(answer.outcome == enqueue_outcome::granted
                    ? plan_->on_granted(e.unit, host, answer.grant.lease, at())
                    : plan_->on_queued(e.unit, host, answer.host, at()));
        },
        [lost](caf::error&) { lost(); });
  };
  with_throttle(e.url.host, ask, lost);
}

void identifier_state::act(git::use_lease& e) {
  static constexpr std::array decisions
    = {grant_decision::start, grant_decision::defer, grant_decision::withdraw};
  // A lease of a throttle that is gone needs no answer.
  if (const auto i = throttles_.find(e.host); i != throttles_.end())
    self_->send(
      i->second,
      grant_answer{e.lease, decisions.at(static_cast<std::size_t>(e.use))});
}

void identifier_state::act(git::start_fetch& e) {
  tally(counter::domain_requests, e.host.value);
  running_.insert_or_assign(e.lease, running_job{e.unit, self_->clock().now()});
  self_->send(doors_.pool,
              fetch_request{e.lease, e.unit, e.host, std::move(e.order)},
              completion_sink{identifier_actor{self_}});
}

void identifier_state::act(git::give_up_place& e) {
  const auto i = throttles_.find(e.host);
  if (i == throttles_.end()) {
    perform(plan_->on_place_left(at()));
    return;
  }
  self_->request(i->second, caf::infinite, leave_queue{e.unit})
    .then([this](const queue_left&) { perform(plan_->on_place_left(at())); },
          [this](caf::error&) { perform(plan_->on_place_left(at())); });
}

void identifier_state::act(git::prepare_repository& e) {
  ask_for_report(prepare{e.repository},
                 [this](const tenant& repository, const store_report& report) {
                   perform(plan_->on_prepared(repository, report, at()));
                 });
}

void identifier_state::act(git::look_up& e) {
  const auto fail
    = [this, token = e.token, repository = e.repository](caf::error&) {
        repositories_.erase(repository);
        perform(plan_->on_looked_up(token, repository, {}, {}, at()));
      };
  const auto use = [this, fail, e](const git_actor& writer) {
    self_->request(writer, caf::infinite, check_presence{e.repository, e.ids})
      .then(
        [this, token = e.token](const presence& m) {
          perform(
            plan_->on_looked_up(token, m.repository, m.ids, m.kinds, at()));
        },
        fail);
  };
  with_repository(e.repository, use, fail);
}

void identifier_state::act(git::take_pack& e) {
  ask_for_report(promote{e.repository, std::move(e.pack), std::move(e.wants)},
                 [this, unit = e.unit,
                  lease = e.lease](const tenant&, const store_report& report) {
                   perform(plan_->on_taken(unit, lease, report, at()));
                 });
}

void identifier_state::act(git::copy_objects& e) {
  ask_for_report(
    copy_from{e.repository, std::move(e.from), std::move(e.ids)},
    [this, id = e.event](const tenant& repository, const store_report& report) {
      perform(plan_->on_copied(id, repository, report, at()));
    });
}

void identifier_state::act(git::move_refs& e) {
  ask_for_report(
    align{e.repository, std::move(e.wanted)},
    [this, id = e.event](const tenant& repository, const store_report& report) {
      perform(plan_->on_aligned(id, repository, report, at()));
    });
}

void identifier_state::act(git::move_pr_ref& e) {
  ask_for_report(
    set_pr_ref{e.repository, e.event, e.tip},
    [this, id = e.event](const tenant& repository, const store_report& report) {
      perform(plan_->on_aligned(id, repository, report, at()));
    });
}

void identifier_state::act(git::release_event& e) {
  const auto id = e.event.id;
  self_->request(doors_.relay, caf::infinite, publish{std::move(e.event)})
    .then(
      [this](const published& m) {
        perform(plan_->on_published(m.id, m.outcome, m.detail, at()));
      },
      [this, id](caf::error& reason) {
        perform(plan_->on_publish_failed(id, to_string(reason), at()));
      });
}

void identifier_state::act(git::arm_timer& e) {
  self_->send(doors_.wheel, arm_tick{e.due, e.generation},
              tick_sink{identifier_actor{self_}});
}

void identifier_state::act(git::may_sleep& e) {
  // What queued behind it may have begun something.
  if (!todo_.empty())
    return;
  may_sleep_ = e;
  try_to_leave();
}

void identifier_state::try_to_leave() {
  if (!may_sleep_ || catching_up_ || !offers_.empty() || late_tick_
      || is_leaving())
    return;
  asked_to_retire_ = seen_;
  self_->send(doors_.supervisor, retire{repo_, seen_, may_sleep_->wake});
}

/// Now and then, and with the last word before it leaves.
void identifier_state::report_progress() {
  const auto now = self_->clock().now();
  if (!doors_.progress || (now - told_at_ < report_pause && !may_sleep_))
    return;
  const auto counts = plan_->hunting_units();
  const engine::sync_standing standing{plan_->waiting(), counts.units,
                                       counts.fresh};
  const bool is_news = standing != told_ || steps_ != engine::sync_steps{};
  if (!is_news)
    return;
  told_at_ = now;
  told_ = standing;
  self_->send(doors_.progress,
              sync_report{repo_, standing, std::exchange(steps_, {})});
}

void identifier_state::act(git::fact& e) {
  std::vector<log::field> fields;
  for (const auto& [key, value] : e.fields)
    fields.emplace_back(key, value);
  log::write(level_of(e.level), e.text, std::span<const log::field>(fields));
}

void identifier_state::act(git::met_fate& e) {
  if (e.fate == entry_state::served)
    ++steps_.released;
  tally(counter::fates, std::to_string(e.kind) + " " + to_string(e.fate));
}

void identifier_state::tally(counter what, std::string label,
                             std::uint64_t by) {
  if (by > 0)
    self_->send(doors_.metrics, count{what, std::move(label), by});
}

identifier_actor::behavior_type
identifier_shell(identifier_state::pointer self, identifier repo,
                 identifier_doors doors, const identifier_config& config) {
  return self->state.make_behavior(std::move(repo), std::move(doors), config);
}

} // namespace purgatory
