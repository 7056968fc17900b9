// Release: what is satisfied, which refs move, what the relay gets (rules §5,
// §6). The order is fixed: journal, refs, journal, publish, journal.

#include "libsync/git/identifier_plan.hpp"

#include <algorithm>
#include <utility>

namespace purgatory::git {

namespace {

/// Alignments repeated at once after a conflict, before backoff.
constexpr int max_conflicts = 3;

bool is_branch(const std::string& name) {
  return name.starts_with("refs/heads/");
}

} // namespace

bool identifier_plan::is_complete_in(const entry& e,
                                     const pubkey& owner) const {
  return !e.oids().empty() && has_all(owner, e.oids());
}

bool identifier_plan::has_wrong_type(const entry& e) const {
  const auto is_no_commit = [&](const oid& id) {
    for (const auto& owner : governed_owners(e)) {
      const auto kind = kind_in(owner, id);
      if (kind != object_kind::absent)
        return kind != object_kind::commit;
    }
    return false;
  };
  if (const auto* s = e.state_content())
    return std::any_of(s->refs.begin(), s->refs.end(), [&](const auto& ref) {
      return is_branch(ref.name) && is_no_commit(ref.target);
    });
  const auto* pr = e.pull_request();
  return pr != nullptr && pr->tip && is_no_commit(*pr->tip);
}

void identifier_plan::drop_wrong_types() {
  for (auto& [id, e] : waiting_)
    if (e.is_hunted() && e.durable() && has_wrong_type(e)) {
      say(severity::warn, "Event cannot be satisfied",
          {{"event_id", id.value}, {"error", "object of the wrong type"}});
      move_to(e, entry_state::unsatisfiable);
    }
}

bool identifier_plan::is_satisfied(const entry& e) const {
  if (!e.is_hunted() || !e.durable())
    return false;
  const auto owners = governed_owners(e);
  // Owners without tenant need no data, and a state without values says
  // nothing that could be missing; both wait for their announcement only.
  if (owners.empty() || e.oids().empty())
    return announcement_is_served(e);
  if (e.pull_request() != nullptr && !announcement_is_served(e))
    return false;
  if (owners.front() == e.ev.author && !may_be_copied(e, owners.front()))
    return is_complete_in(e, owners.front());
  return std::any_of(owners.begin(), owners.end(), [&](const pubkey& owner) {
    return is_complete_in(e, owner);
  });
}

std::vector<pubkey> identifier_plan::alignable_owners(const entry& e) const {
  auto owners = governed_owners(e);
  std::erase_if(owners, [&](const pubkey& owner) {
    return !is_complete_in(e, owner)
           || (e.state_content() != nullptr && !governs(e, owner));
  });
  return owners;
}

// A newer state of the same author is ready, moving refs or on its way to the
// relay: this one would only turn the refs back.
bool identifier_plan::is_outdone(const entry& e) const {
  return e.state_content() != nullptr
         && std::any_of(waiting_.begin(), waiting_.end(), [&](const auto& w) {
              const auto& other = w.second;
              return other.state_content() != nullptr
                     && other.ev.author == e.ev.author
                     && nostr::is_newer(other.ev, e.ev)
                     && (is_leaving(other) || is_satisfied(other));
            });
}

bool identifier_plan::is_leaving(const entry& e) {
  return e.state == entry_state::aligning || e.state == entry_state::publishing;
}

void identifier_plan::start_alignment() {
  if (alignment_)
    return;
  std::vector<entry*> ready;
  for (auto& [id, e] : waiting_)
    if (e.release_after <= at_.now && is_satisfied(e))
      ready.push_back(&e);
  if (ready.empty()) {
    start_alignment_to_served();
    return;
  }
  // Oldest first; of one author's states only the newest moves anything.
  std::sort(ready.begin(), ready.end(), [](const entry* a, const entry* b) {
    return nostr::is_newer(b->ev, a->ev);
  });
  const auto first = std::find_if_not(
    ready.begin(), ready.end(), [&](const entry* e) { return is_outdone(*e); });
  if (first == ready.end())
    return;
  auto* next = *first;
  if (copy_to_others(*next, owners_without(*next), next->oids()))
    return;
  const auto owners = alignable_owners(*next);
  if (owners.empty())
    move_to(*next, entry_state::publishing);
  else
    begin_alignment(*next, owners);
}

void identifier_plan::begin_alignment(entry& e,
                                      const std::vector<pubkey>& owners) {
  alignment_ = alignment{};
  alignment_->id = e.ev.id;
  std::vector<journal_record> records
    = {state_record{e.ev.id, entry_state::aligning}};
  for (const auto& owner : owners) {
    alignment_->open.insert(tenant_of(owner));
    records.emplace_back(align_record{e.ev.id, tenant_of(owner), false, {}});
  }
  e.state = entry_state::aligning;
  alignment_->token = record(std::move(records), {e.ev.id});
}

void identifier_plan::on_alignment_recorded() {
  const auto i = waiting_.find(alignment_->id);
  if (i == waiting_.end()) {
    alignment_.reset();
    return;
  }
  for (const auto& repository : std::set(alignment_->open))
    emit_alignment(i->second, repository);
}

void identifier_plan::emit_alignment(entry& e, const tenant& repository) {
  if (const auto* pr = e.pull_request()) {
    out_.push_back(move_pr_ref{e.ev.id, repository, *pr->tip});
    return;
  }
  const auto* s = e.announcement() != nullptr ? governing_served(e.ev.author)
                                              : e.state_content();
  if (s == nullptr) { // Nobody speaks for this announcement any more.
    alignment_.reset();
    move_to(e, entry_state::hunting);
    return;
  }
  desired_refs wanted;
  for (const auto& ref : s->refs)
    wanted.refs[ref.name] = ref.target;
  wanted.untouched = {s->symbolic_names.begin(), s->symbolic_names.end()};
  wanted.head = s->head;
  out_.push_back(move_refs{e.ev.id, repository, std::move(wanted)});
}

effects identifier_plan::on_aligned(const event_id& id,
                                    const tenant& repository,
                                    const store_report& report, moment at) {
  at_ = at;
  if (!alignment_ || alignment_->id != id
      || !alignment_->open.contains(repository))
    return finish();
  // Served meanwhile by another way: nobody waits for these refs any more.
  if (!waiting_.contains(id)) {
    alignment_.reset();
    return finish();
  }
  if (report.result == store_result::conflict
      && ++alignment_->tries < max_conflicts) {
    emit_alignment(waiting_.at(id), repository);
    return finish();
  }
  alignment_->open.erase(repository);
  alignment_->done[repository] = report;
  if (alignment_->open.empty())
    finish_alignment();
  return finish();
}

void identifier_plan::finish_alignment() {
  const auto finished = *std::exchange(alignment_, std::nullopt);
  auto& e = waiting_.at(finished.id);
  std::vector<journal_record> records;
  std::vector<event_id> moved = {finished.id};
  for (const auto& [repository, report] : finished.done) {
    if (report.result != store_result::done) {
      say(severity::warn, "Failed to process satisfiable events",
          {{"event_id", finished.id.value},
           {"owner", repository.owner.value},
           {"error",
            std::string(to_string(report.result)) + ": " + report.detail}});
      // What we believed about this repository was wrong: look again.
      present_.erase(repository);
      prepared_.erase(repository.owner);
      ask_presence(repository, objects_to_align(e));
      continue;
    }
    records.emplace_back(
      align_record{finished.id, repository, true, report.changes});
    say(severity::info, "Refs aligned",
        {{"event_id", finished.id.value},
         {"owner", repository.owner.value},
         {"changed", std::to_string(report.changes.size())}});
    if (e.state_content() != nullptr)
      if (const auto* known = authority_.find(repository.owner);
          known != nullptr && !known->served)
        moved.push_back(known->id);
  }
  if (e.doomed) {
    e.state = entry_state::hunting;
    fate(finished.id, entry_state::deleted);
    return;
  }
  const auto own = finished.done.find(tenant_of(e.ev.author));
  const bool enough = own != finished.done.end()
                        ? own->second.result == store_result::done
                        : !records.empty();
  if (!enough) {
    e.release_after = at_.now + settings_.backoff_cap;
    move_to(e, entry_state::hunting);
    schedule(e);
    return;
  }
  for (const auto& id : moved)
    if (const auto i = waiting_.find(id); i != waiting_.end()) {
      i->second.state = entry_state::publishing;
      records.emplace_back(state_record{id, entry_state::publishing});
    }
  record(std::move(records), std::move(moved));
}

void identifier_plan::publish_ready() {
  for (auto& [id, e] : waiting_) {
    if (e.state != entry_state::publishing || !e.durable() || e.sent
        || e.release_after > at_.now)
      continue;
    // A relay wants the announcement before what refers to it.
    if (e.announcement() == nullptr && !announcement_is_served(e))
      continue;
    e.sent = true;
    out_.push_back(release_event{e.ev});
  }
}

effects identifier_plan::on_published(const event_id& id,
                                      publish_outcome outcome,
                                      const std::string& detail, moment at) {
  at_ = at;
  const auto i = waiting_.find(id);
  if (i == waiting_.end())
    return finish();
  if (outcome != publish_outcome::released)
    say(severity::warn, "Event not released",
        {{"event_id", id.value},
         {"outcome", to_string(outcome)},
         {"detail", detail}});
  switch (outcome) {
  case publish_outcome::released:
    say_released(i->second);
    fate(id, entry_state::served);
    break;
  case publish_outcome::superseded:
    fate(id, entry_state::superseded);
    break;
  case publish_outcome::deleted:
    fate(id, entry_state::deleted);
    break;
  case publish_outcome::refused:
    fate(id, entry_state::refused);
    break;
  }
  return finish();
}

effects identifier_plan::on_publish_failed(const event_id& id,
                                           const std::string& detail,
                                           moment at) {
  at_ = at;
  if (const auto i = waiting_.find(id); i != waiting_.end()) {
    say(severity::warn, "Event not released",
        {{"event_id", id.value}, {"detail", detail}});
    i->second.sent = false;
    i->second.release_after = at.now + settings_.backoff_cap;
  }
  return finish();
}

void identifier_plan::say_released(const entry& e) {
  say(severity::info, "Event released",
      {{"event_id", e.ev.id.value}, {"kind", std::to_string(e.ev.kind)}});
}

void identifier_plan::move_to(entry& e, entry_state state) {
  e.state = state;
  record({state_record{e.ev.id, state}}, {e.ev.id});
}

void identifier_plan::fate(const event_id& id, entry_state final_state) {
  known_[id] = final_state;
  auto node = waiting_.extract(id);
  if (node.empty()) {
    // A served announcement that its author took back.
    record({state_record{id, final_state}});
    for (const auto& owner : std::vector(authority_.owners()))
      authority_.remove(owner, id);
    authority_changed_ = true;
    return;
  }
  auto& e = node.mapped();
  record({state_record{id, final_state}}, {}, std::move(e.answers));
  out_.push_back(met_fate{e.ev.kind, final_state});
  const bool served = final_state == entry_state::served;
  if (e.announcement() != nullptr) {
    if (served)
      remember_announcement(e.ev, true);
    else
      authority_.remove(e.ev.author, id);
    authority_changed_ = true;
  } else if (const auto* pr = e.pull_request(); pr != nullptr && served) {
    served_pulls_[id] = pr->repositories;
  } else if (const auto* s = e.state_content(); s != nullptr && served) {
    remember_served(e.ev, *s);
    supersede_older(e);
  }
}

void identifier_plan::supersede_older(const entry& e) {
  std::vector<event_id> older;
  for (const auto& [id, other] : waiting_)
    if (other.state_content() != nullptr && other.ev.author == e.ev.author
        && other.state != entry_state::aligning
        && nostr::is_newer(e.ev, other.ev))
      older.push_back(id);
  for (const auto& id : older)
    fate(id, entry_state::superseded);
}

} // namespace purgatory::git
