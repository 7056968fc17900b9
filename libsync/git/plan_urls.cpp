// URLs: which may be asked for what, and which first (rules §4.2, §8.3).

#include "libsync/git/candidates.hpp"
#include "libsync/git/identifier_plan.hpp"

#include <algorithm>
#include <numeric>

namespace purgatory::git {

namespace {

void add_wants(task& to, const std::vector<oid>& wants) {
  for (const auto& want : wants)
    if (std::find(to.wants.begin(), to.wants.end(), want) == to.wants.end())
      to.wants.push_back(want);
}

task task_for(clone_url url, wish kind, const pubkey& target,
              const std::vector<oid>& wants, bool own = false) {
  auto listed = url.text;
  return {std::move(url), std::move(listed), kind, target, wants, own};
}

/// One task for each URL, kind and target; wants in order of appearance.
void add_task(std::vector<task>& all, task next) {
  if (next.wants.empty())
    return;
  const auto same
    = std::find_if(all.begin(), all.end(), [&](const task& other) {
        return other.kind == next.kind && other.target == next.target
               && other.url.text == next.url.text;
      });
  if (same == all.end()) {
    all.push_back(std::move(next));
    return;
  }
  add_wants(*same, next.wants);
  same->own = same->own || next.own;
}

} // namespace

std::vector<task> identifier_plan::open_tasks(const pubkey& owner) const {
  const auto& lead = groups_.lead_of(owner);
  auto entries = taking_part(lead, wish::states);
  const auto pulls = taking_part(lead, wish::pull_requests);
  entries.insert(entries.end(), pulls.begin(), pulls.end());
  return all_tasks(lead, entries);
}

std::vector<task>
identifier_plan::all_tasks(const pubkey& lead,
                           const std::vector<const entry*>& entries) const {
  std::vector<task> result;
  // Kind and tenant to what shares their URLs, states first.
  std::map<std::pair<wish, pubkey>, std::vector<const entry*>> groups;
  for (const auto* e : entries)
    if (const auto target = unit_owner(*e))
      groups[{e->pull_request() == nullptr ? wish::states : wish::pull_requests,
              *target}]
        .push_back(e);
  for (const auto& [about, members] : groups) {
    const auto& [kind, target] = about;
    const auto wants = missing_of(members);
    if (wants.empty())
      continue;
    std::vector<pubkey> owners = {target};
    for (const auto* e : members)
      for (const auto& other : speaking_owners(*e))
        if (std::find(owners.begin(), owners.end(), other) == owners.end())
          owners.push_back(other);
    for (auto& url : announced_urls(authority_, owners, settings_, urls_))
      add_task(result, task_for(std::move(url), kind, target, wants));
    // URLs of its author, and a PR's own, are good for that event only; no
    // crowd of other URLs can push them out.
    for (const auto* e : members) {
      const auto own = missing_of({e});
      if (const auto* known = authority_.find(e->ev.author))
        for (const auto& url :
             urls_.of(known->id, known->content.clone_urls, settings_))
          add_task(result, task_for(url, kind, target, own, true));
      if (const auto* pr = e->pull_request())
        for (const auto& url : urls_.of(e->ev.id, pr->clone_urls, settings_))
          add_task(result, task_for(url, kind, target, own));
    }
  }
  if (const auto* u = find_unit(lead))
    sort_by_promise(*u, entries, result);
  return result;
}

void identifier_plan::sort_by_promise(const unit& u,
                                      const std::vector<const entry*>& entries,
                                      std::vector<task>& open) const {
  struct rank {
    wish kind;
    bool not_hinted;
    double minus_score;
    std::uint32_t failures;
    std::size_t order;
    auto operator<=>(const rank&) const = default;
  };
  std::vector<std::pair<rank, std::size_t>> ranks;
  for (std::size_t i = 0; i < open.size(); ++i) {
    const auto& work = open[i];
    const auto known = u.urls.find(work.listed);
    const bool is_known = known != u.urls.end();
    const bool hinted
      = std::any_of(entries.begin(), entries.end(),
                    [&](const entry* e) { return e->relay == work.url.host; });
    ranks.push_back(
      {{work.kind, !hinted, is_known ? -known->second.score(at_.now) : 0.0,
        is_known ? known->second.failures() : 0, i},
       i});
  }
  std::sort(ranks.begin(), ranks.end(), [](const auto& a, const auto& b) {
    return std::is_lt(a.first <=> b.first);
  });
  std::vector<task> sorted;
  for (const auto& [by, index] : ranks)
    sorted.push_back(std::move(open[index]));
  open = std::move(sorted);
}

/// Without what its memory says to leave alone for now.
std::vector<task> identifier_plan::permitted(const unit& u,
                                             std::vector<task> open) const {
  for (auto& work : open) {
    const auto known = u.urls.find(work.listed);
    if (known == u.urls.end())
      continue;
    std::erase_if(work.wants, [&](const oid& id) {
      return known->second.allowed_at(id, u.is_parked_round) > at_.now;
    });
  }
  std::erase_if(open, [](const task& work) { return work.wants.empty(); });
  return open;
}

std::optional<time_point>
identifier_plan::earliest_permitted(const unit& u,
                                    const std::vector<task>& open) const {
  std::optional<time_point> result;
  for (const auto& work : open) {
    const auto known = u.urls.find(work.listed);
    for (const auto& want : work.wants) {
      const auto at = known == u.urls.end()
                        ? at_.now
                        : known->second.allowed_at(want, false);
      result = result ? std::min(*result, at) : at;
    }
  }
  return result;
}

std::vector<remote_url> identifier_plan::urls_of(const entry& e) const {
  std::vector<remote_url> result;
  const auto owner = unit_owner(e);
  if (!owner)
    return result;
  for (const auto& work : all_tasks(groups_.lead_of(*owner), {&e}))
    result.push_back(work.listed);
  return result;
}

bool identifier_plan::has_urls(const entry& e) const {
  const auto owner = unit_owner(e);
  if (!owner || missing_of({&e}).empty())
    return false;
  const auto lists_any = [&](const pubkey& who) {
    const auto* known = authority_.find(who);
    return known != nullptr
           && !urls_.of(known->id, known->content.clone_urls, settings_)
                 .empty();
  };
  const auto owners = speaking_owners(e);
  const auto* pr = e.pull_request();
  return lists_any(*owner) || lists_any(e.ev.author)
         || std::any_of(owners.begin(), owners.end(), lists_any)
         || (pr != nullptr
             && !urls_.of(e.ev.id, pr->clone_urls, settings_).empty());
}

} // namespace purgatory::git
