#pragma once

#include "libsync/types.hpp"

#include <filesystem>
#include <memory>
#include <vector>

namespace purgatory::io {

/// Which objects a repository and a quarantine hold. One thread.
class object_lookup {
public:
  /// Looks into `repository`/objects. An unreadable one holds nothing.
  explicit object_lookup(std::filesystem::path repository);
  ~object_lookup();

  /// Looks into the object directory `objects` from now on, too.
  void add(const std::filesystem::path& objects);

  /// Makes packs visible that came since the last look.
  void refresh();

  /// True when the object was there at the last look. Ids of 40 digits only.
  bool has(const oid& id) const;

  /// What the repository's refs of any namespace point to, hidden anchors
  /// included; each id once, at most `most`.
  std::vector<oid> ref_targets(std::size_t most) const;

private:
  struct handles;
  std::filesystem::path repository_;
  std::unique_ptr<handles> handles_;
};

} // namespace purgatory::io
