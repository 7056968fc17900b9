#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// Repositories made by real git, the same ids in every run.
namespace purgatory::test {

/// The environment of every git command of the tests: fixed identities and
/// dates, no configuration of the machine or the user.
std::vector<std::string> git_environment();

/// A bare repository on disk. Ids are 40 hex digits.
class git_repo {
public:
  /// Creates an empty one; parent folders as needed.
  static git_repo init(const std::filesystem::path& path);
  /// Creates one with `commits` commits in line on refs/heads/main, each of
  /// which changes one of twenty files.
  static git_repo with_commits(const std::filesystem::path& path, int commits);
  /// One that somebody else made.
  static git_repo at(const std::filesystem::path& path) {
    return git_repo{path};
  }

  const std::filesystem::path& path() const { return path_; }

  /// Runs git in it; throws unless it succeeds. stdout without the last
  /// newline.
  std::string git(const std::vector<std::string>& arguments,
                  const std::string& input = {}) const;

  /// The id a revision means.
  std::string id(const std::string& revision) const;
  /// A new commit with one file `name` of content `text`, on no branch.
  std::string commit(const std::string& name, const std::string& text,
                     const std::vector<std::string>& parents = {}) const;
  void set_ref(const std::string& name, const std::string& id) const;
  /// Makes refs/tags/<name>, annotated; returns the id of the tag object.
  std::string annotated_tag(const std::string& name,
                            const std::string& target) const;
  /// A pack of everything reachable from `tips`, less what is from `without`.
  std::string pack(const std::vector<std::string>& tips,
                   const std::vector<std::string>& without = {}) const;
  /// A pack of exactly these objects, whatever they link to.
  std::string pack_of(const std::vector<std::string>& objects) const;
  bool has(const std::string& id) const;
  /// True when `git fsck` finds nothing wrong.
  bool is_sound() const;

  /// Every file below with its size, and the refs: equal lists, equal
  /// repositories.
  std::vector<std::string> inventory() const;

private:
  explicit git_repo(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

} // namespace purgatory::test
