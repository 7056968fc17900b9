// Hunting: what is missing, whom to ask, when (rules §4, §7, §8).

#include "libsync/git/candidates.hpp"
#include "libsync/git/identifier_plan.hpp"

#include <algorithm>

namespace purgatory::git {

namespace {

/// Wants of one job (rules §4.3).
constexpr std::size_t max_wants = 2000;

std::string text_of(std::size_t number) {
  return std::to_string(number);
}

} // namespace

object_kind identifier_plan::kind_in(const pubkey& owner, const oid& id) const {
  const auto here = present_.find(tenant_of(owner));
  if (here == present_.end())
    return object_kind::absent;
  const auto i = here->second.find(id);
  return i == here->second.end() ? object_kind::absent : i->second;
}

std::vector<const identifier_plan::entry*>
identifier_plan::hunted(const pubkey& owner, wish kind,
                        time_point until) const {
  std::vector<const entry*> result;
  for (const auto& [id, e] : waiting_) {
    const bool of_kind = kind == wish::states ? e.state_content() != nullptr
                                              : e.pull_request() != nullptr;
    if (of_kind && e.state == entry_state::hunting && e.durable()
        && e.not_before <= until && unit_owner(e) == owner)
      result.push_back(&e);
  }
  std::sort(result.begin(), result.end(), [](const entry* a, const entry* b) {
    return nostr::is_newer(a->ev, b->ev);
  });
  return result;
}

identifier_plan::unit& identifier_plan::unit_of(const pubkey& owner) {
  const auto i = units_.find(owner);
  if (i != units_.end())
    return i->second;
  return units_
    .emplace(owner,
             unit{hunt(settings_.unit_concurrent), {}, {}, false, false, {}})
    .first->second;
}

std::vector<oid>
identifier_plan::missing_of(const pubkey& owner,
                            const std::vector<const entry*>& entries) const {
  std::vector<oid> result;
  std::set<oid> seen;
  for (const auto* e : entries)
    for (const auto& id : e->oids())
      if (result.size() < max_wants && kind_in(owner, id) == object_kind::absent
          && seen.insert(id).second)
        result.push_back(id);
  return result;
}

std::vector<const identifier_plan::entry*>
identifier_plan::taking_part(const pubkey& owner, wish kind) const {
  const auto i = units_.find(owner);
  if (i == units_.end() || !i->second.round.in_round())
    return hunted(owner, kind, at_.now);
  auto result = hunted(owner, kind, time_point::max());
  // Who comes during a round takes part in the next one.
  std::erase_if(result, [&](const entry* e) {
    return !i->second.members.contains(e->ev.id);
  });
  return result;
}

std::vector<oid> identifier_plan::needed(const pubkey& owner, wish kind) const {
  return missing_of(owner, taking_part(owner, kind));
}

std::vector<task> identifier_plan::open_tasks(const pubkey& owner) const {
  std::vector<task> result;
  const auto add_announced = [&](wish kind) {
    const auto entries = taking_part(owner, kind);
    const auto wants = missing_of(owner, entries);
    if (wants.empty())
      return;
    std::vector<pubkey> owners = {owner};
    for (const auto* e : entries)
      for (const auto& other : speaking_owners(*e))
        if (std::find(owners.begin(), owners.end(), other) == owners.end())
          owners.push_back(other);
    for (auto& url : announced_urls(authority_, owners, settings_.own_origins))
      result.push_back({std::move(url), kind, wants});
  };
  add_announced(wish::states);
  add_announced(wish::pull_requests);
  // A PR's own URLs are good for that PR's objects only.
  for (const auto* e : taking_part(owner, wish::pull_requests)) {
    const auto wants = missing_of(owner, {e});
    for (auto& url :
         askable_urls(e->pull_request()->clone_urls, settings_.own_origins)) {
      const auto same
        = std::find_if(result.begin(), result.end(), [&](const task& t) {
            return t.kind == wish::pull_requests && t.url.text == url.text;
          });
      if (same == result.end()) {
        result.push_back({std::move(url), wish::pull_requests, wants});
        continue;
      }
      for (const auto& want : wants)
        if (std::find(same->wants.begin(), same->wants.end(), want)
            == same->wants.end())
          same->wants.push_back(want);
    }
  }
  return result;
}

void identifier_plan::schedule(const entry& e) {
  const auto owner = unit_owner(e);
  if (!owner)
    return;
  auto& u = unit_of(*owner);
  // Nearer only: a later delay never pushes a due time back.
  u.wait.pull_to(e.not_before);
}

void identifier_plan::advance(const pubkey& owner) {
  auto& u = unit_of(owner);
  if (u.wait.elapsed(at_.now) && !u.round.in_round() && !u.round.busy())
    begin_round(owner, u);
  if (u.preparing)
    return;
  const auto key = key_of(owner);
  const auto open = u.round.in_round() ? u.round.untried(open_tasks(owner))
                                       : std::vector<task>{};
  for (auto& host : u.round.take_useless_places(open)) {
    ++places_being_left_;
    out_.push_back(give_up_place{key, std::move(host)});
  }
  if (!u.round.in_round())
    return;
  if (auto next = u.round.next_to_ask(open))
    out_.push_back(
      ask_turn{key, std::move(next->url),
               u.round.attempts() == 0 ? lane::fresh : lane::retry});
  if (open.empty() && !u.round.busy())
    finish_round(owner, u);
}

void identifier_plan::begin_round(const pubkey& owner, unit& u) {
  u.wait.clear();
  if (hunted(owner, wish::states, at_.now).empty()
      && hunted(owner, wish::pull_requests, at_.now).empty()) {
    u.members.clear();
    schedule_others(owner, u);
    return;
  }
  u.round.begin_round();
  // What comes due within the debounce of a burst belongs to the same burst:
  // one round, one job (rules §7).
  u.members.clear();
  for (const auto kind : {wish::states, wish::pull_requests})
    for (const auto* e : hunted(owner, kind, at_.now + settings_.sync_delay))
      u.members.insert(e->ev.id);
  if (u.prepared)
    return;
  u.preparing = true;
  out_.push_back(prepare_repository{tenant_of(owner)});
}

void identifier_plan::finish_round(const pubkey& owner, unit& u) {
  const bool still_missing = !needed(owner, wish::states).empty()
                             || !needed(owner, wish::pull_requests).empty();
  u.round.end_round(still_missing);
  if (still_missing) {
    const auto share
      = std::uniform_real_distribution<double>(0.0, 1.0)(random_);
    const auto due
      = engine::round_up(at_.now + backoff_.after(u.round.attempts(), share),
                         settings_.loop_interval);
    u.wait.clear();
    u.wait.pull_to(due);
    const auto seconds
      = std::chrono::ceil<std::chrono::seconds>(due - at_.now).count();
    record(
      {attempt_record{key_of(owner), u.round.attempts(), at_.wall + seconds}});
    say(severity::debug, "Backoff applied",
        {{"unit", owner.value},
         {"attempts", text_of(u.round.attempts())},
         {"seconds", std::to_string(seconds)}});
  } else {
    u.round.reset_attempts();
    say(severity::info,
        waiting_.empty() ? "Sync complete - no pending events"
                         : "Sync complete - all OIDs available",
        {{"unit", owner.value}});
  }
  // Events that came during the round have their own time.
  schedule_others(owner, u);
}

void identifier_plan::schedule_others(const pubkey& owner, const unit& u) {
  for (const auto& [id, e] : waiting_)
    if (e.state == entry_state::hunting && e.durable()
        && !u.members.contains(id) && unit_owner(e) == owner)
      schedule(e);
}

effects identifier_plan::on_prepared(const tenant& repository,
                                     const store_report& report, moment at) {
  at_ = at;
  touched_ = repository.owner;
  auto& u = unit_of(repository.owner);
  u.preparing = false;
  u.prepared = report.result == store_result::done;
  if (!u.prepared) {
    say(severity::warn, "Repository not created", {{"error", report.detail}});
    // Nothing was asked, so nothing was tried; the disk may recover.
    u.round.end_round(true);
    u.wait.clear();
    u.wait.pull_to(at.now + settings_.backoff_cap);
  }
  return finish();
}

effects identifier_plan::on_granted(const unit_key& unit_id,
                                    const host_key& host, lease_id lease,
                                    moment at) {
  at_ = at;
  touched_ = unit_id.owner;
  auto& u = unit_of(unit_id.owner);
  const auto open = u.round.in_round() && !u.preparing
                      ? u.round.untried(open_tasks(unit_id.owner))
                      : std::vector<task>{};
  const auto t = u.round.granted(host, lease, open);
  const auto use = t.start   ? lease_use::start
                   : t.defer ? lease_use::defer
                             : lease_use::withdraw;
  out_.push_back(use_lease{unit_id, host, lease, use});
  if (t.start) {
    out_.push_back(
      start_fetch{unit_id,
                  host,
                  lease,
                  {t.job.url, t.job.wants, tenant_of(unit_id.owner)}});
    say(severity::info, "Fetch started",
        {{"url", t.job.url.value},
         {"domain", host.value},
         {"wants", text_of(t.job.wants.size())}});
  }
  return finish();
}

effects identifier_plan::on_queued(const unit_key& unit_id,
                                   const host_key& host, moment at) {
  at_ = at;
  touched_ = unit_id.owner;
  unit_of(unit_id.owner).round.queued(host);
  return finish();
}

effects identifier_plan::on_place_lost(const unit_key& unit_id,
                                       const host_key& host, moment at) {
  at_ = at;
  touched_ = unit_id.owner;
  unit_of(unit_id.owner).round.lost_place(host);
  return finish();
}

effects identifier_plan::on_place_left(moment at) {
  at_ = at;
  if (places_being_left_ > 0)
    --places_being_left_;
  return finish();
}

effects identifier_plan::on_throttle_restarted(const host_key& host,
                                               moment at) {
  at_ = at;
  for (auto& [owner, u] : units_)
    u.round.lost_place(host);
  return finish();
}

effects identifier_plan::on_fetched(const unit_key& unit_id, lease_id lease,
                                    const fetch_outcome& result, moment at) {
  at_ = at;
  auto& u = unit_of(unit_id.owner);
  const auto* known = u.round.job(lease);
  if (known == nullptr)
    return finish();
  const auto job = *known;
  u.round.answered(lease, !asks_again(u, job, result));
  std::vector<std::pair<const char*, std::string>> fields
    = {{"url", job.url.value}, {"domain", job.host.value}};
  if (result.got.empty()) {
    fields.emplace_back("error", to_string(result.outcome));
    fields.emplace_back("detail", result.detail);
    say(severity::warn, "Fetch failed", std::move(fields));
    u.round.settle(lease);
    return finish();
  }
  fields.emplace_back("oids_fetched", text_of(result.got.size()));
  say(severity::info, "Fetch succeeded", std::move(fields));
  const auto repository = tenant_of(unit_id.owner);
  if (result.pack)
    out_.push_back(
      take_pack{unit_id, lease, repository, result.pack, result.got});
  else
    ask_presence(repository, job.wants, lease);
  return finish();
}

bool identifier_plan::asks_again(unit& u, const running_job& job,
                                 const fetch_outcome& result) const {
  // There was more to ask for than one job takes.
  if (result.outcome == fetch_class::partial || job.wants.size() >= max_wants)
    return !result.got.empty();
  if (result.outcome != fetch_class::redirected || !result.redirect)
    return false;
  const auto parsed = parse_clone_url(result.redirect->value);
  const auto* to = std::get_if<clone_url>(&parsed);
  return to != nullptr && !settings_.own_origins.contains(to->origin())
         && u.round.redirect(job.url, *to);
}

effects identifier_plan::on_taken(const unit_key& unit_id, lease_id lease,
                                  const store_report& report, moment at) {
  at_ = at;
  auto& u = unit_of(unit_id.owner);
  const auto* job = u.round.job(lease);
  if (job == nullptr)
    return finish();
  if (report.result == store_result::done) {
    u.round.reset_attempts(); // Verified progress (rules §7).
    ask_presence(tenant_of(unit_id.owner), job->wants, lease);
    return finish();
  }
  say(severity::warn, "Objects not stored", {{"error", report.detail}});
  u.round.settle(lease);
  return finish();
}

void identifier_plan::ask_presence(const tenant& repository,
                                   std::vector<oid> ids, lease_id settles) {
  if (ids.empty())
    return;
  const auto token = next_token_++;
  look_ups_.emplace(token, std::pair(repository.owner, settles));
  out_.push_back(look_up{token, repository, std::move(ids)});
}

void identifier_plan::ask_presence(const entry& e) {
  for (const auto& owner : governed_owners(e))
    ask_presence(tenant_of(owner), e.oids());
}

effects identifier_plan::on_looked_up(std::uint64_t token,
                                      const tenant& repository,
                                      const std::vector<oid>& ids,
                                      const std::vector<object_kind>& kinds,
                                      moment at) {
  at_ = at;
  auto& here = present_[repository];
  for (std::size_t i = 0; i < ids.size() && i < kinds.size(); ++i)
    here[ids[i]] = kinds[i];
  const auto node = look_ups_.extract(token);
  if (!node.empty() && node.mapped().second.value != 0)
    unit_of(node.mapped().first).round.settle(node.mapped().second);
  return finish();
}

} // namespace purgatory::git
