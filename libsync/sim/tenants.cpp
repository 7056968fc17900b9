#include "libsync/sim/tenants.hpp"

#include <algorithm>

namespace purgatory::sim {

const tenants::store* tenants::find(const tenant& which) const {
  const auto here = all_.find(which.repo);
  if (here == all_.end())
    return nullptr;
  const auto i = here->second.find(which.owner);
  return i == here->second.end() ? nullptr : &i->second;
}

bool tenants::has(const tenant& repository, const oid& id) const {
  const auto* here = find(repository);
  return here != nullptr && here->objects.contains(id);
}

std::vector<object_kind> tenants::kinds(const tenant& repository,
                                        const std::vector<oid>& ids) const {
  std::vector<object_kind> result;
  result.reserve(ids.size());
  for (const auto& id : ids)
    result.push_back(has(repository, id) ? object_kind::commit
                                         : object_kind::absent);
  return result;
}

const std::map<std::string, oid>& tenants::refs(const tenant& which) const {
  static const std::map<std::string, oid> none;
  const auto* here = find(which);
  return here == nullptr ? none : here->refs;
}

const oid* tenants::pr_ref(const tenant& which, const event_id& pr) const {
  const auto* here = find(which);
  if (here == nullptr)
    return nullptr;
  const auto i = here->pr_refs.find(pr);
  return i == here->pr_refs.end() ? nullptr : &i->second;
}

std::vector<pubkey> tenants::owners(const identifier& repo) const {
  std::vector<pubkey> result;
  const auto here = all_.find(repo);
  if (here != all_.end())
    for (const auto& [owner, kept] : here->second)
      if (!kept.objects.empty())
        result.push_back(owner);
  return result;
}

void tenants::add(const tenant& which, const std::vector<oid>& ids) {
  all_[which.repo][which.owner].objects.insert(ids.begin(), ids.end());
}

store_report tenants::align(const tenant& which,
                            const git::desired_refs& wanted) {
  auto& here = all_[which.repo][which.owner];
  const bool complete
    = std::all_of(wanted.refs.begin(), wanted.refs.end(), [&](const auto& ref) {
        return here.objects.contains(ref.second);
      });
  if (!complete)
    return {store_result::missing, {}, "object missing"};
  auto changes = git::plan_alignment(here.refs, wanted);
  for (const auto& step : changes)
    if (step.after)
      here.refs[step.name] = *step.after;
    else
      here.refs.erase(step.name);
  return {store_result::done, std::move(changes), ""};
}

store_report tenants::set_pr_ref(const tenant& which, const event_id& pr,
                                 const oid& tip) {
  auto& here = all_[which.repo][which.owner];
  if (!here.objects.contains(tip))
    return {store_result::missing, {}, "object missing"};
  here.pr_refs[pr] = tip;
  return {store_result::done, {}, ""};
}

} // namespace purgatory::sim
