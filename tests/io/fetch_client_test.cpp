#include "tests/io/fetch_fixture.hpp"
#include "tests/support/git_server.hpp"

#define CAF_SUITE fetch_client

#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::test;

namespace {

struct fixture : fetch_fixture {
  git_server server;
  git_repo remote = git_repo::with_commits(server.root() / "demo.git", 20);
  std::string url = server.url("demo.git");

  fixture() { allow_port(server.port()); }

  /// Waits until the server has logged `count` requests.
  std::vector<logged_request> wait_for_log(std::size_t count) const {
    const auto end
      = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    auto seen = server.requests();
    while (seen.size() < count && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
      seen = server.requests();
    }
    return seen;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(fetch_client_tests, fixture)

CAF_TEST(two tips come in two requests and stay in quarantine) {
  const auto side = remote.commit("a", "side", {remote.id("main~3")});
  remote.set_ref("refs/heads/side", side);
  const auto main = remote.id("main");
  const auto before = repository.inventory();
  const auto result = fetch(url, {main, side});
  CAF_CHECK_EQUAL(describe(result), "ok (HTTP 200)");
  CAF_CHECK_EQUAL(texts(result.got), sorted({main, side}));
  CAF_CHECK(result.missing.empty());
  CAF_CHECK_EQUAL(result.wire_requests, 2u);
  CAF_CHECK_EQUAL(sends, 1);
  CAF_CHECK_EQUAL(moving, 1);
  CAF_CHECK(!result.peer.empty());
  CAF_CHECK(result.bytes > 1000);
  CAF_REQUIRE(result.pack != nullptr);
  CAF_CHECK(!repository.has(main));
  promote(result);
  CAF_CHECK(repository.has(main));
  CAF_CHECK(repository.has(side));
  CAF_CHECK(repository.is_sound());
  const auto log = wait_for_log(2);
  CAF_REQUIRE_EQUAL(log.size(), 2u);
  CAF_CHECK_EQUAL(log[0].target, "/demo.git/info/refs?service=git-upload-pack");
  CAF_CHECK_EQUAL(log[0].git_protocol, "-");
  CAF_CHECK_EQUAL(log[1].method, "POST");
}

CAF_TEST(a quarantine goes with its last owner) {
  const auto before = repository.inventory();
  {
    const auto result = fetch(url, {remote.id("main")});
    CAF_REQUIRE(result.pack != nullptr);
    CAF_CHECK_EQUAL(quarantines(), 1u);
  }
  CAF_CHECK_EQUAL(quarantines(), 0u);
  CAF_CHECK(repository.inventory() == before);
}

CAF_TEST(an old commit comes along with the tip) {
  const auto main = remote.id("main");
  const auto old = remote.id("main~7");
  const auto result = fetch(url, {main, old});
  CAF_CHECK_EQUAL(describe(result), "ok (HTTP 200)");
  CAF_CHECK_EQUAL(texts(result.got), sorted({main, old}));
  CAF_CHECK_EQUAL(result.wire_requests, 2u);
}

CAF_TEST(a commit on no branch is asked for by id in version 2) {
  const auto lost = remote.commit("a", "lost");
  const auto main = remote.id("main");
  const auto result = fetch(url, {main, lost});
  CAF_CHECK_EQUAL(describe(result), "ok (HTTP 200)");
  CAF_CHECK_EQUAL(texts(result.got), sorted({main, lost}));
  CAF_CHECK_EQUAL(result.wire_requests, 3u);
  CAF_CHECK_EQUAL(moving, 1); // Of two packs.
  const auto log = wait_for_log(3);
  CAF_REQUIRE_EQUAL(log.size(), 3u);
  CAF_CHECK_EQUAL(log[2].git_protocol, "version=2");
  promote(result);
  CAF_CHECK(repository.has(lost));
  CAF_CHECK(repository.is_sound());
}

CAF_TEST(an object that is nowhere is named and dropped) {
  const auto lost = remote.commit("a", "lost");
  const std::string nowhere(40, '1');
  const auto result = fetch(url, {nowhere, lost});
  CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"ok"});
  CAF_CHECK_EQUAL(texts(result.got), std::vector{lost});
  CAF_CHECK_EQUAL(texts(result.missing), std::vector{nowhere});
  CAF_CHECK_EQUAL(result.wire_requests, 3u);
}

CAF_TEST(a server that has none of them is not the place) {
  const std::vector<std::string> nowhere{
    std::string(40, '1'), std::string(40, '2'), std::string(40, '3')};
  const auto result = fetch(url, nowhere);
  CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"not_here"});
  CAF_CHECK_EQUAL(texts(result.missing), nowhere);
  CAF_CHECK(result.got.empty());
  CAF_CHECK(result.pack == nullptr);
  CAF_CHECK_EQUAL(moving, 0);
  CAF_CHECK_EQUAL(result.wire_requests, 4u);
  CAF_CHECK_EQUAL(quarantines(), 0u);
}

