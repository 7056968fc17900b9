#include "app/io/relay/released_file.hpp"
#include "tests/support/temp_dir.hpp"

#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>

#define CAF_SUITE released_file
#include <caf/test/dsl.hpp>

using namespace purgatory;
using io::released_file;

namespace {

struct fixture {
  test::temp_dir dir;
  std::filesystem::path path = dir / "released.jsonl";

  std::string text() const {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

  void write(const std::string& text) const {
    std::ofstream{path, std::ios::binary} << text;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(released_file_tests, fixture)

CAF_TEST(events are appended as lines and echoed) {
  std::ostringstream echo;
  released_file file{path, &echo};
  CAF_CHECK(!file.contains(event_id{"a"}));
  file.append(event_id{"a"}, R"({"id":"a"})");
  file.append(event_id{"b"}, R"({"id":"b"})");
  CAF_CHECK(file.contains(event_id{"a"}));
  CAF_CHECK_EQUAL(text(), "{\"id\":\"a\"}\n{\"id\":\"b\"}\n");
  CAF_CHECK_EQUAL(echo.str(), text());
}

CAF_TEST(ids are known again after a restart) {
  released_file{path}.append(event_id{"a"}, R"({"kind":1,"id":"a"})");
  released_file file{path};
  CAF_CHECK(file.contains(event_id{"a"}));
  CAF_CHECK(!file.contains(event_id{"b"}));
}

CAF_TEST(a torn last line is cut and its event is not known) {
  const std::string whole = "{\"id\":\"a\"}\n";
  const std::string last = R"({"id":"b","content":"x"})";
  for (std::size_t length = 0; length <= last.size(); ++length) {
    write(whole + last.substr(0, length));
    released_file file{path};
    CAF_CHECK(file.contains(event_id{"a"}));
    CAF_CHECK(!file.contains(event_id{"b"}));
    CAF_CHECK_EQUAL(text(), whole);
    file.append(event_id{"b"}, last);
    CAF_CHECK_EQUAL(text(), whole + last + "\n");
  }
}

CAF_TEST(a whole line that is no event is named) {
  for (const std::string bad : {"", "x", "{}", R"({"id":1})", R"({"id":"a")"}) {
    write("{\"id\":\"a\"}\n" + bad + "\n");
    try {
      const released_file file{path};
      CAF_ERROR("accepted: " << bad);
    } catch (const std::runtime_error& problem) {
      const std::string what = problem.what();
      CAF_CHECK(what.find("line 2 is no event") != std::string::npos);
    }
  }
}

CAF_TEST(a link in place of the file is refused) {
  std::filesystem::create_symlink(dir / "elsewhere", path);
  bool is_refused = false;
  try {
    const released_file file{path};
  } catch (const std::system_error&) {
    is_refused = true;
  }
  CAF_CHECK(is_refused);
}

CAF_TEST(a failed write leaves the log as before) {
  released_file file{path};
  file.append(event_id{"a"}, R"({"id":"a"})");
  const auto before = text();
  rlimit old{};
  CAF_REQUIRE(::getrlimit(RLIMIT_FSIZE, &old) == 0);
  auto tight = old;
  tight.rlim_cur = before.size() + 5;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  CAF_REQUIRE(::setrlimit(RLIMIT_FSIZE, &tight) == 0);
  bool has_failed = false;
  try {
    file.append(event_id{"b"}, R"({"id":"b"})");
  } catch (const std::system_error&) {
    has_failed = true;
  }
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  CAF_CHECK(has_failed);
  CAF_CHECK_EQUAL(text(), before);
  CAF_CHECK(!file.contains(event_id{"b"}));
  file.append(event_id{"b"}, R"({"id":"b"})");
  CAF_CHECK_EQUAL(text(), before + "{\"id\":\"b\"}\n");
}

CAF_TEST_FIXTURE_SCOPE_END()
