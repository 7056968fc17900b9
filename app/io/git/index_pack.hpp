#pragma once

#include "app/io/git/fetch_settings.hpp"
#include "app/io/git/git_child.hpp"
#include "app/io/git/job_guard.hpp"
#include "app/io/git/quarantine.hpp"
#include "libsync/types.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace purgatory::io {

/// Proves one pack while it streams: `git index-pack --strict` in a child with
/// limits, writing into a quarantine and completing from the repository
/// (libgit2.md §3.1). Success means: valid, every link ends in the pack, the
/// quarantine or the repository.
///
/// The child starts late: when 1 MiB has come or the pack is at its end, so
/// that slow servers hold none. No more children than cores run at once.
class index_pack {
public:
  /// `repository` is the bare repository whose objects complete the pack.
  index_pack(const fetch_settings& settings, std::filesystem::path repository,
             std::shared_ptr<fetch_quarantine> into, const job_guard& guard);
  /// Unless the verdict was ok, the quarantine is left as it was before.
  ~index_pack();

  /// The next bytes of the pack. False: no more are wanted, ask `finish`.
  bool write(std::string_view bytes);

  /// The pack is at its end; waits for the verdict. ok, corrupt, oversize, or
  /// internal or timeout when the guard broke or we failed.
  fetch_class finish();

  /// What the child said, for people.
  const std::string& detail() const { return detail_; }

private:
  class slot; ///< A place among the running children.

  bool admit(std::string_view bytes);
  bool start_child();
  bool write_to_child(std::string_view bytes);
  fetch_class judge(int status);
  std::uint64_t cpu_allowance() const;

  const fetch_settings& settings_;
  std::filesystem::path repository_;
  std::shared_ptr<fetch_quarantine> into_;
  const job_guard& guard_;
  std::string buffer_;
  std::uint64_t bytes_ = 0;
  std::unique_ptr<slot> slot_;
  std::unique_ptr<git_child> child_;
  std::uint64_t next_allowance_ = 0;
  std::optional<fetch_class> verdict_;
  std::string detail_;
};

} // namespace purgatory::io
