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

const std::vector<oid>& identifier_plan::entry::oids() const {
  if (named)
    return *named;
  auto& result = named.emplace();
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

std::optional<entry_state> identifier_plan::where(const event_id& id) const {
  if (const auto i = waiting_.find(id); i != waiting_.end())
    return i->second.state;
  if (const auto i = known_.find(id); i != known_.end())
    return i->second;
  return std::nullopt;
}

bool identifier_plan::idle() const {
  const auto is_busy = [](const auto& u) {
    return u.second.round.busy() || u.second.round.in_round();
  };
  const auto is_sent = [](const auto& known) { return known.second.sent; };
  return records_.empty() && look_ups_.empty() && places_being_left_ == 0
         && !alignment_ && preparing_.empty()
         && std::none_of(units_.begin(), units_.end(), is_busy)
         && std::none_of(waiting_.begin(), waiting_.end(), is_sent);
}

effects identifier_plan::on_recorded(std::uint64_t token, moment at) {
  at_ = at;
  if (sleep_token_ == token) {
    sleep_token_.reset();
    if (idle()) {
      out_.push_back(may_sleep{next_due()});
      return std::exchange(out_, {});
    }
  }
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
    else if (e.is_hunted())
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
  static_cast<void>(alarm_.rings(generation));
  return finish();
}

std::optional<time_point> identifier_plan::next_due() const {
  std::optional<time_point> result;
  const auto consider
    = [&](time_point due) { result = result ? std::min(*result, due) : due; };
  for (const auto& [lead, u] : units_) {
    if (u.wait.due() && !u.round.in_round())
      consider(*u.wait.due());
    if (const auto due = u.round.next_due(at_.now))
      consider(*due);
  }
  const auto consider_ahead = [&](time_point due) {
    if (due > at_.now)
      consider(due);
  };
  for (const auto& [id, e] : waiting_) {
    consider_ahead(e.life.window_end());
    consider_ahead(e.release_after);
    if (e.state == entry_state::future)
      consider(at_.now + seconds_until_present(e));
    else if (e.state == entry_state::orphan)
      consider_ahead(e.life.arrived() + settings_.orphan_ttl);
    else if (e.state == entry_state::soft_expired)
      // Past its retention it goes when the last entry of its unit has gone.
      consider(fading_at(e));
    else if (e.state == entry_state::parked)
      consider_ahead(e.life.verdict_after(settings_.life));
  }
  for (const auto& [id, old] : verdicts_)
    consider_ahead(old.since + settings_.verdict_ttl);
  return result;
}

/// When an announcement without data goes. Past its retention that is when the
/// last entry of its unit has gone, which is nothing that time alone brings.
time_point identifier_plan::fading_at(const entry& e) const {
  const auto at = e.life.window_end() + settings_.announcement_retention;
  if (at > at_.now)
    return at;
  return unit_holds_others(e) ? at_.now + settings_.announcement_retention
                              : at_.now;
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
  sleep_if_idle();
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
    if (e.state == entry_state::unsatisfiable && e.life.window_end() <= at_.now)
      over.push_back(id);
  }
  for (const auto& id : over)
    fate(id, entry_state::dropped);
  for (const auto& id : present)
    if (const auto i = waiting_.find(id); i != waiting_.end())
      reopen(i->second);
  judge_windows();
}

void identifier_plan::arm() {
  const auto due = next_due();
  if (const auto number = alarm_.arm(due))
    out_.push_back(arm_timer{*due, *number});
}

void identifier_plan::say(
  severity level, const char* text,
  std::vector<std::pair<const char*, std::string>> fields) {
  fields.insert(fields.begin(), {"identifier", repo_.value});
  out_.push_back(fact{level, text, std::move(fields)});
}

} // namespace purgatory::git
