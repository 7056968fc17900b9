#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iosfwd>

namespace purgatory::io {

/// How a submission ended: the process's exit code.
enum class submit_result : int {
  kept = 0,        ///< Every event is held or accepted.
  rejected = 1,    ///< At least one was not.
  unreachable = 3, ///< No daemon, or it went away before the last answer.
};

struct submit_options {
  std::filesystem::path socket; ///< The daemon's.
  std::size_t max_event_bytes = 256 * 1024;
  std::chrono::seconds patience{60}; ///< For the next answer.
};

/// Offers events to the daemon as an import: `in` has one event as JSON per
/// line; empty lines are skipped. Prints a line per event, in order:
/// `<id> hold|accept|reject <message>`, `-` for an id that can not be read.
/// What goes wrong is told on `errors`.
submit_result run_submit(const submit_options& options, std::istream& in,
                         std::ostream& out, std::ostream& errors);

} // namespace purgatory::io
