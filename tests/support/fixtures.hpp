#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace purgatory::test {

/// The lines of a file below tests/fixtures, without line ends. Throws
/// std::runtime_error when the file cannot be read or is empty.
std::vector<std::string> fixture_lines(std::string_view name);

} // namespace purgatory::test
