#include "app/io/git/ref_alignment.hpp"

#include "app/io/git/ref_transaction.hpp"
#include "app/io/git/stale_locks.hpp"

#include <set>

namespace purgatory::io {

namespace {

using ref_map = bare_repository::ref_map;
using refusal = std::optional<store_report>;

store_report report(store_result result, std::string detail) {
  return {result, {}, std::move(detail)};
}

bool is_branch(const std::string& name) {
  return name.starts_with("refs/heads/");
}

bool is_our_name(const std::string& name) {
  auto valid = 0;
  check(git_reference_name_is_valid(&valid, name.c_str()));
  return valid == 1 && (is_branch(name) || name.starts_with("refs/tags/"));
}

refusal refuse_names(const ref_map& current, const git::desired_refs& wanted) {
  for (const auto& [name, value] : wanted.refs)
    if (!is_our_name(name))
      return report(store_result::failed, name + ": no branch or tag name");
  if (const auto name = git::blocked_name(current, wanted))
    return report(store_result::failed, *name + ": excluded by another name");
  return std::nullopt;
}

/// libgit2's transactions check no target, so this is the only guard.
refusal refuse_targets(const bare_repository& repo,
                       const git::desired_refs& wanted) {
  std::vector<oid> targets;
  for (const auto& [name, value] : wanted.refs)
    targets.push_back(value);
  const auto kinds = repo.kinds(targets);
  auto kind = kinds.begin();
  for (const auto& [name, value] : wanted.refs) {
    if (*kind == object_kind::absent)
      return report(store_result::missing,
                    name + ": " + value.value + " is not here");
    if (is_branch(name) && *kind != object_kind::commit)
      return report(store_result::failed,
                    name + ": " + value.value + " is no commit");
    ++kind;
  }
  return std::nullopt;
}

/// HEAD follows a branch only if the same event gives it a value.
std::optional<std::string> head_target(const git::desired_refs& wanted) {
  if (!wanted.head || !is_branch(*wanted.head)
      || !wanted.refs.contains(*wanted.head)
      || wanted.untouched.contains(*wanted.head))
    return std::nullopt;
  return wanted.head;
}

void move_all(bare_repository& repo, const git::desired_refs& wanted) {
  const auto changes = git::plan_alignment(repo.branches_and_tags(), wanted);
  if (!changes.empty())
    move_refs(repo, changes);
  const auto head = head_target(wanted);
  if (head && repo.head() != head)
    repo.set_head(*head);
}

bool is_aligned(const bare_repository& repo, const ref_map& refs,
                const git::desired_refs& wanted) {
  const auto head = head_target(wanted);
  return git::plan_alignment(refs, wanted).empty()
         && (!head || repo.head() == head);
}

std::vector<git::ref_change> carried_out(std::vector<git::ref_change> changes,
                                         const ref_map& now) {
  std::erase_if(changes, [&](const git::ref_change& change) {
    const auto found = now.find(change.name);
    return found == now.end() ? change.after.has_value()
                              : change.after != found->second;
  });
  return changes;
}

std::string anchor_name(const oid& id) {
  return "refs/purgatory/" + id.value;
}

void drop_anchors(bare_repository& repo, const git::desired_refs& wanted) {
  std::set<oid> held;
  for (const auto& [name, value] : wanted.refs)
    if (!wanted.untouched.contains(name))
      held.insert(value);
  try {
    for (const auto& id : held)
      repo.remove_ref(anchor_name(id));
  } catch (const libgit2_error&) {
    // An anchor too many keeps an object alive that is alive anyway.
  }
}

/// Runs `step`; the text of the conflict that ended it, if one did. What a
/// crash left locked is freed once: `refs` are those that the step may lock.
template <class Step>
std::optional<std::string> conflict_of(bare_repository& repo,
                                       const std::vector<std::string>& refs,
                                       Step step) {
  for (auto may_free = true;; may_free = false) {
    try {
      retry_while_locked(step);
      return std::nullopt;
    } catch (const libgit2_error& problem) {
      if (!is_conflict(problem))
        throw;
      if (problem.code() != GIT_ELOCKED || !may_free
          || !remove_stale_locks(repo, refs))
        return problem.what();
    }
  }
}

std::vector<std::string> names_of(const std::vector<git::ref_change>& changes) {
  std::vector<std::string> names;
  for (const auto& change : changes)
    names.push_back(change.name);
  return names;
}

} // namespace

store_report align_refs(bare_repository& repo,
                        const git::desired_refs& wanted) {
  const auto initial = repo.branches_and_tags();
  if (auto refused = refuse_names(initial, wanted))
    return *refused;
  if (auto refused = refuse_targets(repo, wanted))
    return *refused;
  const auto changes = git::plan_alignment(initial, wanted);
  auto lockable = names_of(changes);
  lockable.emplace_back("HEAD");
  const auto conflict
    = conflict_of(repo, lockable, [&] { move_all(repo, wanted); });

  const auto now = repo.branches_and_tags();
  store_report result{store_result::done, carried_out(changes, now),
                      conflict.value_or("")};
  if (conflict || !is_aligned(repo, now, wanted)) {
    result.result = store_result::conflict;
    return result;
  }
  drop_anchors(repo, wanted);
  return result;
}

store_report align_pr_ref(bare_repository& repo, const event_id& pr,
                          const oid& tip) {
  const auto is_hex_id
    = pr.value.size() == 64
      && pr.value.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_hex_id)
    return report(store_result::failed, "no event id: " + pr.value);
  if (repo.kind(tip) != object_kind::commit)
    return report(store_result::missing, tip.value + " is no commit here");
  const auto name = "refs/nostr/" + pr.value;
  const auto initial = repo.ref(name);
  const auto conflict = conflict_of(repo, {name}, [&] {
    const auto before = repo.ref(name);
    if (before != tip)
      move_refs(repo, {{name, before, tip}});
  });
  if (conflict || repo.ref(name) != tip)
    return report(store_result::conflict, conflict.value_or(""));
  if (initial == tip)
    return report(store_result::done, "");
  return {store_result::done, {{name, initial, tip}}, ""};
}

store_report anchor(bare_repository& repo, const std::vector<oid>& wants) {
  const auto kinds = repo.kinds(wants);
  std::string absent;
  for (std::size_t i = 0; i < wants.size(); ++i) {
    if (kinds[i] == object_kind::absent) {
      absent = wants[i].value;
      continue;
    }
    const auto name = anchor_name(wants[i]);
    if (!repo.ref(name))
      retry_while_locked([&] { repo.set_ref(name, wants[i]); });
  }
  if (!absent.empty())
    return report(store_result::missing, absent + " is not here");
  return report(store_result::done, "");
}

} // namespace purgatory::io
