#include "app/io/git/quarantine.hpp"

#include <cstdlib>
#include <system_error>

namespace purgatory::io {

namespace fs = std::filesystem;

std::shared_ptr<fetch_quarantine>
fetch_quarantine::create(const fs::path& objects) {
  auto directory = (objects / "tmp_fetch-XXXXXX").string();
  if (::mkdtemp(directory.data()) == nullptr)
    return nullptr;
  return std::make_shared<fetch_quarantine>(std::move(directory));
}

fetch_quarantine::~fetch_quarantine() {
  std::error_code ignored; // Removed at the next start, then.
  fs::remove_all(directory_, ignored);
}

void fetch_quarantine::keep() {
  kept_ = pack_files();
}

void fetch_quarantine::drop() {
  std::error_code ignored;
  for (const auto& name : pack_files())
    if (!kept_.contains(name))
      fs::remove(fs::path{directory_} / "pack" / name, ignored);
}

std::set<std::string> fetch_quarantine::pack_files() const {
  std::set<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator at{fs::path{directory_} / "pack", failed}, end;
       !failed && at != end; at.increment(failed))
    names.insert(at->path().filename().string());
  return names;
}

} // namespace purgatory::io
