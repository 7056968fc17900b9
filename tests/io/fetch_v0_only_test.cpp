#include "tests/io/fetch_fixture.hpp"
#include "tests/support/git_server.hpp"

#define CAF_SUITE fetch_v0_only

#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::test;

namespace {

struct fixture : fetch_fixture {
  git_server server{{.strip_git_protocol = true}};
  git_repo remote = git_repo::with_commits(server.root() / "demo.git", 20);
  std::string url = server.url("demo.git");

  fixture() { allow_port(server.port()); }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(fetch_v0_only_tests, fixture)

CAF_TEST(a reachable commit comes although version 2 is not spoken) {
  const auto old = remote.id("main~7");
  const auto result = fetch(url, {old});
  CAF_CHECK_EQUAL(describe(result), "ok (HTTP 200)");
  CAF_CHECK_EQUAL(texts(result.got), std::vector{old});
  CAF_CHECK_EQUAL(result.wire_requests, 3u);
}

CAF_TEST(the host is remembered and not asked in version 2 again) {
  fetch(url, {remote.id("main~7")});
  const auto result = fetch(url, {remote.id("main~6")});
  CAF_CHECK_EQUAL(describe(result), "ok (HTTP 200)");
  CAF_CHECK_EQUAL(result.wire_requests, 2u);
}

CAF_TEST(the memory ends) {
  settings.v0_only_memory = duration::zero();
  fetch(url, {remote.id("main~7")});
  const auto result = fetch(url, {remote.id("main~6")});
  CAF_CHECK_EQUAL(describe(result), "ok (HTTP 200)");
  CAF_CHECK_EQUAL(result.wire_requests, 3u);
}

CAF_TEST(an unreachable commit is not here in version 0) {
  const auto lost = remote.commit("a", "lost");
  const auto old = remote.id("main~7");
  const auto result = fetch(url, {lost, old});
  CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"ok"});
  CAF_CHECK_EQUAL(texts(result.got), std::vector{old});
  CAF_CHECK_EQUAL(texts(result.missing), std::vector{lost});
}

CAF_TEST_FIXTURE_SCOPE_END()
