#include "app/io/git/stale_locks.hpp"

#include <chrono>
#include <filesystem>
#include <system_error>

namespace purgatory::io {

namespace {

namespace fs = std::filesystem;

constexpr auto longest_hold = std::chrono::minutes{1};

bool remove_if_stale(const fs::path& lock) {
  std::error_code absent;
  const auto written = fs::last_write_time(lock, absent);
  if (absent || fs::file_time_type::clock::now() - written < longest_hold)
    return false;
  return fs::remove(lock, absent);
}

} // namespace

bool remove_stale_locks(const bare_repository& repo,
                        const std::vector<std::string>& refs) {
  auto removed = remove_if_stale(repo.path() / "packed-refs.lock");
  for (const auto& name : refs)
    removed |= remove_if_stale(repo.path() / (name + ".lock"));
  return removed;
}

} // namespace purgatory::io
