// Authority: whose tenants an entry governs, and in whose unit it is hunted.

#include "libsync/git/identifier_plan.hpp"

#include <algorithm>
#include <utility>

namespace purgatory::git {

namespace {

known_announcement read_announcement(const nostr::event& ev, bool served,
                                     bool hosted) {
  const auto typed = nostr::read_git_event(ev);
  const auto* content = std::get_if<nostr::announcement>(&typed);
  return content == nullptr
           ? known_announcement{}
           : known_announcement{*content, ev.id, ev.created_at, served, hosted};
}

} // namespace

std::vector<nostr::coordinate> identifier_plan::named_by(const entry& e) const {
  const auto* pr = e.pull_request();
  if (pr == nullptr)
    return {};
  auto result = pr->repositories;
  // An update without repositories has those of the PR that it updates.
  if (result.empty() && pr->updates) {
    const auto held = waiting_.find(*pr->updates);
    if (held != waiting_.end() && held->second.pull_request() != nullptr)
      result = held->second.pull_request()->repositories;
    else if (const auto served = served_pulls_.find(*pr->updates);
             served != served_pulls_.end())
      result = served->second;
  }
  std::erase_if(result, [&](const auto& c) { return c.repo != repo_; });
  return result;
}

std::vector<pubkey> identifier_plan::speaking_owners(const entry& e) const {
  if (e.state_content() != nullptr)
    return authority_.authorising(e.ev.author);
  // Owners whose closure holds a key that the PR names, first-seen first.
  std::set<pubkey> found;
  for (const auto& c : named_by(e)) {
    const auto& owners = authority_.authorising(c.owner);
    found.insert(owners.begin(), owners.end());
  }
  std::vector<pubkey> result;
  for (const auto& owner : authority_.owners())
    if (found.contains(owner))
      result.push_back(owner);
  return result;
}

std::vector<pubkey> identifier_plan::governed_owners(const entry& e) const {
  auto result = speaking_owners(e);
  std::erase_if(result, [&](const pubkey& owner) {
    return !authority_.find(owner)->hosted;
  });
  // The author's own tenant comes first (rules §1).
  const auto own = std::find(result.begin(), result.end(), e.ev.author);
  if (own != result.end())
    std::rotate(result.begin(), own, own + 1);
  return result;
}

std::optional<pubkey> identifier_plan::unit_owner(const entry& e) const {
  if (e.announcement() != nullptr)
    return std::nullopt;
  const auto owners = governed_owners(e);
  return owners.empty() ? std::nullopt : std::optional(owners.front());
}

bool identifier_plan::governs(const entry& e, const pubkey& owner) const {
  const auto outranks = [&](const nostr::event& other) {
    const auto& owners = authority_.authorising(other.author);
    return nostr::is_newer(other, e.ev)
           && std::find(owners.begin(), owners.end(), owner) != owners.end();
  };
  const auto is_served
    = [&](const auto& other) { return outranks(other.second.ev); };
  // What is on its way to the relay governs already: its refs are in place.
  const auto is_on_its_way = [&](const auto& other) {
    return other.second.state_content() != nullptr && is_leaving(other.second)
           && outranks(other.second.ev);
  };
  return std::none_of(served_states_.begin(), served_states_.end(), is_served)
         && std::none_of(waiting_.begin(), waiting_.end(), is_on_its_way);
}

bool identifier_plan::announcement_is_served(const entry& e) const {
  const auto owners = speaking_owners(e);
  return std::any_of(owners.begin(), owners.end(), [&](const pubkey& owner) {
    return authority_.is_served(owner);
  });
}

duration identifier_plan::delay_of(provenance from) const {
  return from == provenance::direct ? settings_.direct_delay
                                    : settings_.sync_delay;
}

void identifier_plan::supersede_held(const pubkey& author) {
  const auto* known = authority_.find(author);
  if (known == nullptr || known->served)
    return;
  const auto older = known->id; // `known` goes with it.
  fate(older, entry_state::superseded);
}

bool identifier_plan::is_on_its_way(const known_announcement* known) const {
  if (known == nullptr || known->served || !known->hosted)
    return false;
  const auto held = waiting_.find(known->id);
  return held != waiting_.end()
         && held->second.state == entry_state::publishing;
}

// An owner without tenant needs no data; a newer version of what is served
// goes out at once (rules §2.2), and so does that of what waits for the relay
// only: its data is here.
entry_state identifier_plan::standing_of_announcement(const pubkey& author,
                                                      bool hosted) const {
  const auto* known = authority_.find(author);
  return authority_.is_served(author) || !hosted || is_on_its_way(known)
           ? entry_state::publishing
           : entry_state::hunting;
}

void identifier_plan::put_held(const entry& e, bool hosted) {
  authority_.put({*e.announcement(), e.ev.id, e.ev.created_at, false, hosted});
  authority_changed_ = true;
}

// Its time has come: it is decided as if it had arrived now.
void identifier_plan::reopen_announcement(entry& e) {
  const auto& author = e.ev.author;
  const auto* known = authority_.find(author);
  const bool hosted = lists_us(*e.announcement());
  const bool is_old = known != nullptr && !is_newer(e.ev, *known);
  if (is_old || (!hosted && !authority_.is_maintainer(author))) {
    fate(event_id{e.ev.id},
         is_old ? entry_state::superseded : entry_state::dropped);
    return;
  }
  const auto state = standing_of_announcement(author, hosted);
  supersede_held(author);
  put_held(e, hosted);
  move_to(e, state);
}

void identifier_plan::reopen(entry& e) {
  if (e.announcement() != nullptr) {
    reopen_announcement(e);
    return;
  }
  const auto state = standing_of(e);
  // Who speaks for a parked one is who spoke for it before.
  if (state == e.state
      || (e.state == entry_state::parked && state == entry_state::hunting))
    return;
  // As an orphan it waited for somebody else: its own window begins now.
  const auto owner = unit_owner(e);
  e.life = horizon{at_.now, owner ? rounds(*owner) : 0, window()};
  record({horizon_of(e)}, {e.ev.id});
  move_to(e, state);
  if (state != entry_state::hunting)
    return;
  e.not_before = at_.now + delay_of(e.from);
  ask_presence(e);
  schedule(e);
  extend_announcements(e);
}

void identifier_plan::reclassify() {
  if (!std::exchange(authority_changed_, false))
    return;
  regroup();
  for (auto& [id, e] : waiting_) {
    // What is to be published but has lost whoever spoke for it goes back.
    const bool is_stranded = e.state == entry_state::publishing && !e.sent
                             && speaking_owners(e).empty();
    const bool movable
      = e.state == entry_state::orphan || e.is_hunted() || is_stranded;
    if (movable && e.announcement() == nullptr)
      reopen(e);
    const bool is_held
      = e.state == entry_state::hunting || e.state == entry_state::soft_expired;
    if (e.announcement() != nullptr && is_held)
      ask_presence_of_served(e);
  }
}

void identifier_plan::remember_announcement(const nostr::event& ev,
                                            bool served) {
  auto known = read_announcement(ev, served, false);
  known.hosted = lists_us(known.content);
  const auto* before = served ? authority_.served(ev.author) : nullptr;
  if (before != nullptr && before->created_at > known.created_at)
    return;
  authority_.put(known);
  authority_changed_ = true;
}

void identifier_plan::remember_served(const nostr::event& ev,
                                      const nostr::state& content) {
  auto [i, is_new] = served_states_.try_emplace(ev.author);
  if (is_new || nostr::is_newer(ev, i->second.ev))
    i->second = {ev, content};
}

} // namespace purgatory::git
