// Back from the journal: what is held, what was served, where units stand.

#include "libsync/git/identifier_plan.hpp"

#include <algorithm>

namespace purgatory::git {

effects identifier_plan::restore(const identifier_image& image, moment at) {
  at_ = at;
  for (const auto& stored : image.events) {
    if (is_waiting(stored.state) || stored.state == entry_state::verdict)
      restore_entry(stored);
    else
      restore_ended(stored);
  }
  for (const auto& old : image.verdicts)
    if (const auto i = verdicts_.find(old.id); i != verdicts_.end())
      i->second.since = clocks().moment_of(old.at);
  for (const auto& stone : image.tombstones)
    tombstones_.bury(stone);
  groups_ = unit_groups(authority_);
  for (const auto& [unit_id, attempts, rounds, due] : image.attempts) {
    auto& u = unit_of(unit_id.owner);
    u.round.restore_attempts(attempts);
    u.rounds = std::max(u.rounds, rounds);
    u.is_restored = true;
    if (due > 0)
      u.wait.pull_to(std::max(at.now, clocks().moment_of(due)));
  }
  for (const auto& [unit_id, url, memory] : image.pairs)
    unit_of(unit_id.owner)
      .urls.insert_or_assign(url, url_memory::from(memory, clocks()));
  authority_changed_ = true;
  reclassify();
  for (const auto& [id, e] : waiting_) {
    if (!e.is_hunted())
      continue;
    ask_presence(e);
    // A unit with a schedule keeps it; the others are due now.
    const auto owner = unit_owner(e);
    if (owner
        && (e.state == entry_state::parked || !unit_of(*owner).wait.due()))
      schedule(e);
  }
  return finish();
}

void identifier_plan::restore_ended(const stored_event& stored) {
  const auto& ev = stored.event;
  known_[ev.id] = stored.state;
  if (stored.state != entry_state::served)
    return;
  const auto typed = nostr::read_git_event(ev, settings_.max_refs);
  if (std::holds_alternative<nostr::announcement>(typed))
    remember_announcement(ev, true);
  else if (const auto* s = std::get_if<nostr::state>(&typed))
    remember_served(ev, *s);
  else if (const auto* pr = std::get_if<nostr::pull_request>(&typed))
    served_pulls_[ev.id] = pr->repositories;
}

void identifier_plan::restore_entry(const stored_event& stored) {
  const auto& ev = stored.event;
  entry e;
  e.ev = ev;
  e.content = nostr::read_git_event(ev, settings_.max_refs);
  e.from = stored.from;
  // What was being aligned starts again: every step is idempotent.
  e.state = stored.state == entry_state::aligning ? entry_state::hunting
                                                  : stored.state;
  // Stored by a version that knew no windows: one begins.
  e.life = stored.horizon.window == 0 ? horizon{at_.now, 0, window()}
                                      : horizon::from(stored.horizon, clocks());
  e.not_before = at_.now;
  if (e.state == entry_state::verdict) {
    known_[ev.id] = entry_state::verdict;
    verdicts_.insert_or_assign(ev.id, given_up{std::move(e), at_.now});
    return;
  }
  if (e.announcement() != nullptr && e.state != entry_state::future)
    remember_announcement(ev, false);
  waiting_.insert_or_assign(ev.id, std::move(e));
}

} // namespace purgatory::git
