#include "libsync/git/alignment.hpp"

#include <algorithm>
#include <string_view>

namespace purgatory::git {

namespace {

using ref_map = std::map<std::string, oid>;

/// True when a name of `refs` is a folder on the path of `name`.
bool has_ancestor(const ref_map& refs, std::string_view name) {
  for (auto slash = name.find('/'); slash != std::string_view::npos;
       slash = name.find('/', slash + 1))
    if (refs.contains(std::string(name.substr(0, slash))))
      return true;
  return false;
}

/// True when a name of `refs` lies beneath `name`.
bool has_descendant(const ref_map& refs, const std::string& name) {
  const auto folder = name + "/";
  const auto first = refs.lower_bound(folder);
  return first != refs.end() && first->first.starts_with(folder);
}

bool excludes(const ref_map& refs, const std::string& name) {
  return has_ancestor(refs, name) || has_descendant(refs, name);
}

ref_map concrete(const desired_refs& wanted) {
  auto refs = wanted.refs;
  for (const auto& name : wanted.untouched)
    refs.erase(name);
  return refs;
}

std::optional<oid> find(const ref_map& refs, const std::string& name) {
  const auto found = refs.find(name);
  if (found == refs.end())
    return std::nullopt;
  return found->second;
}

} // namespace

std::optional<std::string> blocked_name(const ref_map& current,
                                        const desired_refs& wanted) {
  const auto target = concrete(wanted);
  ref_map staying;
  for (const auto& name : wanted.untouched)
    if (const auto value = find(current, name))
      staying.emplace(name, *value);
  for (const auto& [name, value] : target)
    if (has_ancestor(target, name) || excludes(staying, name))
      return name;
  return std::nullopt;
}

std::vector<ref_change> plan_alignment(const ref_map& current,
                                       const desired_refs& wanted) {
  const auto target = concrete(wanted);
  std::vector<ref_change> steps;
  std::vector<ref_change> late_deletes;
  for (const auto& [name, value] : current) {
    if (target.contains(name) || wanted.untouched.contains(name))
      continue;
    auto& deletes = excludes(target, name) ? steps : late_deletes;
    deletes.push_back({name, value, std::nullopt});
  }
  for (const auto& [name, value] : target)
    if (const auto before = find(current, name); before != value)
      steps.push_back({name, before, value});
  std::move(late_deletes.begin(), late_deletes.end(),
            std::back_inserter(steps));
  return steps;
}

} // namespace purgatory::git
