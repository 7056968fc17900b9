#pragma once

#include "app/io/store/sqlite.hpp"

#include <functional>
#include <string>

/// From a path to a healthy database that only this process works on.
namespace purgatory {

/// Hears what an operator should know, as whole sentences.
using notice_sink = std::function<void(const std::string&)>;

/// Holds `path` for this process as long as it lives. Throws
/// std::runtime_error when another process holds it.
class file_lock {
public:
  explicit file_lock(const std::string& path);
  ~file_lock();
  file_lock(file_lock&& other) noexcept;
  file_lock& operator=(file_lock&&) = delete;

private:
  int descriptor_;
};

/// Opens the database at `path` in the newest schema, empty if there was none;
/// its folder is created. A damaged file is moved to `<path>.corrupt-<time>`
/// and what is readable in it is taken over; `notice` hears of it. Throws
/// std::runtime_error when the file is not ours to use.
sqlite::connection open_database(const std::string& path,
                                 const notice_sink& notice);

} // namespace purgatory
