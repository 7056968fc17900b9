#include "app/io/relay/released_file.hpp"

#include "libsync/nostr/json_members.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace purgatory::io {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* what) {
  throw std::system_error(errno, std::generic_category(),
                          path.string() + ": " + what);
}

/// A new file survives a crash only when its directory is on disk too.
void sync_directory_of(const std::filesystem::path& path) {
  const auto parent = path.has_parent_path() ? path.parent_path() : ".";
  const unique_fd fd{
    ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!fd || ::fsync(fd.get()) != 0)
    fail(path, "can not sync its directory");
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR)
      return false;
    if (written > 0)
      bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::optional<event_id> id_of(std::string_view line) {
  std::optional<std::string> id;
  const bool is_whole = nostr::visit_members(
    line, [&id](const std::string& key, std::string_view value) {
      if (key == "id")
        id = nostr::parse_json_string(value);
      return true;
    });
  if (!is_whole || !id)
    return std::nullopt;
  return event_id{std::move(*id)};
}

} // namespace

released_file::released_file(std::filesystem::path path, std::ostream* echo)
  : path_(std::move(path)), echo_(echo),
    fd_(::open(path_.c_str(),
               O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644)) {
  if (!fd_)
    fail(path_, "can not open");
  sync_directory_of(path_);
  scan();
}

void released_file::scan() {
  std::ifstream file{path_, std::ios::binary};
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (file.eof())
      break;
    auto id = id_of(line);
    if (!id)
      throw std::runtime_error(path_.string() + ": line "
                               + std::to_string(number) + " is no event");
    ids_.insert(std::move(*id));
    size_ += static_cast<std::int64_t>(line.size()) + 1;
  }
  if (::ftruncate(fd_.get(), size_) != 0)
    fail(path_, "can not cut the torn last line");
}

bool released_file::contains(const event_id& id) const {
  return ids_.count(id) > 0;
}

void released_file::append(const event_id& id, const std::string& json) {
  if (is_torn_ && ::ftruncate(fd_.get(), size_) != 0)
    fail(path_, "can not cut a torn line");
  is_torn_ = false;
  const auto line = json + '\n';
  if (!write_all(fd_.get(), line) || ::fdatasync(fd_.get()) != 0) {
    const std::error_code problem{errno, std::generic_category()};
    // Half a line would spoil the next one.
    is_torn_ = ::ftruncate(fd_.get(), size_) != 0;
    throw std::system_error(problem, path_.string() + ": can not write");
  }
  size_ += static_cast<std::int64_t>(line.size());
  ids_.insert(id);
  if (echo_ != nullptr)
    *echo_ << line << std::flush;
}

} // namespace purgatory::io
