#pragma once

#include <chrono>
#include <filesystem>
#include <iosfwd>

namespace purgatory::io {

/// How a submission ended: the process's exit code.
enum class submit_result : int {
  kept = 0,        ///< Every event is held or accepted.
  rejected = 1,    ///< At least one was not.
  unreachable = 3, ///< No daemon, or it went away before the last answer.
};

/// Offers events to the daemon as an import: `in` has one event as JSON per
/// line; empty lines are skipped. Prints a line per event, in order:
/// `<id> hold|accept|reject <message>`, `-` for an id that can not be read.
/// What goes wrong is told on `errors`. Waits up to `patience` for an answer.
submit_result run_submit(const std::filesystem::path& socket, std::istream& in,
                         std::ostream& out, std::ostream& errors,
                         std::chrono::seconds patience
                         = std::chrono::seconds{60});

} // namespace purgatory::io
