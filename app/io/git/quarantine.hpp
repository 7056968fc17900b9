#pragma once

#include "libsync/ports.hpp"

#include <filesystem>
#include <memory>
#include <set>
#include <string>

namespace purgatory::io {

/// `objects/tmp_fetch-XXXXXX` of one repository: an object directory of its
/// own, where packs wait until they are proven (rules §6.1). The name is one
/// that `git prune` takes for a leftover, too.
class fetch_quarantine final : public quarantine {
public:
  /// Makes a new one below `objects`. Null when that is not possible.
  static std::shared_ptr<fetch_quarantine>
  create(const std::filesystem::path& objects);

  explicit fetch_quarantine(std::string directory)
    : directory_(std::move(directory)) {}
  fetch_quarantine(const fetch_quarantine&) = delete;
  fetch_quarantine& operator=(const fetch_quarantine&) = delete;
  /// Removes the directory and all that is left in it.
  ~fetch_quarantine() override;

  const std::string& directory() const override { return directory_; }

  /// What came since the last call stays.
  void keep();
  /// Removes what came since the last `keep`: the remains of a pack that was
  /// refused.
  void drop();

private:
  std::set<std::string> pack_files() const;

  std::string directory_;
  std::set<std::string> kept_;
};

} // namespace purgatory::io
