// The long horizon: windows end, entries are parked, tried again for days,
// given up, revived (rules §7).

#include "libsync/git/identifier_plan.hpp"

#include <algorithm>
#include <utility>

namespace purgatory::git {

namespace {

/// A parked round that could try nothing is repeated after this.
constexpr auto untried_pause = std::chrono::hours(1);

/// What a new state or a push grants an announcement (rules §2.3).
constexpr auto announcement_rest = std::chrono::minutes(30);

} // namespace

duration identifier_plan::window() const {
  return settings_.initial_sync ? settings_.life.initial_window
                                : settings_.life.window;
}

/// Moves the parked rounds of a unit, all by the same share of their distance:
/// its entries stay together, units do not.
double identifier_plan::share_of(const entry& e) const {
  const auto owner = unit_owner(e);
  constexpr std::uint64_t steps = 1024;
  const auto mixed = std::hash<unit_key>{}(key_of(owner.value_or(e.ev.author)));
  return static_cast<double>(mixed % steps) / static_cast<double>(steps);
}

journal_record identifier_plan::horizon_of(const entry& e) const {
  return horizon_record{e.ev.id, e.life.image(clocks())};
}

/// Something under way may satisfy it: it is judged when that has ended.
bool identifier_plan::is_pinned(const entry& e) const {
  if (alignment_ && alignment_->id == e.ev.id)
    return true;
  const auto owner = unit_owner(e);
  if (!owner)
    return false;
  const bool looked_up
    = std::any_of(look_ups_.begin(), look_ups_.end(), [&](const auto& open) {
        return open.second.first == *owner;
      });
  const auto* u = find_unit(*owner);
  const auto ids = e.oids();
  return looked_up
         || (u != nullptr
             && std::any_of(ids.begin(), ids.end(), [&](const oid& id) {
                  return u->round.is_in_flight(id);
                }));
}

std::optional<std::size_t>
identifier_plan::fewest_outcomes(const entry& e) const {
  const auto owner = unit_owner(e);
  const auto* u = owner ? find_unit(*owner) : nullptr;
  std::optional<std::size_t> fewest;
  for (const auto& url : urls_of(e)) {
    const auto known = u == nullptr ? nullptr : &u->urls;
    const bool seen = known != nullptr && known->contains(url);
    const auto outcomes = seen ? known->at(url).outcomes_since(
                            e.life.parked_at().value_or(e.life.arrived()))
                               : std::size_t{0};
    fewest = fewest ? std::min(*fewest, outcomes) : outcomes;
  }
  return fewest;
}

// -- giving up ----------------------------------------------------------------

void identifier_plan::judge_round(const pubkey& lead, unit& u, bool tried_any) {
  std::vector<event_id> over;
  for (auto& [id, e] : waiting_) {
    if (!u.members.contains(id) || !e.is_hunted() || !e.durable())
      continue;
    const auto owner = unit_owner(e);
    if (!owner || groups_.lead_of(*owner) != lead || missing_of({&e}).empty())
      continue;
    // A job that outlasts its round keeps its entries from being given up; the
    // round has passed all the same.
    const bool pinned = is_pinned(e);
    if (e.state == entry_state::hunting) {
      if (pinned
          || !e.life.window_is_over(u.rounds, has_urls(e), at_.now,
                                    settings_.life))
        continue;
      if (settings_.life.retry_enabled)
        park(e);
      else
        over.push_back(id);
      continue;
    }
    if (tried_any) {
      e.life.round_consumed();
      record({horizon_of(e)}, {id});
    } else {
      e.not_before = at_.now + untried_pause;
    }
    if (!pinned && !u.is_restored
        && e.life.is_over(fewest_outcomes(e), at_.now, settings_.life))
      over.push_back(id);
  }
  for (const auto& id : over)
    give_up(id);
}

bool identifier_plan::is_in_round(const entry& e) const {
  const auto owner = unit_owner(e);
  const auto* u = owner ? find_unit(*owner) : nullptr;
  return u != nullptr && u->round.in_round() && u->members.contains(e.ev.id);
}

std::uint32_t identifier_plan::rounds_for(const entry& e) const {
  const auto owner = unit_owner(e);
  return owner ? rounds(*owner) : 0;
}

/// What ends by time alone.
void identifier_plan::judge_windows() {
  std::vector<event_id> over;
  std::vector<event_id> dropped;
  for (auto& [id, e] : waiting_) {
    if (!e.durable() || e.life.window_end() > at_.now)
      continue;
    const auto late = at_.now - e.life.window_end();
    switch (e.state) {
    case entry_state::hunting:
      if (e.announcement() != nullptr) {
        if (!e.sent && !is_pinned_announcement(e))
          move_to(e, entry_state::soft_expired);
        break;
      }
      // Between rounds; during one its end decides.
      if (is_pinned(e) || is_in_round(e)
          || !e.life.window_is_over(rounds_for(e), has_urls(e), at_.now,
                                    settings_.life))
        break;
      if (settings_.life.retry_enabled)
        park(e);
      else
        over.push_back(id);
      break;
    case entry_state::parked:
      if ((!has_urls(e) || missing_of({&e}).empty()) && !is_pinned(e)
          && e.life.is_over(std::nullopt, at_.now, settings_.life))
        over.push_back(id);
      break;
    case entry_state::soft_expired:
      if (late >= settings_.announcement_retention && !unit_holds_others(e))
        dropped.push_back(id);
      break;
    case entry_state::orphan:
      if (e.life.arrived() + settings_.orphan_ttl <= at_.now)
        dropped.push_back(id);
      break;
    default:
      break;
    }
  }
  for (const auto& id : over)
    give_up(id);
  for (const auto& id : dropped)
    fate(id, entry_state::dropped);
  // Long ago: whoever sends it again is heard as if for the first time.
  std::erase_if(verdicts_, [&](const auto& old) {
    if (old.second.since + settings_.verdict_ttl > at_.now)
      return false;
    known_[old.first] = entry_state::dropped;
    record({state_record{old.first, entry_state::dropped}});
    return true;
  });
  tombstones_.expire(at_.wall);
}

bool identifier_plan::is_pinned_announcement(const entry& e) const {
  return alignment_ && alignment_->open.contains(tenant_of(e.ev.author));
}

bool identifier_plan::unit_holds_others(const entry& announcement) const {
  const auto& lead = groups_.lead_of(announcement.ev.author);
  return std::any_of(waiting_.begin(), waiting_.end(), [&](const auto& other) {
    const auto owner = unit_owner(other.second);
    return owner && groups_.lead_of(*owner) == lead;
  });
}

void identifier_plan::park(entry& e) {
  e.life.park(at_.now);
  e.state = entry_state::parked;
  e.not_before = time_point{};
  record({state_record{e.ev.id, e.state}, horizon_of(e)}, {e.ev.id});
  say(severity::info, "Event parked",
      {{"event_id", e.ev.id.value},
       {"kind", std::to_string(e.ev.kind)},
       {"from", to_string(e.from)}});
  schedule(e);
}

void identifier_plan::give_up(const event_id& id) {
  auto& e = waiting_.at(id);
  verdict_record verdict{id, at_.live, "", {}};
  const auto owner = unit_owner(e);
  const auto* u = owner ? find_unit(*owner) : nullptr;
  for (const auto& url : urls_of(e))
    if (u != nullptr && u->urls.contains(url))
      verdict.urls.push_back({url, u->urls.at(url).last()});
  verdict.reason = verdict.urls.empty() ? "no clone URL to ask"
                                        : "no git data at any clone URL";
  std::vector<std::pair<const char*, std::string>> fields
    = {{"npub", e.ev.author.value},
       {"event_id", id.value},
       {"kind", std::to_string(e.ev.kind)},
       {"source", to_string(e.from)},
       {"reason", verdict.reason}};
  if (const auto* pr = e.pull_request(); pr != nullptr && pr->tip)
    fields.emplace_back("commit", pr->tip->value);
  say(severity::info, "[PURGATORY_EXPIRED]", std::move(fields));
  known_[id] = entry_state::verdict;
  auto node = waiting_.extract(id);
  auto& last = node.mapped();
  last.state = entry_state::verdict;
  record({state_record{id, entry_state::verdict}, verdict}, {},
         std::exchange(last.answers, {}));
  out_.push_back(met_fate{last.ev.kind, entry_state::verdict});
  verdicts_.insert_or_assign(id, given_up{std::move(last), at_.now});
}

// -- revival ------------------------------------------------------------------

void identifier_plan::revive(entry& e, const char* reason) {
  e.state = entry_state::hunting;
  const auto owner = unit_owner(e);
  e.life = horizon{at_.now, owner ? rounds(*owner) : 0, window()};
  e.not_before = at_.now + settings_.sync_delay;
  record({state_record{e.ev.id, e.state}, horizon_of(e)}, {e.ev.id});
  say(severity::info, "Event revived",
      {{"event_id", e.ev.id.value}, {"reason", reason}});
  if (!owner)
    return;
  unit_of(*owner).round.reset_attempts();
  schedule(e);
}

bool identifier_plan::revive_verdict(const event_id& id, const char* reason) {
  auto node = verdicts_.extract(id);
  if (node.empty())
    return false;
  known_.erase(id);
  auto& back = waiting_[id] = std::move(node.mapped().last);
  revive(back, reason);
  ask_presence(back);
  return true;
}

template <class Concerned>
void identifier_plan::revive_all(const char* reason, Concerned concerned) {
  for (auto& [id, e] : waiting_)
    if (e.state == entry_state::parked && e.durable() && concerned(e))
      revive(e, reason);
  std::vector<event_id> back;
  for (const auto& [id, old] : verdicts_)
    if (concerned(old.last))
      back.push_back(id);
  for (const auto& id : back)
    revive_verdict(id, reason);
}

void identifier_plan::revive_for(const pubkey& announcer) {
  revive_all("announcement", [&](const entry& e) {
    const auto owners = speaking_owners(e);
    return e.ev.author == announcer
           || std::find(owners.begin(), owners.end(), announcer)
                != owners.end();
  });
}

/// Another event names the same objects and brings a URL of its own.
void identifier_plan::revive_for(const entry& next) {
  const auto urls = urls_of(next);
  const auto ids = next.oids();
  revive_all("url", [&](const entry& e) {
    const auto own = e.oids();
    const auto known = urls_of(e);
    const auto shares = [&](const oid& id) {
      return std::find(ids.begin(), ids.end(), id) != ids.end();
    };
    const auto is_new = [&](const remote_url& url) {
      return std::find(known.begin(), known.end(), url) == known.end();
    };
    return std::any_of(own.begin(), own.end(), shares)
           && std::any_of(urls.begin(), urls.end(), is_new);
  });
}

effects identifier_plan::on_host_recovered(const host_key& host, moment at) {
  at_ = at;
  const auto is_there = [&](const remote_url& url) {
    const auto parsed = parse_clone_url(url.value);
    const auto* known = std::get_if<clone_url>(&parsed);
    return known != nullptr && known->host == host;
  };
  for (auto& [lead, u] : units_)
    for (auto& [url, memory] : u.urls)
      if (is_there(url))
        memory.host_recovered();
  const auto asks_there = [&](const entry& e) {
    const auto urls = urls_of(e);
    return std::any_of(urls.begin(), urls.end(), is_there);
  };
  revive_all("host recovered", asks_there);
  // Who waits for its next round need not wait longer.
  for (const auto& [id, e] : waiting_)
    if (e.state == entry_state::hunting && e.is_hunted() && e.durable()
        && asks_there(e))
      schedule(e);
  return finish();
}

effects identifier_plan::on_retry(moment at) {
  at_ = at;
  for (auto& [lead, u] : units_) {
    u.round.reset_attempts();
    for (auto& [url, memory] : u.urls)
      memory.forgive();
  }
  revive_all("retry", [](const entry&) { return true; });
  for (auto& [id, e] : waiting_)
    if (e.is_hunted() && e.durable())
      schedule(e);
  return finish();
}

effects identifier_plan::on_settings(plan_settings settings, bool revive,
                                     moment at) {
  settings_ = std::move(settings);
  urls_.clear();
  backoff_ = engine::backoff{settings_.backoff_base, settings_.backoff_cap,
                             settings_.jitter};
  if (revive)
    return on_retry(at);
  at_ = at;
  return finish();
}

// -- announcements ------------------------------------------------------------

/// A new state lets the announcements that speak for it wait on.
void identifier_plan::extend_announcements(const entry& by) {
  for (const auto& owner : speaking_owners(by)) {
    const auto* known = authority_.find(owner);
    const auto i = known == nullptr ? waiting_.end() : waiting_.find(known->id);
    if (i == waiting_.end())
      continue;
    auto& e = i->second;
    const bool faded = e.state == entry_state::soft_expired;
    if (!faded && e.state != entry_state::hunting)
      continue;
    e.life.extend(at_.now, announcement_rest);
    e.state = entry_state::hunting;
    std::vector<journal_record> records = {horizon_of(e)};
    if (faded)
      records.emplace_back(state_record{e.ev.id, e.state});
    record(std::move(records), {e.ev.id});
  }
}

// -- sleep --------------------------------------------------------------------

std::vector<host_key> identifier_plan::hosts_of_interest() const {
  std::set<host_key> hosts;
  const auto add = [&](const entry& e) {
    for (const auto& url : urls_of(e)) {
      const auto parsed = parse_clone_url(url.value);
      if (const auto* known = std::get_if<clone_url>(&parsed))
        hosts.insert(known->host);
    }
  };
  for (const auto& [id, e] : waiting_)
    if (e.is_hunted())
      add(e);
  for (const auto& [id, old] : verdicts_)
    add(old.last);
  return {hosts.begin(), hosts.end()};
}

/// Before it may be forgotten, the journal knows when to wake it and why.
void identifier_plan::sleep_if_idle() {
  constexpr auto worth_it = std::chrono::minutes(5);
  if (!idle()) {
    sleep_token_.reset();
    return;
  }
  const auto wake = next_due();
  if (wake && *wake < at_.now + worth_it) {
    sleep_token_.reset();
    return;
  }
  if (waiting_.empty() && verdicts_.empty()) {
    out_.push_back(may_sleep{});
    return;
  }
  if (sleep_token_)
    return;
  sleep_record rest{repo_, std::nullopt};
  if (wake)
    rest.due = clocks().stored(*wake);
  sleep_token_ = next_token_++;
  out_.push_back(write_records{
    *sleep_token_, {hosts_record{repo_, hosts_of_interest()}, rest}});
}

} // namespace purgatory::git
