#pragma once

#include "app/io/git/object_store.hpp"
#include "libsync/nostr/npub.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_dir.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace purgatory::test {

/// A git root with one tenant, a repository to take commits from, and the real
/// git as the judge of both.
class tenant_sandbox {
public:
  tenant_sandbox() { git_in(source(), {"init", "-q", "-b", "main", "."}); }

  std::filesystem::path root() const { return dir_ / "root"; }
  std::filesystem::path source() const {
    const auto path = dir_ / "source";
    std::filesystem::create_directories(path);
    return path;
  }
  std::filesystem::path bare() const {
    return root() / nostr::to_npub(repository.owner)
           / (repository.repo.value + ".git");
  }
  const std::filesystem::path& scratch() const { return dir_.path(); }

  std::unique_ptr<object_store> store() const {
    return io::make_object_store(root().string());
  }

  /// Runs git with a fixed environment, fails loudly, gives its output.
  std::string git_in(const std::filesystem::path& where,
                     std::vector<std::string> words,
                     const std::string& input = {},
                     std::vector<std::string> extra = {}) const {
    return run_ok(call(where, std::move(words), input, std::move(extra)));
  }

  command call(const std::filesystem::path& where,
               std::vector<std::string> words, const std::string& input = {},
               std::vector<std::string> extra = {}) const {
    words.insert(words.begin(), "git");
    auto environment = fixed_environment();
    environment.insert(environment.end(), extra.begin(), extra.end());
    return {std::move(words), std::move(environment), where, input};
  }

  std::string in_bare(std::vector<std::string> words) const {
    return git_in(bare(), std::move(words));
  }

  /// A new commit on the source's branch.
  oid commit(const std::string& text) const {
    std::ofstream{source() / "file"} << text << '\n';
    git_in(source(), {"add", "file"});
    git_in(source(), {"commit", "-q", "-m", text});
    return source_id("HEAD");
  }

  oid source_id(const std::string& revision) const {
    return oid{git_in(source(), {"rev-parse", "--verify", revision})};
  }

  /// Gives the tenant every object of the source, without a ref.
  void bring_objects() const {
    git_in(source(), {"-c", "protocol.file.allow=always", "push", "-q", "--all",
                      bare().string()});
    git_in(source(), {"push", "-q", "--tags", bare().string()});
    for (const auto& [name, value] : refs())
      in_bare({"update-ref", "-d", name});
  }

  /// What git says the tenant's branches and tags are.
  std::map<std::string, oid> refs() const {
    return refs_below("refs/heads refs/tags");
  }

  std::map<std::string, oid> refs_below(const std::string& folders) const {
    std::vector<std::string> words
      = {"for-each-ref", "--format=%(refname) %(objectname)"};
    std::istringstream list{folders};
    for (std::string folder; list >> folder;)
      words.push_back(folder);
    std::istringstream lines{in_bare(words)};
    std::map<std::string, oid> result;
    for (std::string name, value; lines >> name >> value;)
      result.emplace(name, oid{value});
    return result;
  }

  std::string head() const { return in_bare({"symbolic-ref", "HEAD"}); }

  /// Throws unless git finds the tenant's repository sound.
  void fsck() const { in_bare({"fsck", "--full", "--strict"}); }

  const tenant repository{pubkey{std::string(62, '0') + "a1"},
                          identifier{"my project: 1"}};

private:
  std::vector<std::string> fixed_environment() const {
    return {"PATH=/usr/local/bin:/usr/bin:/bin",
            "HOME=" + dir_.path().string(),
            "LC_ALL=C",
            "GIT_CONFIG_GLOBAL=/dev/null",
            "GIT_CONFIG_NOSYSTEM=1",
            "GIT_TERMINAL_PROMPT=0",
            "GIT_AUTHOR_NAME=author",
            "GIT_AUTHOR_EMAIL=author@example.org",
            "GIT_AUTHOR_DATE=1700000000 +0000",
            "GIT_COMMITTER_NAME=committer",
            "GIT_COMMITTER_EMAIL=committer@example.org",
            "GIT_COMMITTER_DATE=1700000000 +0000"};
  }

  temp_dir dir_;
};

} // namespace purgatory::test
