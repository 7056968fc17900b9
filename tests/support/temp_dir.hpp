#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace purgatory::test {

/// A directory of its own below the system's temporary folder, removed with
/// everything in it. Others may read it: a git server may run as another user.
class temp_dir {
public:
  temp_dir() {
    auto pattern
      = (std::filesystem::temp_directory_path() / "purgatory-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw std::runtime_error("no temporary directory: " + pattern);
    path_ = pattern;
    std::filesystem::permissions(path_, std::filesystem::perms{0755});
  }
  temp_dir(const temp_dir&) = delete;
  temp_dir& operator=(const temp_dir&) = delete;
  ~temp_dir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }

private:
  std::filesystem::path path_;
};

} // namespace purgatory::test
