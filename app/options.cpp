#include "app/options.hpp"

#include <boost/program_options.hpp>

#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

namespace purgatory {

namespace {

namespace po = boost::program_options;

constexpr std::string_view our_prefix = "PURGATORYD_";

/// Where read values and problems go.
struct reading {
  std::vector<given_value> values;
  problems found;
};

po::options_description known_options() {
  po::options_description all;
  for (const auto& row : option_table()) {
    auto* value = po::value<std::string>();
    if (row.kind == option_kind::toggle)
      value->implicit_value("true");
    all.add_options()(row.flag.c_str(), value);
  }
  return all;
}

po::options_description known_flags() {
  auto all = known_options();
  all.add_options()("config", po::value<std::string>())("help,h", "")("version",
                                                                      "");
  return all;
}

/// The flags as written; nothing when the line can't be taken apart at all.
std::optional<po::parsed_options>
split_command_line(int argc, const char* const* argv, problems& found) {
  const auto described = known_flags();
  // A flag is written out: a shortened one would change its meaning when the
  // next version brings a new option.
  const int style = po::command_line_style::default_style
                    & ~po::command_line_style::allow_guessing;
  try {
    return po::command_line_parser(argc, argv)
      .options(described)
      .style(style)
      .allow_unregistered()
      .run();
  } catch (const po::error& problem) {
    found.push_back(std::string{"command line: "} + problem.what());
    return std::nullopt;
  }
}

/// The text of one option as it was written.
std::string written(const po::option& item) {
  return item.original_tokens.empty() ? item.string_key
                                      : item.original_tokens.front();
}

/// The flag of an option as it was written, without its value.
std::string flag_of(const po::option& item) {
  const auto token = written(item);
  return token.substr(0, token.find('='));
}

struct command_line {
  bool help = false;
  bool version = false;
  std::vector<std::string> configs;
  std::vector<std::string> files;
};

command_line read_command_line(int argc, const char* const* argv,
                               arguments allowed, reading& into) {
  command_line line;
  const auto items = split_command_line(argc, argv, into.found);
  if (!items)
    return line;
  for (const auto& item : items->options) {
    // Only a switch can stand without a value.
    const auto text = item.value.empty() ? "true" : item.value.front();
    if (item.string_key == "help")
      line.help = true;
    else if (item.string_key == "version")
      line.version = true;
    else if (item.string_key == "config")
      line.configs.push_back(text);
    else if (item.position_key != -1 && allowed == arguments::files)
      line.files.push_back(written(item));
    else if (item.position_key != -1 || item.string_key.empty())
      into.found.push_back("command line: unexpected argument \""
                           + written(item) + "\"");
    else if (item.unregistered)
      into.found.push_back(flag_of(item)
                           + " (command line): there is no such option");
    else
      into.values.push_back(
        {item.string_key, text, option_source::flag, "command line"});
  }
  return line;
}

/// The option that a variable sets; null if none.
const option* option_of_variable(std::string_view name) {
  for (const auto& row : option_table())
    if (row.environment == name)
      return &row;
  return nullptr;
}

void read_environment(const char* const* envp, reading& into) {
  for (; envp != nullptr && *envp != nullptr; ++envp) {
    const std::string_view entry = *envp;
    const auto name = entry.substr(0, entry.find('='));
    if (name.size() == entry.size())
      continue;
    const auto place = "environment " + std::string{name};
    if (const auto* row = option_of_variable(name))
      into.values.push_back({row->flag,
                             std::string{entry.substr(name.size() + 1)},
                             option_source::environment, place});
    else if (name.substr(0, our_prefix.size()) == our_prefix)
      into.found.push_back(place + ": no option has such a variable");
  }
}

void read_file(const std::string& path, reading& into) {
  std::ifstream file{path};
  if (!file) {
    into.found.push_back("--config (command line): can not read " + path);
    return;
  }
  const auto place = "file " + path;
  try {
    const auto items = po::parse_config_file(file, known_options(), true);
    for (const auto& item : items.options)
      into.values.push_back({item.string_key,
                             item.value.empty() ? "" : item.value.front(),
                             option_source::file, place});
    // A folder opens like a file, but nothing can be read from it.
    if (file.bad())
      into.found.push_back(place + ": can not be read");
  } catch (const po::error& problem) {
    into.found.push_back(place + ": " + problem.what());
  }
}

void read_files(const std::vector<std::string>& files, reading& into) {
  if (files.size() > 1)
    into.found.emplace_back("--config (command line): is given more than once");
  else if (files.size() == 1)
    read_file(files.front(), into);
}

} // namespace

std::variant<parsed_options, problems> parse_options(int argc,
                                                     const char* const* argv,
                                                     const char* const* envp,
                                                     arguments allowed) {
  reading all;
  auto line = read_command_line(argc, argv, allowed, all);
  if (line.help || line.version)
    return parsed_options{{}, line.help, line.version, {}};
  read_environment(envp, all);
  read_files(line.configs, all);
  auto result = read_config(std::move(all.values));
  if (const auto* more = std::get_if<problems>(&result))
    all.found.insert(all.found.end(), more->begin(), more->end());
  if (!all.found.empty())
    return std::move(all.found);
  return parsed_options{std::get<config>(std::move(result)), false, false,
                        std::move(line.files)};
}

std::string help_text() {
  return "Options (a flag beats the environment, that beats the file):\n"
         "  --config <file>\n"
         "      File with lines of the form: option = value.\n"
         "  --help, --version\n"
         + describe_options();
}

std::string to_message(const problems& found) {
  std::string text = found.size() == 1
                       ? "purgatoryd can not start, 1 problem:\n"
                       : "purgatoryd can not start, "
                           + std::to_string(found.size()) + " problems:\n";
  for (const auto& each : found)
    text += "  " + each + "\n";
  return text;
}

} // namespace purgatory
