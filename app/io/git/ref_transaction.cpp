#include "app/io/git/ref_transaction.hpp"

#include <span>

namespace purgatory::io {

namespace {

using changes_view = std::span<const git::ref_change>;

/// Locks of some refs, released at the end whether or not they were committed.
class locked_refs {
public:
  explicit locked_refs(bare_repository& repo)
    : repo_(repo),
      transaction_(acquire<transaction_handle>([&](git_transaction** out) {
        return git_transaction_new(out, repo.get());
      })) {}

  void lock(const git::ref_change& change) {
    check(git_transaction_lock_ref(transaction_.get(), change.name.c_str()));
  }

  /// libgit2 compares nothing in a transaction: this is the compare of
  /// compare-and-swap.
  void verify(const git::ref_change& change) const {
    if (repo_.ref(change.name) != change.before)
      throw libgit2_error{GIT_EMODIFIED, change.name + " moved meanwhile"};
  }

  void stage(const git::ref_change& change) {
    const auto* name = change.name.c_str();
    if (!change.after) {
      check(git_transaction_remove(transaction_.get(), name));
      return;
    }
    const auto target = to_git_oid(*change.after);
    if (!target)
      throw libgit2_error{GIT_EINVALID, "no object id: " + change.after->value};
    check(git_transaction_set_target(transaction_.get(), name, &*target,
                                     nullptr, nullptr));
  }

  void commit() { check(git_transaction_commit(transaction_.get())); }

private:
  bare_repository& repo_;
  transaction_handle transaction_;
};

struct groups {
  changes_view room;
  changes_view writes;
  changes_view deletes;
};

groups split(const std::vector<git::ref_change>& changes) {
  const auto is_write
    = [](const git::ref_change& change) { return change.after.has_value(); };
  const auto first = std::find_if(changes.begin(), changes.end(), is_write);
  const auto last = std::find_if_not(first, changes.end(), is_write);
  return {{changes.begin(), first}, {first, last}, {last, changes.end()}};
}

bool exclude_each_other(const std::string& a, const std::string& b) {
  return a.starts_with(b + "/") || b.starts_with(a + "/");
}

bool waits_for_room(const git::ref_change& write, changes_view room) {
  return std::any_of(room.begin(), room.end(), [&](const auto& step) {
    return exclude_each_other(step.name, write.name);
  });
}

/// A lock that can't be taken yet can at least be seen to be somebody's.
void refuse_if_locked(const bare_repository& repo, const std::string& name) {
  std::error_code ignored;
  if (std::filesystem::exists(repo.path() / (name + ".lock"), ignored))
    throw libgit2_error{GIT_ELOCKED, name + " is locked"};
}

bool loses_history(const bare_repository& repo, const git::ref_change& change) {
  if (!change.before)
    return false;
  const auto old = repo.kind(*change.before);
  if (old == object_kind::absent)
    return false;
  if (!change.after || old != object_kind::commit
      || repo.kind(*change.after) != object_kind::commit)
    return true;
  return !repo.descends_from(*change.after, *change.before);
}

void keep_lost_tips(bare_repository& repo, changes_view changes) {
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(
    std::chrono::system_clock::now().time_since_epoch());
  const auto folder
    = "refs/purgatory/kept/" + std::to_string(now.count()) + "/";
  for (const auto& change : changes)
    if (loses_history(repo, change))
      repo.set_ref(folder + change.before->value, *change.before);
}

} // namespace

void move_refs(bare_repository& repo,
               const std::vector<git::ref_change>& changes) {
  const auto [room, writes, deletes] = split(changes);
  locked_refs making_room{repo};
  locked_refs writing{repo};
  locked_refs deleting{repo};
  std::vector<const git::ref_change*> late;

  for (const auto& change : room)
    making_room.lock(change);
  for (const auto& change : writes) {
    if (waits_for_room(change, room)) {
      refuse_if_locked(repo, change.name);
      late.push_back(&change);
    } else {
      writing.lock(change);
    }
  }
  for (const auto& change : deletes)
    deleting.lock(change);

  for (const auto& change : changes)
    making_room.verify(change);
  keep_lost_tips(repo, changes);

  for (const auto& change : room)
    making_room.stage(change);
  making_room.commit();
  for (const auto* change : late) {
    writing.lock(*change);
    writing.verify(*change);
  }
  for (const auto& change : writes)
    writing.stage(change);
  writing.commit();
  for (const auto& change : deletes)
    deleting.stage(change);
  deleting.commit();
}

bool is_conflict(const libgit2_error& problem) {
  switch (problem.code()) {
  case GIT_ELOCKED:
  case GIT_EMODIFIED:
  case GIT_EEXISTS:
  case GIT_EDIRECTORY:
    return true;
  default:
    return false;
  }
}

} // namespace purgatory::io
