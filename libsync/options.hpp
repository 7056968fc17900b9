#pragma once

#include "libsync/config.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// The options of the daemon as a table, and their texts into a `config`.
/// Where the texts come from is not known here (app/options.hpp does that).
namespace purgatory {

enum class option_kind : std::uint8_t {
  number,
  time_span, ///< `500ms`, `20s`, `30min`, `4h`, `7d`
  size,      ///< `1024`, `256KiB`, `512MiB`, `1GiB`
  fraction,
  toggle, ///< `true` or `false`; as a bare flag: true.
  choice,
  text,
  list, ///< Parts between commas.
};

/// Puts a text into the config. The answer is what is wrong with the text, as
/// `needs …`, or nothing.
using option_setter = std::function<std::optional<std::string>(
  config& target, std::string_view text)>;

/// One option. A test holds config/purgatoryd.conf against this table.
struct option {
  std::string flag;         ///< Without dashes; also the key in a file.
  std::string environment;  ///< Name of its variable.
  std::string default_text; ///< Setting it changes nothing.
  std::string help;         ///< One sentence.
  option_kind kind = option_kind::text;
  option_setter set;
};

/// All options, in the order of the file and the help.
const std::vector<option>& option_table();

/// The row of `flag`, or null.
const option* find_option(std::string_view flag);

/// Who gave a value, weakest first.
enum class option_source : std::uint8_t { file, environment, flag };

/// A value as somebody wrote it.
struct given_value {
  std::string flag; ///< May be unknown: that is a problem, not a mistake.
  std::string text;
  option_source source = option_source::flag;
  std::string place; ///< For people: `file /etc/p.conf`, `command line`.
};

/// Everything that is wrong, one line each, naming flag and place.
using problems = std::vector<std::string>;

/// The configuration that `values` make: flag beats environment beats file
/// beats default. Values that are overridden must be valid too.
std::variant<config, problems> read_config(std::vector<given_value> values);

/// One entry per option: flag, kind, environment name, default and sentence.
std::string describe_options();

/// `number`, `duration`, … as shown in the help.
const char* to_string(option_kind kind);

} // namespace purgatory
