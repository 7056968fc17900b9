// One state may govern the repositories of several owners: all of them get its
// objects, from the one that has them (rules §6).

#include "libsync/git/identifier_plan.hpp"

#include <algorithm>

namespace purgatory::git {

bool identifier_plan::has_all(const pubkey& owner,
                              const std::vector<oid>& ids) const {
  return std::all_of(ids.begin(), ids.end(), [&](const oid& id) {
    return kind_in(owner, id) != object_kind::absent;
  });
}

/// `owner` lacks what another governed owner has whole.
bool identifier_plan::may_be_copied(const entry& e, const pubkey& owner) const {
  if (e.oids().empty() || e.uncopied.contains(owner)
      || has_all(owner, e.oids()))
    return false;
  const auto owners = governed_owners(e);
  return std::any_of(owners.begin(), owners.end(), [&](const pubkey& other) {
    return is_complete_in(e, other);
  });
}

std::vector<pubkey> identifier_plan::owners_without(const entry& e) const {
  auto owners = governed_owners(e);
  std::erase_if(owners, [&](const pubkey& owner) {
    return !may_be_copied(e, owner)
           || (e.state_content() != nullptr && !governs(e, owner));
  });
  return owners;
}

/// True when copies began; they are an alignment that has not come to its refs.
bool identifier_plan::copy_to_others(const entry& e,
                                     const std::vector<pubkey>& owners,
                                     const std::vector<oid>& ids) {
  if (owners.empty())
    return false;
  const auto& all = authority_.owners();
  const auto source
    = std::find_if(all.begin(), all.end(), [&](const pubkey& other) {
        return authority_.find(other)->hosted && has_all(other, ids);
      });
  if (source == all.end())
    return false;
  alignment_ = alignment{};
  alignment_->id = e.ev.id;
  alignment_->source = *source;
  for (const auto& owner : owners) {
    alignment_->copying.insert(tenant_of(owner));
    out_.push_back(
      copy_objects{e.ev.id, tenant_of(owner), tenant_of(*source), ids});
  }
  return true;
}

effects identifier_plan::on_copied(const event_id& id, const tenant& repository,
                                   const store_report& report, moment at) {
  at_ = at;
  if (!alignment_ || alignment_->id != id
      || alignment_->copying.erase(repository) == 0)
    return finish();
  const auto i = waiting_.find(id);
  if (i != waiting_.end() && report.result == store_result::done) {
    prepared_.insert(repository.owner);
    for (const auto& each : objects_to_align(i->second))
      present_[repository][each] = kind_in(alignment_->source, each);
  } else if (i != waiting_.end()) {
    // The state goes on without this owner; an own hunt may still fill it.
    i->second.uncopied.insert(repository.owner);
    say(severity::warn, "Objects not copied",
        {{"event_id", id.value},
         {"owner", repository.owner.value},
         {"error", report.detail}});
  }
  if (alignment_->copying.empty())
    alignment_.reset();
  return finish();
}

// -- whom a served state governs ----------------------------------------------

/// The newest served state that may speak for `owner`.
const nostr::state*
identifier_plan::governing_served(const pubkey& owner) const {
  const served_state* newest = nullptr;
  for (const auto& [author, known] : served_states_) {
    const auto& owners = authority_.authorising(author);
    if (std::find(owners.begin(), owners.end(), owner) != owners.end()
        && (newest == nullptr || nostr::is_newer(known.ev, newest->ev)))
      newest = &known;
  }
  return newest == nullptr || newest->content.refs.empty() ? nullptr
                                                           : &newest->content;
}

/// Its own, or those of the served state that fills an announced repository.
std::vector<oid> identifier_plan::objects_to_align(const entry& e) const {
  auto result = e.oids();
  const auto* served
    = e.announcement() != nullptr ? governing_served(e.ev.author) : nullptr;
  if (served != nullptr)
    for (const auto& ref : served->refs)
      result.push_back(ref.target);
  return result;
}

/// An announcement that comes after the state: is the data here already?
void identifier_plan::ask_presence_of_served(const entry& announcement) {
  const auto* known = authority_.find(announcement.ev.author);
  if (known == nullptr || !known->hosted)
    return;
  const auto ids = objects_to_align(announcement);
  for (const auto& owner : authority_.owners())
    if (authority_.find(owner)->hosted)
      ask_presence(tenant_of(owner), ids);
}

/// A held announcement whose owner a served state governs needs no state of
/// its own: its repository is filled from another owner's.
void identifier_plan::start_alignment_to_served() {
  const auto is_on_its_way = [&](const pubkey& owner) {
    return std::any_of(waiting_.begin(), waiting_.end(), [&](const auto& w) {
      const auto& owners = authority_.authorising(w.second.ev.author);
      return w.second.state_content() != nullptr && is_leaving(w.second)
             && std::find(owners.begin(), owners.end(), owner) != owners.end();
    });
  };
  const auto is_looked_at = [&](const pubkey& owner) {
    return std::any_of(look_ups_.begin(), look_ups_.end(),
                       [&](const auto& l) { return l.second.first == owner; });
  };
  for (auto& [id, e] : waiting_) {
    const auto& owner = e.ev.author;
    const bool waits = e.announcement() != nullptr && e.durable()
                       && (e.state == entry_state::hunting
                           || e.state == entry_state::soft_expired);
    const auto* known = authority_.find(owner);
    if (!waits || e.release_after > at_.now || known == nullptr
        || known->id != id || !known->hosted || is_on_its_way(owner)
        || is_looked_at(owner))
      continue;
    const auto ids = objects_to_align(e);
    if (ids.empty())
      continue;
    if (has_all(owner, ids)) {
      begin_alignment(e, {owner});
      return;
    }
    if (!e.uncopied.contains(owner) && copy_to_others(e, {owner}, ids))
      return;
  }
}

} // namespace purgatory::git
