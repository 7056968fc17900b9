#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>

namespace purgatory::io {

struct shim_options {
  std::filesystem::path socket; ///< The daemon's.
  /// For the daemon's decision, from reading the line.
  std::chrono::milliseconds deadline{250};
  /// What becomes of held kinds while the daemon is down: false, they are
  /// refused; true, the relay takes them as if there were no purgatory.
  bool fail_open = false;
  std::size_t max_event_bytes = 256 * 1024;
  /// For kinds that are not ours the relay's own limit counts, so this one is
  /// wide.
  std::size_t max_line_bytes = 4 * 1024 * 1024;
};

/// strfry's write-policy plugin: reads requests from `in` and answers each
/// line on `out`, in order, ids as they were sent, until `in` ends. Announce-
/// ments, states, pull requests and their updates are decided by the daemon;
/// deletions and requests to vanish are accepted and the daemon gets a copy;
/// every other kind is accepted here.
/// Returns 0, or 1 when `in` or `out` fails.
int run_strfry_shim(const shim_options& options, int in, int out);

} // namespace purgatory::io
