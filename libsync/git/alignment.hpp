#pragma once

#include "libsync/types.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace purgatory::git {

/// What a repository's refs/heads and refs/tags shall be after alignment.
struct desired_refs {
  std::map<std::string, oid> refs;
  std::set<std::string>
    untouched; ///< Symbolic values of the state: left as they are.
  std::optional<std::string>
    head; ///< The branch HEAD shall name; nothing: leave HEAD.
  friend bool operator==(const desired_refs&, const desired_refs&) = default;
};

/// One step of a ref transaction, compare-and-swap: `before` is what was read.
struct ref_change {
  std::string name;
  std::optional<oid> before; ///< Nothing: the ref must not exist.
  std::optional<oid> after;  ///< Nothing: the ref is deleted.
  friend bool operator==(const ref_change&, const ref_change&) = default;
};

/// A name of `wanted` that no order of steps can create: another wanted name,
/// or an untouched one of `current`, lies on its path or beneath it. Git keeps
/// a ref as a file, so `a` and `a/b` exclude each other.
std::optional<std::string>
blocked_name(const std::map<std::string, oid>& current,
             const desired_refs& wanted);

/// The steps that lead from `current` (refs/heads and refs/tags only) to
/// `wanted`: deletes whose name blocks a create first, then creates and
/// updates, then the other deletes (rules §6.4). Empty when nothing differs.
/// Only while nothing is blocked can the steps be carried out.
std::vector<ref_change>
plan_alignment(const std::map<std::string, oid>& current,
               const desired_refs& wanted);

} // namespace purgatory::git