CAF_TEST(more exchanges than one job may make end it as partial) {
  std::vector<std::string> nowhere;
  for (char digit = '1'; digit <= '6'; ++digit)
    nowhere.emplace_back(40, digit);
  const auto result = fetch(url, nowhere);
  CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"partial"});
  CAF_CHECK_EQUAL(result.missing.size(), 4u);
  CAF_CHECK_EQUAL(result.wire_requests, 5u);
}

CAF_TEST(what is here already needs no request) {
  const auto main = remote.id("main");
  promote(fetch(url, {main}));
  const auto result = fetch(url, {main});
  CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"ok"});
  CAF_CHECK_EQUAL(texts(result.got), std::vector{main});
  CAF_CHECK(result.pack == nullptr);
  CAF_CHECK_EQUAL(result.wire_requests, 0u);
  CAF_CHECK_EQUAL(sends, 0);
}

CAF_TEST(only news travels when history is here) {
  const auto first = fetch(url, {remote.id("main")});
  promote(first);
  repository.set_ref("refs/purgatory/anchor", remote.id("main"));
  const auto next = remote.commit("b", "next", {remote.id("main")});
  remote.set_ref("refs/heads/main", next);
  const auto second = fetch(url, {next});
  CAF_CHECK_EQUAL(texts(second.got), std::vector{next});
  CAF_CHECK(second.bytes * 2 < first.bytes);
  promote(second);
  CAF_CHECK(repository.is_sound());
}

CAF_TEST(the object of an annotated tag comes with what it names) {
  const auto tag = remote.annotated_tag("v1", remote.id("main~2"));
  const auto result = fetch(url, {tag});
  CAF_CHECK_EQUAL(texts(result.got), std::vector{tag});
  promote(result);
  CAF_CHECK_EQUAL(repository.git({"cat-file", "-t", tag}), "tag");
  CAF_CHECK(repository.has(remote.id("main~2")));
  CAF_CHECK(!repository.has(remote.id("main")));
}

CAF_TEST(a name with colons and quotes is one directory like any other) {
  target.repo = identifier{"odd: \"name\"\n;$(x)"};
  repository = git_repo::init(*io::tenant_path(git_root, target));
  const auto main = remote.id("main");
  promote(fetch(url, {main}));
  CAF_CHECK(repository.has(main));
  const auto next = remote.commit("b", "next", {main});
  remote.set_ref("refs/heads/main", next);
  // The second pack leans on objects of the first.
  const auto second = fetch(url, {next});
  CAF_CHECK_EQUAL(describe(second), "ok (HTTP 200)");
}

CAF_TEST(connections are kept between jobs) {
  CAF_CHECK_EQUAL(fetch(url, {remote.id("main")}).wire_requests, 2u);
  CAF_CHECK_EQUAL(fetch(url, {remote.id("main~1")}).wire_requests, 2u);
  CAF_CHECK_EQUAL(sends, 1);
}

CAF_TEST(loopback is refused unless it is allowed) {
  settings.allow_private = false;
  const auto result = fetch(url, {remote.id("main")});
  CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"policy"});
  CAF_CHECK_EQUAL(result.wire_requests, 0u);
  CAF_CHECK_EQUAL(sends, 0);
  CAF_CHECK(server.requests().empty());
}

CAF_TEST(a port or host that is not allowed is not asked) {
  settings.allowed_ports = {80, 443};
  auto result = fetch(url, {remote.id("main")});
  CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"policy"});
  client.reset();
  allow_port(server.port());
  settings.deny_hosts.insert(host_key{server.address()});
  result = fetch(url, {remote.id("main")});
  CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"policy"});
  CAF_CHECK_EQUAL(sends, 0);
}

CAF_TEST(a pack over the limit is stopped) {
  settings.max_pack_bytes = 500;
  const auto before = repository.inventory();
  const auto result = fetch(url, {remote.id("main")});
  CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"oversize"});
  CAF_CHECK(repository.inventory() == before);
}

CAF_TEST(a pack with more objects than allowed is stopped) {
  settings.max_pack_objects = 10;
  const auto before = repository.inventory();
  const auto result = fetch(url, {remote.id("main")});
  CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"oversize"});
  CAF_CHECK(repository.inventory() == before);
}

CAF_TEST(a tenant without a repository is our own failure) {
  target.repo = identifier{"absent"};
  const auto result = fetch(url, {remote.id("main")});
  CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"internal"});
  CAF_CHECK_EQUAL(sends, 0);
}

CAF_TEST(a repository that is not on the server) {
  const auto result = fetch(server.url("absent.git"), {remote.id("main")});
  CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"no_repo"});
  CAF_CHECK_EQUAL(sends, 1);
}

CAF_TEST_FIXTURE_SCOPE_END()
