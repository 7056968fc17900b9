#define CAF_SUITE simulate

#include "app/simulate.hpp"
#include "tests/support/scratch_folder.hpp"

#include <caf/test/dsl.hpp>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace purgatory;

namespace {

struct outcome {
  int code = 0;
  std::string out;
  std::string err;
};

outcome simulate(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "simulate");
  std::vector<const char*> argv;
  for (const auto& each : arguments)
    argv.push_back(each.c_str());
  std::ostringstream out;
  std::ostringstream err;
  const auto code
    = run_simulate(static_cast<int>(argv.size()), argv.data(), out, err);
  return {code, out.str(), err.str()};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

CAF_TEST(the example world runs without violation) {
  const auto found = simulate({PURGATORY_EXAMPLE_WORLD});
  CAF_CHECK_EQUAL(found.code, 0);
  CAF_CHECK(has(found.out, "violations    0"));
  CAF_CHECK(has(found.out, "of 4 states and pull requests"));
}

CAF_TEST(the summary comes as JSON) {
  const auto found = simulate(
    {"--json", "--generate", "random", "--units", "3", "--days", "1"});
  CAF_CHECK_EQUAL(found.code, 0);
  CAF_CHECK_EQUAL(found.out.front(), '{');
  CAF_CHECK(has(found.out, "\"violation_count\": 0"));
}

CAF_TEST(a written world runs like the generated one) {
  const std::vector<std::string> made
    = {"--generate", "random", "--seed", "5", "--units", "4", "--days", "1"};
  auto writing = made;
  writing.emplace_back("--write");
  const test::scratch_folder folder;
  const auto path = folder.path() / "world.json";
  std::ofstream{path} << simulate(writing).out;
  CAF_CHECK_EQUAL(simulate({path.string()}).out, simulate(made).out);
}

CAF_TEST(the plain model runs beside ours) {
  const auto found = simulate({"--compare", "--generate", "migration",
                               "--repositories", "30", "--days", "1"});
  CAF_CHECK_EQUAL(found.code, 0);
  CAF_CHECK(has(found.out, "plain"));
  CAF_CHECK(has(found.out, "lost          0"));
}

CAF_TEST(a light run counts its starts) {
  const auto found = simulate({"--light", "--starts", "1000"});
  CAF_CHECK_EQUAL(found.code, 0);
  CAF_CHECK(has(found.out, "1000 starts, 0 violations"));
}

CAF_TEST(wrong usage is named) {
  CAF_CHECK_EQUAL(simulate({}).code, 2);
  CAF_CHECK_EQUAL(simulate({"a", "b"}).code, 2);
  CAF_CHECK_EQUAL(simulate({"--generate", "chaos"}).code, 2);
  CAF_CHECK_EQUAL(simulate({"--generate", "random", "--days", "0"}).code, 2);
  CAF_CHECK_EQUAL(simulate({"--colour"}).code, 2);
  CAF_CHECK(has(simulate({"--colour"}).err, "Usage"));
  CAF_CHECK_EQUAL(simulate({"--help"}).code, 0);
}

CAF_TEST(a world that can not be read is told with its problems) {
  CAF_CHECK_EQUAL(simulate({"/no/such/file"}).code, 1);
  const test::scratch_folder folder;
  const auto path = folder.path() / "world.json";
  std::ofstream{path} << R"({"length": "1d", "colour": 1, "seed": "x"})";
  const auto found = simulate({path.string()});
  CAF_CHECK_EQUAL(found.code, 1);
  CAF_CHECK(has(found.err, "colour: unknown"));
  CAF_CHECK(has(found.err, "seed: no whole number"));
}
