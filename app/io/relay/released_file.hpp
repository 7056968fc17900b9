#pragma once

#include "app/io/git/unique_fd.hpp"
#include "libsync/ports.hpp"
#include "libsync/types.hpp"

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <unordered_set>

namespace purgatory::io {

/// Released events as lines of JSON in one file, each on disk (fsync) before
/// `append` returns. A last line without end is what a crash left of a write
/// nobody was told about: it is cut when the file is opened.
class released_file final : public release_log {
public:
  /// Opens or creates `path` and reads the ids in it. Each line is also
  /// written to `echo`, if given, which must outlive this. Throws
  /// std::system_error when the file can not be used, std::runtime_error
  /// naming the line when one is no event.
  explicit released_file(std::filesystem::path path,
                         std::ostream* echo = nullptr);

  bool contains(const event_id& id) const override;
  void append(const event_id& id, const std::string& json) override;

private:
  void scan();

  std::filesystem::path path_;
  std::ostream* echo_;
  unique_fd fd_;
  std::int64_t size_ = 0; ///< Up to the last whole line.
  bool is_torn_ = false;  ///< There is something behind it.
  std::unordered_set<event_id> ids_;
};

} // namespace purgatory::io
