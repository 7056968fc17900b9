#pragma once

#include "libsync/options.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

/// The command line, the environment and the file as Boost.Program_options
/// reads them; what the texts mean is in libsync/options.hpp.
namespace purgatory {

struct parsed_options {
  config settings;
  bool help = false;              ///< `--help`: print help_text() and stop.
  bool version = false;           ///< `--version`: print the version and stop.
  std::vector<std::string> files; ///< What stands without a flag, in order.
};

/// Whether a command takes arguments that are no flags.
enum class arguments : std::uint8_t { none, files };

/// Reads everything there is: flags of `argv` (after the program's name, or a
/// subcommand in its place), variables of `envp`, and the file of `--config`.
/// All problems at once; none is looked for when help or the version is asked.
std::variant<parsed_options, problems>
parse_options(int argc, const char* const* argv, const char* const* envp,
              arguments allowed = arguments::none);

/// What `--help` prints below the usage line.
std::string help_text();

/// All problems as the one message that goes with exit code 2.
std::string to_message(const problems& found);

} // namespace purgatory
