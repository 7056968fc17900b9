#include "app/io/intake/line_buffer.hpp"
#include "tests/support/seed.hpp"

#include <iostream>
#include <random>
#include <string>
#include <vector>

#define CAF_SUITE line_buffer
#include <caf/test/dsl.hpp>

using namespace purgatory;

namespace {

std::vector<std::string> drain(io::line_buffer& buffer) {
  std::vector<std::string> result;
  while (auto line = buffer.next())
    result.push_back(line->text + (line->is_cut ? "~" : ""));
  return result;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string result;
  for (const auto& line : lines)
    result += line + "|";
  return result;
}

} // namespace

CAF_TEST(lines come without their ends) {
  io::line_buffer buffer{10};
  buffer.append("a\n\nbc");
  CAF_CHECK_EQUAL(joined(drain(buffer)), "a||");
  buffer.append("d\ne");
  CAF_CHECK_EQUAL(joined(drain(buffer)), "bcd|");
  const auto rest = buffer.rest();
  CAF_REQUIRE(rest.has_value());
  CAF_CHECK_EQUAL(rest->text, "e");
  CAF_CHECK(!buffer.rest().has_value());
}

CAF_TEST(a long line is given once and cut) {
  io::line_buffer buffer{3};
  buffer.append("abc\nabcd");
  CAF_CHECK_EQUAL(joined(drain(buffer)), "abc|abc~|");
  buffer.append("efgh");
  CAF_CHECK_EQUAL(joined(drain(buffer)), "");
  CAF_CHECK(!buffer.rest().has_value());
  buffer.append("i\nx\nlong enough\ny\n");
  CAF_CHECK_EQUAL(joined(drain(buffer)), "x|lon~|y|");
}

CAF_TEST(however the bytes are cut the lines are the same) {
  const auto seed = test::first_seed();
  std::mt19937_64 random{seed};
  for (int round = 0; round < 300; ++round) {
    std::string text;
    std::string expected;
    for (int i = 0; i < 20; ++i) {
      const std::string line(random() % 12, static_cast<char>('a' + i));
      text += line + '\n';
      expected += line.size() > 8 ? line.substr(0, 8) + "~|" : line + "|";
    }
    io::line_buffer buffer{8};
    std::string got;
    for (std::size_t at = 0; at < text.size();) {
      const auto length = 1 + random() % 9;
      buffer.append(std::string_view{text}.substr(at, length));
      at += length;
      got += joined(drain(buffer));
    }
    if (got != expected)
      std::cerr << "seed " << seed << " round " << round << '\n';
    CAF_REQUIRE_EQUAL(got, expected);
  }
}
