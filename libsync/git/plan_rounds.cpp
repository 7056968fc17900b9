// Rounds: when a unit is due, whom it asks, when it has asked everybody
// (rules §7).

#include "libsync/git/identifier_plan.hpp"

#include <algorithm>

namespace purgatory::git {

time_point identifier_plan::wanted_at(const entry& e) const {
  // Who has everything waits for an announcement, not for a round.
  if (e.state == entry_state::parked && missing_of({&e}).empty())
    return time_point::max();
  if (e.state == entry_state::parked)
    return std::max(e.not_before,
                    e.life.next_round(settings_.life, share_of(e)));
  return e.is_hunted() ? e.not_before : time_point::max();
}

double identifier_plan::share() {
  return std::uniform_real_distribution<double>(0.0, 1.0)(random_);
}

void identifier_plan::schedule(const entry& e) {
  const auto owner = unit_owner(e);
  const auto at = wanted_at(e);
  if (!owner || at == time_point::max())
    return;
  // Nearer only: a later delay never pushes a due time back.
  unit_of(*owner).wait.pull_to(at);
}

void identifier_plan::schedule_others(const pubkey& lead, const unit& u) {
  for (const auto& [id, e] : waiting_) {
    const bool later
      = e.state == entry_state::parked || !u.members.contains(id);
    if (!later || !e.is_hunted() || !e.durable())
      continue;
    const auto owner = unit_owner(e);
    if (owner && groups_.lead_of(*owner) == lead)
      schedule(e);
  }
}

bool identifier_plan::is_preparing(const pubkey& lead) const {
  return std::any_of(
    preparing_.begin(), preparing_.end(),
    [&](const pubkey& owner) { return groups_.lead_of(owner) == lead; });
}

void identifier_plan::prepare_targets(const std::vector<task>& open) {
  for (const auto& work : open)
    if (!prepared_.contains(work.target)
        && preparing_.insert(work.target).second)
      out_.push_back(prepare_repository{tenant_of(work.target)});
}

void identifier_plan::advance(const pubkey& lead) {
  auto& u = unit_of(lead);
  u.round.tick(at_.now);
  if (u.wait.elapsed(at_.now) && !u.round.in_round())
    begin_round(lead, u);
  if (is_preparing(lead))
    return;
  const auto open = u.round.in_round()
                      ? u.round.untried(permitted(u, open_tasks(lead)))
                      : std::vector<task>{};
  auto useful = open;
  if (!u.round.in_round() && u.round.busy()) {
    // Between rounds only places at blocked hosts are worth keeping.
    useful = open_tasks(lead);
    std::erase_if(useful, [&](const task& work) {
      return !u.round.is_blocked(work.url.host, at_.now);
    });
  }
  for (auto& given : u.round.take_useless_places(useful)) {
    ++places_being_left_;
    out_.push_back(
      give_up_place{std::move(given.subject), std::move(given.host)});
  }
  if (!u.round.in_round())
    return;
  if (auto next = u.round.next_to_ask(open, at_.now))
    out_.push_back(
      ask_turn{key_of(lead), std::move(next->url),
               u.round.attempts() == 0 ? lane::fresh : lane::retry});
  const bool waits
    = u.round.is_asking() || u.round.has_young_job(at_.now)
      || std::any_of(open.begin(), open.end(), [&](const task& work) {
           return u.round.waits_for(work, open, at_.now);
         });
  if (!waits)
    finish_round(lead, u);
}

void identifier_plan::begin_round(const pubkey& lead, unit& u) {
  u.wait.clear();
  u.members.clear();
  const auto due_now
    = [&](wish kind) { return !hunted(lead, kind, at_.now).empty(); };
  if (!due_now(wish::states) && !due_now(wish::pull_requests)) {
    schedule_others(lead, u);
    return;
  }
  // What comes due within the debounce of a burst belongs to the same burst:
  // one round, one job (rules §7).
  u.is_parked_round = false;
  for (const auto kind : {wish::states, wish::pull_requests})
    for (const auto* e : hunted(lead, kind, at_.now + settings_.sync_delay)) {
      u.members.insert(e->ev.id);
      u.is_parked_round = u.is_parked_round || e->state == entry_state::parked;
    }
  u.round.begin_round();
  prepare_targets(open_tasks(lead));
}

void identifier_plan::finish_round(const pubkey& lead, unit& u) {
  const bool tried = u.round.tried_any();
  const bool still_missing = !needed(lead, wish::states).empty()
                             || !needed(lead, wish::pull_requests).empty();
  u.round.end_round(still_missing && tried);
  u.is_parked_round = false;
  if (tried) {
    ++u.rounds;
    u.is_restored = false;
  }
  judge_round(lead, u, tried);
  std::set<oid> missing;
  for (const auto& id : missing_of(wanted_between_rounds(lead)))
    missing.insert(id);
  for (auto& [url, memory] : u.urls)
    memory.keep_only(missing);
  if (!still_missing) {
    u.round.reset_attempts();
    say(severity::info,
        waiting_.empty() ? "Sync complete - no pending events"
                         : "Sync complete - all OIDs available",
        {{"unit", lead.value}});
    schedule_others(lead, u);
    return;
  }
  u.wait.clear();
  std::vector<const entry*> hunting;
  for (const auto kind : {wish::states, wish::pull_requests})
    for (const auto* e : hunted(lead, kind, time_point::max()))
      if (e->state == entry_state::hunting && u.members.contains(e->ev.id))
        hunting.push_back(e);
  auto tasks = all_tasks(lead, hunting);
  if (!tasks.empty()) {
    auto due
      = at_.now + backoff_.after(std::max(1U, u.round.attempts()), share());
    // While every URL is left alone there is nothing to ask.
    std::erase_if(tasks, [&](const task& work) {
      return u.round.is_blocked(work.url.host, at_.now);
    });
    due = std::max(due, earliest_permitted(u, tasks).value_or(due));
    u.wait.pull_to(engine::round_up(due, settings_.loop_interval));
  }
  // Events that came during the round, and parked ones, have their own time.
  schedule_others(lead, u);
  const auto due = u.wait.due();
  std::vector<journal_record> records
    = {attempt_record{key_of(lead), u.round.attempts(), u.rounds,
                      due ? clocks().stored(*due) : 0}};
  record_pairs(lead, u, records);
  record(std::move(records));
  if (due)
    say(severity::debug, "Backoff applied",
        {{"unit", lead.value},
         {"attempts", std::to_string(u.round.attempts())},
         {"seconds",
          std::to_string(
            std::chrono::ceil<std::chrono::seconds>(*due - at_.now).count())}});
}

void identifier_plan::record_pairs(const pubkey& lead, const unit& u,
                                   std::vector<journal_record>& records) const {
  for (const auto& [url, memory] : u.urls)
    records.emplace_back(
      pair_record{key_of(lead), url, memory.image(clocks())});
}

effects identifier_plan::on_prepared(const tenant& repository,
                                     const store_report& report, moment at) {
  at_ = at;
  const auto lead = groups_.lead_of(repository.owner);
  touched_ = lead;
  preparing_.erase(repository.owner);
  if (report.result == store_result::done) {
    prepared_.insert(repository.owner);
    return finish();
  }
  say(severity::warn, "Repository not created", {{"error", report.detail}});
  // Nothing was asked, so nothing was tried; the disk may recover.
  auto& u = unit_of(lead);
  u.round.end_round(false);
  u.wait.clear();
  u.wait.pull_to(at.now + settings_.backoff_cap);
  return finish();
}

} // namespace purgatory::git
