#define CAF_SUITE options_front

#include "app/options.hpp"
#include "tests/support/scratch_folder.hpp"

#include <caf/test/dsl.hpp>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

using namespace purgatory;
using namespace purgatory::test;
using namespace std::chrono_literals;

namespace {

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> all;
  for (const auto& text : texts)
    all.push_back(text.c_str());
  all.push_back(nullptr);
  return all;
}

struct fixture {
  scratch_folder folder;
  std::vector<std::string> line = {"purgatoryd"};
  std::vector<std::string> environment = {"HOME=/nowhere", "NGIT_OTHER=1"};

  auto parse() {
    const auto argv = pointers(line);
    const auto envp = pointers(environment);
    return parse_options(static_cast<int>(line.size()), argv.data(),
                         envp.data());
  }

  config settings() {
    const auto result = parse();
    if (const auto* wrong = std::get_if<problems>(&result))
      CAF_FAIL(to_message(*wrong));
    return std::get<parsed_options>(result).settings;
  }

  problems refused() {
    const auto result = parse();
    const auto* wrong = std::get_if<problems>(&result);
    for (const auto& each : wrong != nullptr ? *wrong : problems{})
      CAF_MESSAGE(each);
    return wrong != nullptr ? *wrong : problems{};
  }

  /// Writes a file and names it on the command line.
  void with_file(const std::string& text) {
    std::ofstream{folder / "p.conf"} << text;
    line.insert(line.end(), {"--config", folder / "p.conf"});
  }
};

bool any_contains(const problems& found, const std::string& part) {
  return std::any_of(found.begin(), found.end(), [&](const auto& each) {
    return each.find(part) != std::string::npos;
  });
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(options_front_tests, fixture)

CAF_TEST(an empty command line gives the defaults) {
  CAF_CHECK(settings() == config{});
}

CAF_TEST(flags are taken with a blank or an equals sign) {
  line.insert(line.end(), {"--sync-domain-concurrent", "9",
                           "--sync-immediate-delay-ms=50", "--relay-url", ""});
  CAF_CHECK_EQUAL(settings().domain_concurrent, 9u);
  CAF_CHECK(settings().immediate_delay == 50ms);
}

CAF_TEST(a bare switch is true) {
  line.emplace_back("--allow-private");
  CAF_CHECK(settings().allow_private);
  line.back() = "--allow-private=false";
  CAF_CHECK(!settings().allow_private);
}

CAF_TEST(the five variables of the notes and ours are read) {
  environment.insert(
    environment.end(),
    {"NGIT_SYNC_LOOP_INTERVAL_MS=2000", "NGIT_SYNC_DOMAIN_CONCURRENT=6",
     "NGIT_SYNC_DOMAIN_RATE_LIMIT=60", "NGIT_SYNC_DEFAULT_DELAY_SECS=10",
     "NGIT_SYNC_IMMEDIATE_DELAY_MS=100", "PURGATORYD_OWN_ORIGINS=x.org"});
  const auto read = settings();
  CAF_CHECK(read.sync_loop_interval == 2s);
  CAF_CHECK_EQUAL(read.domain_concurrent, 6u);
  CAF_CHECK_EQUAL(read.domain_rate_limit, 60u);
  CAF_CHECK(read.default_delay == 10s);
  CAF_CHECK(read.immediate_delay == 100ms);
  CAF_CHECK((read.own_origins == std::vector<std::string>{"x.org"}));
}

CAF_TEST(a flag beats the environment and that beats the file) {
  with_file(
    "# ours\nfetch-workers = 10\nunit-concurrent=11 # why\ngit-io=12\n");
  environment.insert(environment.end(),
                     {"PURGATORYD_UNIT_CONCURRENT=21", "PURGATORYD_GIT_IO=22"});
  line.insert(line.end(), {"--git-io", "32"});
  const auto read = settings();
  CAF_CHECK_EQUAL(read.fetch_workers, 10u);
  CAF_CHECK_EQUAL(read.unit_concurrent, 21u);
  CAF_CHECK_EQUAL(read.git_io, 32u);
}

CAF_TEST(problems of all sources come in one message) {
  with_file("fetch-workers = 0\nfetch-wrkers = 8\n");
  environment.insert(environment.end(),
                     {"PURGATORYD_GIT_IO=many", "PURGATORYD_GIT_OI=2"});
  line.insert(line.end(), {"--jitter=2", "--jiter=0.1", "serve"});
  const auto found = refused();
  CAF_CHECK_EQUAL(found.size(), 7u);
  for (const std::string part :
       {"--fetch-workers (file ", "--fetch-wrkers (file ",
        "--git-io (environment PURGATORYD_GIT_IO)",
        "environment PURGATORYD_GIT_OI", "--jitter (command line)",
        "--jiter (command line)", "unexpected argument \"serve\""})
    CAF_CHECK(any_contains(found, part));
  const auto message = to_message(found);
  CAF_CHECK_EQUAL(std::count(message.begin(), message.end(), '\n'), 8);
}

CAF_TEST(a flag is never guessed from its beginning) {
  line.emplace_back("--sync-domain-conc=3");
  CAF_CHECK(any_contains(refused(), "--sync-domain-conc (command line)"));
}

CAF_TEST(a flag without its value is a problem) {
  line.emplace_back("--data-dir");
  CAF_CHECK(any_contains(refused(), "data-dir"));
}

CAF_TEST(a short flag that nobody knows is a problem) {
  line.emplace_back("-x");
  const auto found = refused();
  CAF_REQUIRE_EQUAL(found.size(), 1u);
  CAF_CHECK_EQUAL(found[0], "-x (command line): there is no such option");
}

CAF_TEST(a value given twice is a problem) {
  line.insert(line.end(), {"--git-io=1", "--git-io=2"});
  CAF_CHECK(any_contains(refused(), "more than once"));
}

CAF_TEST(a line twice in the file is a problem) {
  with_file("git-io = 1\ngit-io = 2\n");
  CAF_CHECK(any_contains(refused(), "more than once"));
}

CAF_TEST(a file that is not there is a problem) {
  line.insert(line.end(), {"--config", folder / "absent.conf"});
  CAF_CHECK(any_contains(refused(), "absent.conf"));
}

CAF_TEST(a folder in place of the file is a problem) {
  line.insert(line.end(), {"--config", folder.path().string()});
  CAF_CHECK_EQUAL(refused().size(), 1u);
}

CAF_TEST(a file that is no list of values is a problem) {
  with_file("what is this\n");
  CAF_CHECK(any_contains(refused(), "what is this"));
}

CAF_TEST(a section of a file is a problem) {
  with_file("[fetch]\ngit-io = 2\n");
  CAF_CHECK(any_contains(refused(), "fetch.git-io"));
}

CAF_TEST(empty values in a file are taken) {
  with_file("relay-url =\nproxy=\n");
  CAF_CHECK(settings() == config{});
}

CAF_TEST(help and version win over problems) {
  line.insert(line.end(), {"--help", "--jitter=9"});
  CAF_CHECK(std::get<parsed_options>(parse()).help);
  line[1] = "--version";
  CAF_CHECK(std::get<parsed_options>(parse()).version);
  line[1] = "-h";
  CAF_CHECK(std::get<parsed_options>(parse()).help);
  CAF_CHECK(help_text().find("--config <file>") != std::string::npos);
}

CAF_TEST_FIXTURE_SCOPE_END()
