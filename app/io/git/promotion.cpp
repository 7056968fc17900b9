#include "app/io/git/promotion.hpp"

#include "app/io/git/durable.hpp"

#include <array>
#include <string>
#include <vector>

namespace purgatory::io {

namespace {

namespace fs = std::filesystem;

/// Regular files and directories only: links are none of ours.
std::vector<fs::path> entries(const fs::path& folder, fs::file_type type) {
  std::vector<fs::path> found;
  if (!fs::is_directory(fs::symlink_status(folder)))
    return found;
  for (const auto& entry : fs::directory_iterator{folder})
    if (entry.symlink_status().type() == type)
      found.push_back(entry.path());
  return found;
}

/// Content first, then the reverse index, the index last.
void move_packs(const fs::path& from, const fs::path& to) {
  static constexpr std::array<const char*, 3> order = {".pack", ".rev", ".idx"};
  const auto files = entries(from, fs::file_type::regular);
  if (files.empty())
    return;
  fs::create_directories(to);
  for (const auto* extension : order)
    for (const auto& file : files)
      if (file.extension() == extension)
        fs::rename(file, to / file.filename());
  sync_to_disk(to);
}

bool is_loose_folder(const fs::path& folder) {
  const auto name = folder.filename().string();
  return name.size() == 2
         && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

void move_loose(const fs::path& from, const fs::path& to) {
  fs::create_directories(to);
  for (const auto& file : entries(from, fs::file_type::regular)) {
    // Git does not fsync loose objects unless told to.
    sync_to_disk(file);
    fs::rename(file, to / file.filename());
  }
  sync_to_disk(to);
  sync_to_disk(to.parent_path());
}

} // namespace

void move_objects(const fs::path& quarantine, const fs::path& objects) {
  for (const auto& folder : entries(quarantine, fs::file_type::directory))
    if (is_loose_folder(folder))
      move_loose(folder, objects / folder.filename());
  move_packs(quarantine / "pack", objects / "pack");
}

} // namespace purgatory::io
