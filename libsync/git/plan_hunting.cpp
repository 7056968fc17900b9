// Hunting: what is missing, and what became of the questions (rules §4, §8).

#include "libsync/git/identifier_plan.hpp"

#include <algorithm>

namespace purgatory::git {

namespace {

/// Wants of one job (rules §4.3).
constexpr std::size_t max_wants = 2000;

/// URLs remembered by one unit: its own 32 and 16 more of authors.
constexpr std::size_t max_remembered = max_urls_unit + max_urls_event;

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
identifier_plan::hunted(const pubkey& lead, wish kind, time_point until) const {
  std::vector<const entry*> result;
  for (const auto& [id, e] : waiting_) {
    const bool of_kind = kind == wish::states ? e.state_content() != nullptr
                                              : e.pull_request() != nullptr;
    if (!of_kind || !e.is_hunted() || !e.durable() || wanted_at(e) > until)
      continue;
    const auto owner = unit_owner(e);
    if (owner && groups_.lead_of(*owner) == lead)
      result.push_back(&e);
  }
  std::sort(result.begin(), result.end(), [](const entry* a, const entry* b) {
    return nostr::is_newer(a->ev, b->ev);
  });
  return result;
}

std::vector<oid>
identifier_plan::missing_of(const std::vector<const entry*>& entries) const {
  std::vector<oid> result;
  std::set<oid> seen;
  for (const auto* e : entries) {
    const auto owner = unit_owner(*e);
    if (!owner)
      continue;
    for (const auto& id : e->oids())
      if (result.size() < max_wants
          && kind_in(*owner, id) == object_kind::absent
          && seen.insert(id).second)
        result.push_back(id);
  }
  return result;
}

std::vector<const identifier_plan::entry*>
identifier_plan::taking_part(const pubkey& lead, wish kind) const {
  const auto* u = find_unit(lead);
  if (u == nullptr || !u->round.in_round())
    return hunted(lead, kind, at_.now);
  auto result = hunted(lead, kind, time_point::max());
  // Who comes during a round takes part in the next one.
  std::erase_if(result,
                [&](const entry* e) { return !u->members.contains(e->ev.id); });
  return result;
}

std::vector<oid> identifier_plan::needed(const pubkey& owner, wish kind) const {
  return missing_of(taking_part(groups_.lead_of(owner), kind));
}

// -- turns --------------------------------------------------------------------

effects identifier_plan::on_granted(const unit_key& name, const host_key& host,
                                    lease_id lease, moment at) {
  at_ = at;
  const auto lead = groups_.lead_of(name.owner);
  const auto offer_to = [&](const pubkey& who) {
    auto& u = unit_of(who);
    std::vector<task> open;
    if (u.round.in_round())
      open = u.round.untried(permitted(u, open_tasks(who)));
    else if (u.round.has_place(host)) // Else it was given up meanwhile.
      open = permitted(u, all_tasks(who, wanted_between_rounds(who)));
    std::erase_if(
      open, [&](const task& work) { return !prepared_.contains(work.target); });
    return u.round.granted(name, host, lease, open, at.now);
  };
  auto t = offer_to(lead);
  // The need may have moved to another unit since the place was taken.
  if (!t.start && !t.defer)
    for (const auto& other : leads())
      if (other != lead && !t.start)
        t = offer_to(other);
  if (t.start || t.defer)
    touched_.reset();
  else
    touched_ = lead;
  const auto use = t.start   ? lease_use::start
                   : t.defer ? lease_use::defer
                             : lease_use::withdraw;
  out_.push_back(use_lease{name, host, lease, use});
  if (t.start) {
    out_.push_back(start_fetch{
      name, host, lease, {t.job.url, t.job.wants, tenant_of(t.job.target)}});
    say(severity::info, "Fetch started",
        {{"url", t.job.url.value},
         {"domain", host.value},
         {"wants", text_of(t.job.wants.size())}});
  }
  return finish();
}

std::vector<const identifier_plan::entry*>
identifier_plan::wanted_between_rounds(const pubkey& lead) const {
  auto result = hunted(lead, wish::states, time_point::max());
  const auto pulls = hunted(lead, wish::pull_requests, time_point::max());
  result.insert(result.end(), pulls.begin(), pulls.end());
  std::erase_if(result, [&](const entry* e) {
    return e->state == entry_state::hunting && e->not_before > at_.now;
  });
  return result;
}

effects identifier_plan::on_queued(const unit_key& name, const host_key& host,
                                   const host_view& view, moment at) {
  at_ = at;
  const auto lead = groups_.lead_of(name.owner);
  touched_ = lead;
  auto& u = unit_of(lead);
  u.round.queued(host, view);
  if (!view.blocked_until)
    return finish();
  for (const auto& work : open_tasks(lead)) {
    if (work.url.host != host)
      continue;
    const bool is_known = u.urls.contains(work.listed);
    if (!is_known && u.urls.size() >= max_remembered)
      continue;
    // What failed before we came to know the host is not our outcome.
    if (u.urls[work.listed].saw_probes(view.failed_probes, at.now) && is_known)
      u.round.note_tried();
  }
  return finish();
}

effects identifier_plan::on_place_lost(const unit_key& name,
                                       const host_key& host, moment at) {
  at_ = at;
  touched_ = groups_.lead_of(name.owner);
  unit_of(name.owner).round.lost_place(host);
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

effects identifier_plan::on_probe(const host_key& host, moment at) {
  at_ = at;
  for (const auto& lead : leads()) {
    auto& u = unit_of(lead);
    for (const auto& work : all_tasks(lead, wanted_between_rounds(lead))) {
      if (work.url.host != host || !u.round.ask(host))
        continue;
      prepare_targets({work});
      out_.push_back(ask_turn{key_of(lead), work.url, lane::retry});
      return finish();
    }
  }
  return finish();
}

// -- answers ------------------------------------------------------------------

effects identifier_plan::on_moving(const unit_key& name, lease_id lease,
                                   moment at) {
  at_ = at;
  touched_ = groups_.lead_of(name.owner);
  unit_with(name, lease).round.moving(lease);
  return finish();
}

effects identifier_plan::on_fetched(const unit_key& name, lease_id lease,
                                    const fetch_outcome& result, moment at) {
  at_ = at;
  auto& u = unit_with(name, lease);
  const auto* known = u.round.job(lease);
  if (known == nullptr)
    return finish();
  const auto job = *known;
  const bool again = asks_again(u, job, result);
  u.round.answered(lease, !again);
  remember_outcome(u, job, result, again);
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
  const auto repository = tenant_of(job.target);
  if (result.pack)
    out_.push_back(take_pack{name, lease, repository, result.pack, result.got});
  else
    ask_presence(repository, job.wants, lease);
  return finish();
}

void identifier_plan::remember_outcome(unit& u, const running_job& job,
                                       const fetch_outcome& result,
                                       bool again) {
  auto whole = result;
  whole.pack.reset();
  // A redirect that we do not follow is one that we refuse.
  if (result.outcome == fetch_class::redirected && !again)
    whole.outcome = fetch_class::policy;
  if (result.outcome == fetch_class::not_here && result.missing.empty())
    whole.missing = job.wants;
  if (!is_real_outcome(whole.outcome) && result.got.empty())
    return;
  if (is_real_outcome(whole.outcome))
    u.round.note_tried();
  if (!u.urls.contains(job.listed) && u.urls.size() >= max_remembered)
    forget_unlisted(u);
  if (u.urls.contains(job.listed) || u.urls.size() < max_remembered)
    u.urls[job.listed].ended(whole, at_.now, share());
}

void identifier_plan::forget_unlisted(unit& u) {
  const auto& lead = u.round.name().owner;
  std::set<remote_url> listed;
  for (const auto& work : all_tasks(lead, wanted_between_rounds(lead)))
    listed.insert(work.listed);
  std::erase_if(
    u.urls, [&](const auto& known) { return !listed.contains(known.first); });
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
         && !settings_.deny_hosts.contains(to->host.value)
         && u.round.redirect(job.url, *to);
}

effects identifier_plan::on_taken(const unit_key& name, lease_id lease,
                                  const store_report& report, moment at) {
  at_ = at;
  auto& u = unit_with(name, lease);
  const auto* job = u.round.job(lease);
  if (job == nullptr)
    return finish();
  if (report.result == store_result::done) {
    u.round.reset_attempts(); // Verified progress (rules §7).
    ask_presence(tenant_of(job->target), job->wants, lease);
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
  if (!node.empty() && node.mapped().second.value != 0) {
    const auto& [owner, lease] = node.mapped();
    unit_with(key_of(owner), lease).round.settle(lease);
  }
  return finish();
}

} // namespace purgatory::git
