// Admission: what is held, duplicated or refused (rules §2).

#include "libsync/git/candidates.hpp"
#include "libsync/git/identifier_plan.hpp"

#include <algorithm>

namespace purgatory::git {

namespace {

/// A day: beyond it an event is refused rather than held (rules §2.1).
constexpr unix_seconds max_ahead = 24 * 60 * 60;

/// New information resets backoff at most this often (rules §7).
constexpr auto reset_interval = std::chrono::seconds(180);
constexpr std::size_t max_resets_per_hour = 6;

/// Tombstones of one deletion (rules §2.5).
constexpr std::size_t max_buried = 1000;

} // namespace

effects identifier_plan::on_event(const nostr::event& ev, provenance from,
                                  std::uint64_t offer, moment at,
                                  const host_key& relay) {
  at_ = at;
  entry next;
  next.ev = ev;
  next.content = nostr::read_git_event(ev, settings_.max_refs);
  next.from = from;
  next.life = horizon{at.now, 0, window()};
  next.relay = relay;
  next.not_before = at.now + delay_of(from);
  if (const auto* content = std::get_if<nostr::deletion>(&next.content))
    admit_deletion(*content, offer);
  else if (answer_if_known(ev, from, offer) || answer_if_buried(ev, offer)
           || refuse_future(next, offer))
    return finish();
  else if (next.announcement() != nullptr)
    admit_announcement(std::move(next), offer);
  else if (next.state_content() != nullptr)
    admit_state(std::move(next), offer);
  else if (next.pull_request() != nullptr)
    admit_pull_request(std::move(next), offer);
  else
    answer(offer, action::accept);
  return finish();
}

void identifier_plan::answer(std::uint64_t offer, action what,
                             const char* text) {
  out_.push_back(answer_offer{offer, {what, text}});
}

bool identifier_plan::answer_if_known(const nostr::event& ev, provenance from,
                                      std::uint64_t offer) {
  if (const auto i = waiting_.find(ev.id); i != waiting_.end()) {
    auto& e = i->second;
    if (from == provenance::served) {
      // Our relay's live view may be quicker than the answer to the release.
      if (e.sent)
        say_released(e);
      fate(ev.id, entry_state::served);
      answer(offer, action::accept);
    } else if (e.state == entry_state::publishing && e.durable()) {
      answer(offer, action::accept);
    } else if (e.state == entry_state::parked && e.durable()
               && from == provenance::direct) {
      e.answers.push_back({offer, {action::hold, answer_text::in_purgatory}});
      revive(e, "sent again");
    } else if (e.durable()) {
      answer(offer, action::hold, answer_text::in_purgatory);
    } else {
      // An answer means durable, also for the second of two quick offers.
      e.answers.push_back({offer, {action::hold, answer_text::in_purgatory}});
    }
    return true;
  }
  const auto i = known_.find(ev.id);
  if (i == known_.end() || i->second == entry_state::dropped)
    return false;
  switch (i->second) {
  case entry_state::served:
    answer(offer, action::accept);
    return true;
  case entry_state::verdict:
    return answer_verdict(ev.id, from, offer);
  case entry_state::deleted:
    answer(offer, action::reject, answer_text::deleted);
    return true;
  case entry_state::refused:
    answer(offer, action::reject, answer_text::refused_by_relay);
    return true;
  default:
    answer(offer, action::hold, answer_text::have_newer);
    return true;
  }
}

/// A client that sends it again believes in it; another relay only repeats.
bool identifier_plan::answer_verdict(const event_id& id, provenance from,
                                     std::uint64_t offer) {
  if (from == provenance::served) {
    verdicts_.erase(id);
    known_.erase(id);
    return false;
  }
  if (from == provenance::sync) {
    answer(offer, action::reject, answer_text::previously_expired);
    return true;
  }
  if (!revive_verdict(id, "sent again"))
    return false;
  waiting_.at(id).answers.push_back({offer, {action::hold, answer_text::held}});
  return true;
}

bool identifier_plan::answer_if_buried(const nostr::event& ev,
                                       std::uint64_t offer) {
  if (!tombstones_.cover(ev, repo_))
    return false;
  answer(offer, action::reject, answer_text::deleted);
  return true;
}

bool identifier_plan::refuse_future(entry& next, std::uint64_t offer) {
  const auto ahead = next.ev.created_at - at_.wall;
  if (ahead > max_ahead) {
    answer(offer, action::reject, answer_text::too_far_ahead);
    return true;
  }
  if (ahead > settings_.max_future_skew)
    next.state = entry_state::future;
  return false;
}

bool identifier_plan::is_full(const entry& next, std::uint64_t offer) {
  const auto same_author = [&](entry_state state, auto is_kind) {
    return static_cast<std::size_t>(
      std::count_if(waiting_.begin(), waiting_.end(), [&](const auto& other) {
        const auto& e = other.second;
        return e.ev.author == next.ev.author && is_kind(e)
               && (e.state == entry_state::orphan)
                    == (state == entry_state::orphan);
      }));
  };
  const auto any = [](const entry&) { return true; };
  const auto is_state = [](const entry& e) { return e.state_content(); };
  const auto is_pr = [](const entry& e) { return e.pull_request(); };
  const char* reason = nullptr;
  if (waiting_.size() >= max_entries_identifier)
    reason = answer_text::quota_entries;
  else if (next.state == entry_state::orphan
           && same_author(entry_state::orphan, any) >= max_orphans_key)
    reason = answer_text::quota_orphans;
  else if (next.from == provenance::direct && next.state_content() != nullptr
           && same_author(entry_state::hunting, is_state) >= max_states_author)
    reason = answer_text::quota_states;
  else if (next.from == provenance::direct && next.pull_request() != nullptr
           && same_author(entry_state::hunting, is_pr)
                >= max_pull_requests_author)
    reason = answer_text::quota_pull_requests;
  if (reason != nullptr)
    answer(offer, action::reject, reason);
  return reason != nullptr;
}

bool identifier_plan::lists_us(const nostr::announcement& content) const {
  const auto is_ours = [&](const std::string& url) {
    const auto origin = parse_origin(url);
    return origin && settings_.own_origins.contains(*origin);
  };
  const auto& urls = content.clone_urls;
  const auto& relays = content.relays;
  const bool cloned = std::any_of(urls.begin(), urls.end(), is_ours);
  const bool relayed = std::any_of(relays.begin(), relays.end(), is_ours);
  switch (settings_.require_listing) {
  case listing::none:
    return true;
  case listing::relay:
    return relayed;
  default:
    return cloned && relayed;
  }
}

void identifier_plan::admit_served_announcement(const entry& next,
                                                std::uint64_t offer) {
  // An older held version has had its day.
  if (const auto* known = authority_.find(next.ev.author);
      known != nullptr && is_newer(next.ev, *known))
    supersede_held(next.ev.author);
  known_[next.ev.id] = entry_state::served;
  remember_announcement(next.ev, true);
  record({accept_record{next.ev, repo_, entry_state::served, next.from,
                        at_.wall, next.life.image(clocks())}},
         {}, {{offer, {action::accept, ""}}});
  revive_for(next.ev.author);
}

void identifier_plan::admit_announcement(entry next, std::uint64_t offer) {
  const auto& author = next.ev.author;
  if (next.from == provenance::served) {
    admit_served_announcement(next, offer);
    return;
  }
  // Before its time an announcement has no authority and replaces nothing.
  if (next.state == entry_state::future) {
    if (!is_full(next, offer))
      accept(std::move(next), offer);
    return;
  }
  const auto* known = authority_.find(author);
  if (known != nullptr && !is_newer(next.ev, *known)) {
    answer(offer, action::hold, answer_text::have_newer);
    return;
  }
  const bool hosted = lists_us(*next.announcement());
  const bool may_speak = authority_.is_maintainer(author);
  next.state = standing_of_announcement(author, hosted);
  // Whatever becomes of the newer one, the older held one has had its day.
  supersede_held(author);
  if (!hosted && !may_speak) {
    answer(offer, action::reject, answer_text::not_listed);
    return;
  }
  if (is_full(next, offer))
    return;
  put_held(next, hosted);
  accept(std::move(next), offer);
}

void identifier_plan::admit_state(entry next, std::uint64_t offer) {
  const auto i = served_states_.find(next.ev.author);
  if (i != served_states_.end() && !nostr::is_newer(next.ev, i->second.ev)) {
    answer(offer, action::hold, answer_text::have_newer);
    return;
  }
  if (next.state != entry_state::future)
    next.state = standing_of(next);
  if (!is_full(next, offer))
    accept(std::move(next), offer);
}

void identifier_plan::admit_pull_request(entry next, std::uint64_t offer) {
  if (named_by(next).empty() && !next.pull_request()->updates) {
    answer(offer, action::reject, answer_text::no_reference);
    return;
  }
  if (next.state != entry_state::future)
    next.state = standing_of(next);
  if (!is_full(next, offer))
    accept(std::move(next), offer);
}

entry_state identifier_plan::standing_of(const entry& next) const {
  const auto* s = next.state_content();
  const auto* pr = next.pull_request();
  if ((s != nullptr && s->unsatisfiable) || (pr != nullptr && !pr->tip))
    return entry_state::unsatisfiable;
  return speaking_owners(next).empty() ? entry_state::orphan
                                       : entry_state::hunting;
}

void identifier_plan::accept(entry next, std::uint64_t offer) {
  const auto id = next.ev.id;
  const auto state = next.state;
  admission decision{action::hold, answer_text::held};
  if (state == entry_state::orphan)
    decision.message = answer_text::orphan;
  else if (state == entry_state::publishing)
    decision = {action::accept, ""};
  next.answers.push_back({offer, std::move(decision)});
  next.is_new = true;
  if (const auto owner = unit_owner(next))
    next.life = horizon{at_.now, rounds(*owner), window()};
  note_new_information(next);
  std::vector<journal_record> records = {accept_record{
    next.ev, repo_, state, next.from, at_.wall, next.life.image(clocks())}};
  // An event that was dropped before is known to the journal: move it.
  if (known_.erase(id) > 0)
    records.emplace_back(state_record{id, state});
  const auto& held
    = waiting_.insert_or_assign(id, std::move(next)).first->second;
  record(std::move(records), {id});
  if (held.announcement() != nullptr) {
    revive_for(held.ev.author);
    return;
  }
  extend_announcements(held);
  revive_for(held);
}

void identifier_plan::note_new_information(const entry& next) {
  const auto owner = unit_owner(next);
  if (!owner)
    return;
  auto& u = unit_of(*owner);
  const auto& lead = u.round.name().owner;
  const auto known = all_tasks(lead, wanted_between_rounds(lead));
  std::set<oid> wanted;
  std::set<remote_url> listed;
  for (const auto& work : known) {
    wanted.insert(work.wants.begin(), work.wants.end());
    listed.insert(work.listed);
  }
  const auto tasks = all_tasks(lead, {&next});
  const bool news
    = std::any_of(tasks.begin(), tasks.end(), [&](const task& work) {
        return !listed.contains(work.listed)
               || std::any_of(
                 work.wants.begin(), work.wants.end(),
                 [&](const oid& id) { return !wanted.contains(id); });
      });
  if (news)
    reset_attempts(u, next.ev.author);
}

/// New information starts backoff afresh, but nobody can keep it from growing.
void identifier_plan::reset_attempts(unit& u, const pubkey& author) {
  auto& last = last_reset_.try_emplace(author, time_point::min()).first->second;
  while (!u.resets.empty()
         && at_.now - u.resets.front() > std::chrono::hours(1))
    u.resets.pop_front();
  const bool too_soon
    = last != time_point::min() && at_.now - last < reset_interval;
  if (too_soon || u.resets.size() >= max_resets_per_hour)
    return;
  last = at_.now;
  u.resets.push_back(at_.now);
  u.round.reset_attempts();
}

void identifier_plan::admit_deletion(const nostr::deletion& content,
                                     std::uint64_t offer) {
  const auto taken_back = [&](const nostr::event& ev) {
    if (ev.author != content.author)
      return false;
    const auto& ids = content.ids;
    if (std::find(ids.begin(), ids.end(), ev.id) != ids.end())
      return true;
    return ev.created_at <= content.created_at
           && std::any_of(content.coordinates.begin(),
                          content.coordinates.end(), [&](const auto& c) {
                            return c.kind == ev.kind && c.repo == repo_;
                          });
  };
  std::vector<event_id> gone;
  for (auto& [id, e] : waiting_) {
    if (!taken_back(e.ev))
      continue;
    // While its refs move the entry is pinned; it is decided afterwards.
    if (e.state == entry_state::aligning)
      e.doomed = true;
    else
      gone.push_back(id);
  }
  for (const auto& id : gone)
    fate(id, entry_state::deleted);
  bury(content);
  if (const auto* served = authority_.served(content.author)) {
    nostr::event ev;
    ev.id = served->id;
    ev.author = content.author;
    ev.created_at = served->created_at;
    ev.kind = nostr::kind_announcement;
    if (taken_back(ev))
      fate(ev.id, entry_state::deleted);
  }
  answer(offer, action::accept);
}

/// What may not have come yet is refused when it comes.
void identifier_plan::bury(const nostr::deletion& content) {
  std::vector<journal_record> records;
  const auto add = [&](tombstone_record stone) {
    stone.author = content.author;
    stone.until = content.created_at;
    stone.since = at_.wall;
    tombstones_.bury(stone);
    records.emplace_back(std::move(stone));
  };
  for (const auto& id : content.ids)
    if (!waiting_.contains(id) && !known_.contains(id)
        && records.size() < max_buried) {
      tombstone_record stone;
      stone.id = id;
      add(std::move(stone));
    }
  for (const auto& c : content.coordinates)
    if (c.repo == repo_ && records.size() < max_buried) {
      tombstone_record stone;
      stone.kind = c.kind;
      stone.repo = c.repo;
      add(std::move(stone));
    }
  if (!records.empty())
    record(std::move(records));
}

} // namespace purgatory::git
