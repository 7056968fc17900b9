#define CAF_SUITE config_file

#include "app/options.hpp"
#include "tests/support/scratch_folder.hpp"

#include <caf/test/dsl.hpp>

#include <cctype>
#include <fstream>
#include <string>
#include <vector>

using namespace purgatory;
using namespace purgatory::test;

namespace {

std::vector<std::string> lines_of_file() {
  std::ifstream file{PURGATORY_CONFIG_FILE};
  if (!file)
    CAF_FAIL("can not read " PURGATORY_CONFIG_FILE);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  return lines;
}

/// `#key = value`; an explanation has a blank after the `#`.
bool is_option(const std::string& line) {
  return line.size() > 1 && line[0] == '#'
         && std::isalpha(static_cast<unsigned char>(line[1])) != 0;
}

/// An option of the file with the comment above it, joined by blanks.
struct entry {
  std::string comment;
  std::string flag;
  std::string text;
};

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos)
    return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<entry> entries_of_file() {
  std::vector<entry> entries;
  std::string comment;
  for (const auto& line : lines_of_file()) {
    if (is_option(line)) {
      const auto equals = line.find('=');
      entries.push_back({comment, trimmed(line.substr(1, equals - 1)),
                         trimmed(line.substr(equals + 1))});
      comment.clear();
    } else if (line.empty()) {
      comment.clear();
    } else {
      comment += (comment.empty() ? "" : " ") + trimmed(line.substr(1));
    }
  }
  return entries;
}

} // namespace

CAF_TEST(the file lists every option with its default and nothing else) {
  const auto entries = entries_of_file();
  const auto& table = option_table();
  CAF_REQUIRE_EQUAL(entries.size(), table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    CAF_CHECK_EQUAL(entries[i].flag, table[i].flag);
    CAF_CHECK_EQUAL(entries[i].text, table[i].default_text);
  }
}

CAF_TEST(the file explains every option in the words of the help) {
  const auto entries = entries_of_file();
  const auto& table = option_table();
  CAF_REQUIRE_EQUAL(entries.size(), table.size());
  for (std::size_t i = 0; i < table.size(); ++i)
    CAF_CHECK_EQUAL(entries[i].comment,
                    table[i].help + " (" + table[i].environment + ")");
}

CAF_TEST(the file as it is and with every line put to work gives the defaults) {
  const scratch_folder folder;
  const auto copy = folder / "all.conf";
  {
    std::ofstream file{copy};
    for (const auto& line : lines_of_file())
      file << (is_option(line) ? line.substr(1) : line) << "\n";
  }
  for (const std::string& path : {std::string{PURGATORY_CONFIG_FILE}, copy}) {
    const std::vector<const char*> line = {"p", "--config", path.c_str()};
    const auto result = parse_options(3, line.data(), nullptr);
    if (const auto* wrong = std::get_if<problems>(&result))
      CAF_FAIL(to_message(*wrong));
    CAF_CHECK(std::get<parsed_options>(result).settings == config{});
  }
}
