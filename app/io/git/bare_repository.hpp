#pragma once

#include "app/io/git/libgit2.hpp"
#include "libsync/ports.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace purgatory::io {

/// One bare repository, opened for one step and for one thread. A fresh handle
/// sees all packs of its moment and keeps no deleted one open (libgit2.md
/// §3.4). Every function may throw libgit2_error.
class bare_repository {
public:
  using ref_map = std::map<std::string, oid>;

  /// Opens the repository in `path`.
  explicit bare_repository(const std::filesystem::path& path);

  /// The kind of each object by full id; no revision syntax. 64-digit ids are
  /// absent: these repositories are SHA-1.
  std::vector<object_kind> kinds(const std::vector<oid>& ids) const;
  object_kind kind(const oid& id) const;

  /// True when commit `tip` has commit `base` in its history, or is it.
  bool descends_from(const oid& tip, const oid& base) const;

  /// All of refs/heads and refs/tags. A symbolic ref has the value
  /// `ref: <target>`, as in its file, which equals no object id.
  ref_map branches_and_tags() const;

  /// The value of one ref in the same form; nothing if there is none.
  std::optional<oid> ref(const std::string& name) const;

  /// The branch that HEAD names; nothing if HEAD is detached.
  std::optional<std::string> head() const;
  /// Makes HEAD name `branch`.
  void set_head(const std::string& branch);

  /// Creates the ref, or moves it whatever it was.
  void set_ref(const std::string& name, const oid& value);
  /// Deletes the ref if it is there.
  void remove_ref(const std::string& name);

  /// Its folder, with a trailing slash.
  std::filesystem::path path() const;
  git_repository* get() const { return repo_.get(); }

private:
  void collect(const char* pattern, ref_map& into) const;

  repository_handle repo_;
};

/// The binary form of a 40-digit id; nothing for anything else.
std::optional<git_oid> to_git_oid(const oid& id);

} // namespace purgatory::io
