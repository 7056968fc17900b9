#pragma once

#include "app/io/git/job_guard.hpp"
#include "app/io/git/unique_fd.hpp"

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace purgatory::io {

/// Ceilings of a child, in force before it gets its first byte.
struct child_limits {
  std::uint64_t memory_bytes = 0;    ///< Address space.
  std::uint64_t file_bytes = 0;      ///< Of any file it writes.
  std::uint64_t max_cpu_seconds = 0; ///< Nothing lifts it over this.
};

/// A `git` process with a fixed environment, resource limits and a pipe to its
/// stdin. It inherits no descriptor of ours. Never left behind: the destructor
/// kills and reaps it.
class git_child {
public:
  /// Starts `git <arguments>` with exactly `environment`. Null when it can't
  /// be started.
  static std::unique_ptr<git_child>
  start(const std::vector<std::string>& arguments,
        const std::vector<std::string>& environment,
        const child_limits& limits);

  git_child(const git_child&) = delete;
  git_child& operator=(const git_child&) = delete;
  ~git_child();

  /// Allows this much CPU time in all.
  void allow_cpu(std::uint64_t seconds) const;

  /// Writes everything to its stdin. False when the child no longer reads or
  /// the guard broke.
  bool write(std::string_view bytes, const job_guard& guard);

  /// Closes its stdin and waits for its end; kills it when the guard breaks.
  /// Returns the status as of waitpid.
  int finish(const job_guard& guard);

  /// The first 4 KiB of its stderr.
  const std::string& errors() const { return errors_; }

private:
  git_child(pid_t pid, unique_fd exited, unique_fd in, unique_fd err);

  void read_errors();
  void kill();
  int reap();

  pid_t pid_;
  unique_fd exited_; ///< pidfd: readable once the child has ended.
  unique_fd in_;
  unique_fd err_;
  std::uint64_t max_cpu_seconds_ = 0;
  std::string errors_;
};

} // namespace purgatory::io
