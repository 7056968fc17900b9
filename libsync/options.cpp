#include "libsync/options.hpp"

#include "libsync/option_values.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace purgatory {

namespace {

/// What fits into sockaddr_un (unix(7)), less the final NUL.
constexpr std::size_t max_socket_path = 107;

constexpr std::string_view data_dir_mark = "<data_dir>";

std::string named(const given_value& value) {
  return "--" + value.flag + " (" + value.place + ")";
}

/// Takes one value over; what is wrong goes to `found`.
void take(config& target, const given_value& value, problems& found) {
  const auto* row = find_option(value.flag);
  if (row == nullptr) {
    found.push_back(named(value) + ": there is no such option");
    return;
  }
  if (const auto wrong = row->set(target, value.text))
    found.push_back(named(value) + ": " + *wrong);
}

void report_repeats(const std::vector<given_value>& values, problems& found) {
  std::set<std::pair<option_source, std::string>> seen;
  for (const auto& value : values)
    if (!seen.emplace(value.source, value.flag).second)
      found.push_back(named(value) + ": is given more than once");
}

std::string below_data_dir(const std::string& path, const config& settings) {
  if (path.rfind(data_dir_mark, 0) != 0)
    return path;
  return settings.data_dir + path.substr(data_dir_mark.size());
}

/// What follows from several options together.
void complete(config& settings, problems& found) {
  settings.git_root = below_data_dir(settings.git_root, settings);
  settings.socket = below_data_dir(settings.socket, settings);
  // There is nothing that an announcement could list.
  if (settings.own_origins.empty())
    settings.require_listing = listing::none;
  if (settings.socket.size() > max_socket_path)
    found.push_back("--socket: " + settings.socket + " is longer than "
                    + std::to_string(max_socket_path) + " bytes");
  if (settings.backoff_cap < settings.backoff_base)
    found.push_back("--backoff-cap: " + to_text(settings.backoff_cap)
                    + " is shorter than --backoff-base, "
                    + to_text(settings.backoff_base));
}

} // namespace

const option* find_option(std::string_view flag) {
  const auto& table = option_table();
  const auto row
    = std::find_if(table.begin(), table.end(),
                   [flag](const option& each) { return each.flag == flag; });
  return row == table.end() ? nullptr : &*row;
}

std::variant<config, problems> read_config(std::vector<given_value> values) {
  problems found;
  config settings;
  for (const auto& row : option_table())
    row.set(settings, row.default_text);
  std::stable_sort(values.begin(), values.end(),
                   [](const given_value& left, const given_value& right) {
                     return left.source < right.source;
                   });
  report_repeats(values, found);
  for (const auto& value : values)
    take(settings, value, found);
  complete(settings, found);
  if (!found.empty())
    return found;
  return settings;
}

std::string describe_options() {
  std::string text;
  for (const auto& row : option_table()) {
    text += "  --" + row.flag + " <" + to_string(row.kind) + ">\n      "
            + row.help + "\n      " + row.environment + ", default "
            + (row.default_text.empty() ? "empty" : row.default_text) + "\n";
  }
  return text;
}

const char* to_string(option_kind kind) {
  static constexpr std::array<const char*, 8> names
    = {"number",     "duration", "size", "fraction",
       "true|false", "word",     "text", "list"};
  return names.at(static_cast<std::size_t>(kind));
}

} // namespace purgatory
