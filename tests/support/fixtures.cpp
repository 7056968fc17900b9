#include "tests/support/fixtures.hpp"

#include <fstream>
#include <stdexcept>

namespace purgatory::test {

std::vector<std::string> fixture_lines(std::string_view name) {
  const auto path = std::string{PURGATORY_FIXTURES} + '/' + std::string{name};
  std::ifstream file{path};
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  if (lines.empty())
    throw std::runtime_error("no fixture in " + path);
  return lines;
}

} // namespace purgatory::test
