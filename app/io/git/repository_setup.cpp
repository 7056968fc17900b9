#include "app/io/git/repository_setup.hpp"

#include "app/io/git/durable.hpp"
#include "app/io/git/libgit2.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace purgatory::io {

namespace {

namespace fs = std::filesystem;

/// Never the name of a tenant: those end in `.git`.
constexpr const char* unfinished = ".creating-";

/// A directory that goes with all its content, unless a crash comes first.
class scratch_directory {
public:
  explicit scratch_directory(const fs::path& parent) {
    auto pattern = (parent / (std::string{unfinished} + "XXXXXX")).string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw fs::filesystem_error{
        "mkdtemp", parent, std::error_code{errno, std::system_category()}};
    path_ = pattern;
  }
  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;
  ~scratch_directory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

private:
  fs::path path_;
};

struct setting {
  const char* key;
  const char* value;
};

// rules §6.4, libgit2.md §3.4
constexpr std::array<setting, 6> settings = {{
  {"gc.auto", "0"},
  {"receive.autogc", "false"},
  {"transfer.hideRefs", "refs/purgatory"},
  {"uploadpack.allowTipSHA1InWant", "true"},
  {"uploadpack.allowReachableSHA1InWant", "true"},
  {"uploadpack.allowFilter", "true"},
}};

bool has_value(git_config* config, const setting& wanted) {
  auto found = false;
  struct search {
    const char* value;
    bool* found;
  } state{wanted.value, &found};
  const auto note = [](const git_config_entry* entry, void* payload) {
    const auto* known = static_cast<search*>(payload);
    *known->found |= std::string{entry->value} == known->value;
    return 0;
  };
  const auto code = git_config_get_multivar_foreach(config, wanted.key, nullptr,
                                                    note, &state);
  if (code != GIT_ENOTFOUND)
    check(code);
  return found;
}

/// Adds instead of replacing: an operator may hide more refs than we do.
void write_settings(const fs::path& path) {
  const auto file = path / "config";
  const auto config = acquire<config_handle>([&](git_config** out) {
    return git_config_open_ondisk(out, file.c_str());
  });
  for (const auto& wanted : settings)
    if (!has_value(config.get(), wanted))
      check(
        git_config_set_multivar(config.get(), wanted.key, "^$", wanted.value));
  sync_to_disk(file);
}

void initialise(const fs::path& path) {
  git_repository_init_options options = GIT_REPOSITORY_INIT_OPTIONS_INIT;
  options.flags = GIT_REPOSITORY_INIT_BARE | GIT_REPOSITORY_INIT_MKDIR;
  options.initial_head = "main";
  acquire<repository_handle>([&](git_repository** out) {
    return git_repository_init_ext(out, path.c_str(), &options);
  });
  fs::remove(path / "hooks" / "README.sample");
  write_settings(path);
  sync_to_disk(path / "HEAD");
  sync_to_disk(path);
}

bool is_repository(const fs::path& path) {
  git_repository* raw = nullptr;
  const auto code = git_repository_open_bare(&raw, path.c_str());
  const repository_handle opened{raw};
  return code == 0;
}

void build_aside(const fs::path& path) {
  const scratch_directory scratch{path.parent_path()};
  // One level deeper: mkdtemp's own directory is closed to the git server.
  const auto fresh = scratch.path() / "new";
  initialise(fresh);
  fs::rename(fresh, path);
  sync_to_disk(path.parent_path());
}

} // namespace

void set_up_repository(const fs::path& path) {
  fs::create_directories(path.parent_path());
  for (const auto& level : {path.parent_path(), path})
    if (fs::is_symlink(fs::symlink_status(level)))
      throw fs::filesystem_error{
        "symbolic link", level,
        std::make_error_code(std::errc::too_many_symbolic_link_levels)};
  if (is_repository(path))
    write_settings(path);
  else if (fs::exists(path))
    initialise(path);
  else
    build_aside(path);
}

void remove_unfinished_setups(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator{folder})
    if (entry.path().filename().string().starts_with(unfinished))
      fs::remove_all(entry.path());
}

} // namespace purgatory::io
