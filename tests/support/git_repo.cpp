#include "tests/support/git_repo.hpp"

#include "tests/support/process.hpp"

#include <algorithm>
#include <cstdlib>

namespace purgatory::test {

namespace fs = std::filesystem;

namespace {

constexpr int first_second = 1'600'000'000;

std::string data_block(const std::string& text) {
  std::string block{"data "};
  return block.append(std::to_string(text.size()))
    .append("\n")
    .append(text)
    .append("\n");
}

/// Enough text that packs compress and deltify as real sources do.
std::string file_text(int commit) {
  std::string text;
  for (int line = 0; line < 40; ++line)
    text += "line " + std::to_string(line) + " of file "
            + std::to_string(commit % 20) + ", edition "
            + std::to_string(line % 8 == commit % 8 ? commit : line) + "\n";
  return text;
}

std::string history(int commits) {
  std::string stream;
  for (int n = 0; n < commits; ++n) {
    stream += "commit refs/heads/main\ncommitter Test <test@example.org> "
              + std::to_string(first_second + n) + " +0000\n"
              + data_block("commit " + std::to_string(n))
              + "M 100644 inline src/file" + std::to_string(n % 20) + ".txt\n"
              + data_block(file_text(n));
  }
  return stream + "done\n";
}

} // namespace

std::vector<std::string> git_environment() {
  const char* path = std::getenv("PATH");
  return {std::string{"PATH="} + (path != nullptr ? path : "/usr/bin:/bin"),
          "HOME=/nonexistent",
          "LC_ALL=C",
          "GIT_CONFIG_NOSYSTEM=1",
          "GIT_CONFIG_GLOBAL=/dev/null",
          "GIT_AUTHOR_NAME=Test",
          "GIT_AUTHOR_EMAIL=test@example.org",
          "GIT_AUTHOR_DATE=1600000000 +0000",
          "GIT_COMMITTER_NAME=Test",
          "GIT_COMMITTER_EMAIL=test@example.org",
          "GIT_COMMITTER_DATE=1600000000 +0000"};
}

git_repo git_repo::init(const fs::path& path) {
  fs::create_directories(path);
  git_repo repo{path};
  repo.git({"init", "--quiet", "--bare", "--initial-branch=main", "."});
  return repo;
}

git_repo git_repo::with_commits(const fs::path& path, int commits) {
  auto repo = init(path);
  repo.git({"fast-import", "--quiet", "--done"}, history(commits));
  return repo;
}

std::string git_repo::git(const std::vector<std::string>& arguments,
                          const std::string& input) const {
  std::vector<std::string> argv{"git"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run_ok({argv, git_environment(), path_, input});
}

std::string git_repo::id(const std::string& revision) const {
  return git({"rev-parse", "--verify", "--quiet", revision});
}

std::string git_repo::commit(const std::string& name, const std::string& text,
                             const std::vector<std::string>& parents) const {
  const auto blob = git({"hash-object", "-w", "--stdin"}, text);
  const auto tree = git({"mktree"}, "100644 blob " + blob + "\t" + name + "\n");
  std::vector<std::string> words{"commit-tree", tree, "-m", text};
  for (const auto& parent : parents) {
    words.emplace_back("-p");
    words.push_back(parent);
  }
  return git(words);
}

void git_repo::set_ref(const std::string& name, const std::string& id) const {
  git({"update-ref", name, id});
}

std::string git_repo::annotated_tag(const std::string& name,
                                    const std::string& target) const {
  git({"tag", "--annotate", "--message=" + name, name, target});
  return id("refs/tags/" + name);
}

std::string git_repo::pack(const std::vector<std::string>& tips,
                           const std::vector<std::string>& without) const {
  std::string revisions;
  for (const auto& id : tips)
    revisions += id + "\n";
  for (const auto& id : without)
    revisions.append("^").append(id).append("\n");
  return run_ok_raw({{"git", "pack-objects", "--revs", "--stdout", "-q"},
                     git_environment(),
                     path_,
                     revisions});
}

std::string git_repo::pack_of(const std::vector<std::string>& objects) const {
  std::string list;
  for (const auto& id : objects)
    list += id + "\n";
  return run_ok_raw({{"git", "pack-objects", "--stdout", "-q"},
                     git_environment(),
                     path_,
                     list});
}

bool git_repo::has(const std::string& id) const {
  return run({{"git", "cat-file", "-e", id}, git_environment(), path_, {}})
           .status
         == 0;
}

bool git_repo::is_sound() const {
  return run({{"git", "fsck", "--full", "--strict"},
              git_environment(),
              path_,
              {}})
           .status
         == 0;
}

std::vector<std::string> git_repo::inventory() const {
  std::vector<std::string> lines;
  for (const auto& entry : fs::recursive_directory_iterator(path_)) {
    auto line = fs::relative(entry.path(), path_).string();
    if (entry.is_regular_file())
      line.append(" ").append(std::to_string(entry.file_size()));
    lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end());
  lines.push_back(git({"for-each-ref"}));
  return lines;
}

} // namespace purgatory::test
