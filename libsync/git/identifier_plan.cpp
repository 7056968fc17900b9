#include "libsync/git/identifier_plan.hpp"

#include <algorithm>
#include <utility>

namespace purgatory::git {

namespace {

engine::backoff make_backoff(const plan_settings& s) {
  return {s.backoff_base, s.backoff_cap, s.jitter};
}

} // namespace

const nostr::announcement* identifier_plan::entry::announcement() const {
  return std::get_if<nostr::announcement>(&content);
}

const nostr::state* identifier_plan::entry::state_content() const {
  return std::get_if<nostr::state>(&content);
}

const nostr::pull_request* identifier_plan::entry::pull_request() const {
  return std::get_if<nostr::pull_request>(&content);
}

std::vector<oid> identifier_plan::entry::oids() const {
  std::vector<oid> result;
  if (const auto* s = state_content())
    for (const auto& ref : s->refs)
      result.push_back(ref.target);
  if (const auto* pr = pull_request(); pr != nullptr && pr->tip)
    result.push_back(*pr->tip);
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

identifier_plan::identifier_plan(identifier repo, plan_settings settings,
                                 std::uint64_t seed)
  : repo_(std::move(repo)), settings_(std::move(settings)),
    backoff_(make_backoff(settings_)), random_(seed) {}

effects identifier_plan::restore(const identifier_image& image, moment at) {
  at_ = at;
  for (const auto& stored : image.events) {
    const auto& ev = stored.event;
    if (!is_waiting(stored.state)) {
      known_[ev.id] = stored.state;
      if (stored.state != entry_state::served)
        continue;
      const auto typed = nostr::read_git_event(ev, settings_.max_refs);
      if (std::holds_alternative<nostr::announcement>(typed))
        remember_announcement(ev, true);
      else if (const auto* s = std::get_if<nostr::state>(&typed))
        remember_served(ev, *s);
      else if (const auto* pr = std::get_if<nostr::pull_request>(&typed))
        served_pulls_[ev.id] = pr->repositories;
      continue;
    }
    entry e;
    e.ev = ev;
    e.content = nostr::read_git_event(ev, settings_.max_refs);
    e.from = stored.from;
    // What was being aligned starts again: every step is idempotent.
    e.state = stored.state == entry_state::aligning ? entry_state::hunting
                                                    : stored.state;
    e.arrived = at.now;
    e.not_before = at.now;
    if (e.announcement() != nullptr && e.state != entry_state::future)
      remember_announcement(ev, false);
    waiting_.insert_or_assign(ev.id, std::move(e));
  }
  for (const auto& [unit_id, attempts, due] : image.attempts) {
    auto& u = unit_of(unit_id.owner);
    u.round.restore_attempts(attempts);
    const auto wait = std::clamp<unix_seconds>(
      due - at.wall, 0,
      std::chrono::ceil<std::chrono::seconds>(settings_.backoff_cap).count());
    u.wait.pull_to(at.now + std::chrono::seconds(wait));
  }
  authority_changed_ = true;
  reclassify();
  for (const auto& [id, e] : waiting_)
    if (e.state == entry_state::hunting) {
      ask_presence(e);
      // A unit with a schedule keeps it; the others are due now.
      const auto owner = unit_owner(e);
      if (owner && !unit_of(*owner).wait.due())
        schedule(e);
    }
  return finish();
}

std::optional<entry_state> identifier_plan::where(const event_id& id) const {
  if (const auto i = waiting_.find(id); i != waiting_.end())
    return i->second.state;
  if (const auto i = known_.find(id); i != known_.end())
    return i->second;
  return std::nullopt;
}

bool identifier_plan::idle() const {
  return waiting_.empty() && records_.empty() && look_ups_.empty()
         && places_being_left_ == 0 && !alignment_
         && std::none_of(units_.begin(), units_.end(), [](const auto& u) {
              return u.second.round.busy() || u.second.preparing;
            });
}

effects identifier_plan::on_recorded(std::uint64_t token, moment at) {
  at_ = at;
  auto node = records_.extract(token);
  if (node.empty())
    return finish();
  for (auto& [offer, decision] : node.mapped().answers)
    out_.push_back(answer_offer{offer, std::move(decision)});
  for (const auto& id : node.mapped().events) {
    const auto i = waiting_.find(id);
    if (i == waiting_.end() || --i->second.unwritten > 0)
      continue;
    auto& e = i->second;
    for (auto& [offer, decision] : std::exchange(e.answers, {}))
      out_.push_back(answer_offer{offer, std::move(decision)});
    if (std::exchange(e.is_new, false))
      announce_held(e);
    else if (e.state == entry_state::hunting)
      schedule(e); // It could not be hunted before it was durable.
  }
  if (alignment_ && alignment_->token == token)
    on_alignment_recorded();
  return finish();
}

void identifier_plan::announce_held(const entry& e) {
  say(severity::info, "Event held",
      {{"event_id", e.ev.id.value},
       {"kind", std::to_string(e.ev.kind)},
       {"state", to_string(e.state)},
       {"from", to_string(e.from)}});
  if (e.state != entry_state::hunting)
    return;
  ask_presence(e);
  schedule(e);
}

effects identifier_plan::on_tick(std::uint64_t generation, moment at) {
  at_ = at;
  if (timer_.is_current(generation))
    armed_.reset();
  return finish();
}

std::optional<time_point> identifier_plan::next_due() const {
  std::optional<time_point> result;
  const auto consider
    = [&](time_point due) { result = result ? std::min(*result, due) : due; };
  for (const auto& [owner, u] : units_)
    if (u.wait.due() && !u.round.in_round() && !u.round.busy())
      consider(*u.wait.due());
  for (const auto& [id, e] : waiting_) {
    if (e.state == entry_state::unsatisfiable)
      consider(e.arrived + settings_.expiry);
    else if (e.state == entry_state::future)
      consider(at_.now + seconds_until_present(e));
    else if (e.release_after > at_.now)
      consider(e.release_after);
  }
  return result;
}

std::chrono::seconds
identifier_plan::seconds_until_present(const entry& e) const {
  const auto ahead = e.ev.created_at - settings_.max_future_skew - at_.wall;
  return std::chrono::seconds(std::max<unix_seconds>(ahead, 0));
}

std::uint64_t identifier_plan::record(std::vector<journal_record> records,
                                      std::vector<event_id> events,
                                      std::vector<offer_answer> answers) {
  const auto token = next_token_++;
  for (const auto& id : events)
    if (const auto i = waiting_.find(id); i != waiting_.end())
      ++i->second.unwritten;
  records_.emplace(token, written{std::move(events), std::move(answers)});
  out_.push_back(write_records{token, std::move(records)});
  return token;
}

effects identifier_plan::finish() {
  expire();
  reclassify();
  drop_wrong_types();
  start_alignment();
  publish_ready();
  // Copies: advancing may create units.
  std::vector<pubkey> owners;
  if (touched_)
    owners.push_back(*touched_);
  else
    for (const auto& [owner, u] : units_)
      owners.push_back(owner);
  touched_.reset();
  for (const auto& owner : owners)
    advance(owner);
  arm();
  if (idle())
    out_.push_back(may_sleep{});
  return std::exchange(out_, {});
}

void identifier_plan::expire() {
  std::vector<event_id> over;
  std::vector<event_id> present;
  for (const auto& [id, e] : waiting_) {
    if (!e.durable())
      continue;
    if (e.state == entry_state::future && seconds_until_present(e).count() == 0)
      present.push_back(id);
    if (e.state == entry_state::unsatisfiable
        && e.arrived + settings_.expiry <= at_.now)
      over.push_back(id);
  }
  for (const auto& id : over)
    fate(id, entry_state::dropped);
  for (const auto& id : present)
    if (const auto i = waiting_.find(id); i != waiting_.end())
      reopen(i->second);
}

void identifier_plan::arm() {
  const auto due = next_due();
  if (!due || (armed_ && *armed_ <= *due))
    return;
  armed_ = due;
  out_.push_back(arm_timer{*due, timer_.arm()});
}

void identifier_plan::say(
  severity level, const char* text,
  std::vector<std::pair<const char*, std::string>> fields) {
  fields.insert(fields.begin(), {"identifier", repo_.value});
  out_.push_back(fact{level, text, std::move(fields)});
}

} // namespace purgatory::git
