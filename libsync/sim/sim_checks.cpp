// What must always be true of the process (rules §15), beside what the
// observer sees at the hosts.

#include "libsync/sim/sim_engine.hpp"

#include <algorithm>

namespace purgatory::sim {

/// An answer promises: the event can be found after a crash at this moment.
void sim_engine::check_answer(const nostr::event& ev,
                              const admission& decision) {
  around_.watch.note(decision.message, around_.now);
  if (!nostr::is_held_kind(ev.kind))
    return;
  const bool is_kept = decision.what == purgatory::action::hold
                       && decision.message != answer_text::have_newer;
  if (!is_kept)
    return;
  around_.acknowledged.insert(ev.id);
  around_.watch.check(store_.image().find(ev.id) != nullptr,
                      "answered before it was durable: " + ev.content,
                      around_.now);
}

void sim_engine::check_records(const std::vector<journal_record>& records) {
  around_.watch.note("records", around_.now);
  for (const auto& record : records)
    if (const auto* verdict = std::get_if<verdict_record>(&record))
      check_verdict(*verdict);
}

/// A hunt is given up only after enough tries over enough time.
void sim_engine::check_verdict(const verdict_record& verdict) {
  const auto& rules = around_.plan.daemon;
  ++around_.verdicts;
  const auto* row = store_.image().find(verdict.id);
  around_.watch.check(row != nullptr, "given up before it was durable",
                      around_.now);
  if (row == nullptr || !rules.retry_enabled)
    return;
  const auto parked = row->entry.horizon.parked_at;
  const auto horizon
    = std::chrono::duration_cast<std::chrono::seconds>(rules.horizon).count();
  around_.watch.check(parked && at().live - *parked >= horizon,
                      "given up before its time", around_.now);
  for (const auto& each : verdict.urls) {
    const auto host = host_of(each.url.value);
    const auto i = doors_.find(host);
    const auto known = known_hosts_.find(host);
    std::uint64_t probes = 0;
    if (i != doors_.end())
      probes = i->second->schedule().view(around_.now).failed_probes;
    else if (known != known_hosts_.end())
      probes = known->second.failed_probes;
    const auto outcomes
      = around_.watch.outcomes(row->entry.repo, each.url) + probes;
    around_.watch.check(outcomes >= rules.max_attempts,
                        "given up after too few tries at " + each.url.value,
                        around_.now);
  }
}

/// Who holds something either waits for an answer or has a timer.
void sim_engine::check(resident& who) {
  const auto due = who.plan.next_due();
  if (due)
    around_.watch.check(
      who.timer && who.timer->due <= std::max(*due, around_.now),
      "a due time without timer: " + who.repo.value, around_.now);
  around_.watch.check(who.plan.waiting() == 0 || who.timer || !who.plan.idle()
                        || !uncommitted_.empty(),
                      "waits for nothing: " + who.repo.value, around_.now);
}

void sim_engine::check_all() {
  for (auto& [repo, who] : residents_)
    check(*who);
  for (auto& [host, at_host] : doors_) {
    const auto problem = at_host->schedule().check_invariants();
    around_.watch.check(problem.empty(), host.value + ": " + problem,
                        around_.now);
    const auto wake = at_host->schedule().wake_at(around_.now);
    around_.watch.check(!wake || (at_host->armed && *at_host->armed <= *wake)
                          || *wake <= around_.now,
                        "a turn is due and no timer is set: " + host.value,
                        around_.now);
  }
  for (const auto& [repo, sleeper] : beds_)
    around_.watch.check(!residents_.contains(repo), "awake and asleep",
                        around_.now);
}

} // namespace purgatory::sim
