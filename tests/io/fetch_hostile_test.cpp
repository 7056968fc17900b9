#include "tests/io/fetch_fixture.hpp"
#include "tests/support/scripted_git.hpp"

#define CAF_SUITE fetch_hostile

#include <caf/test/dsl.hpp>

#include <random>
#include <thread>

using namespace purgatory;
using namespace purgatory::test;
using namespace std::chrono_literals;

namespace {

const std::string wanted(40, 'a');

/// Bytes that do not compress.
std::string noise(std::size_t size) {
  std::mt19937_64 random{1};
  std::string bytes(size, '\0');
  for (auto& c : bytes)
    c = static_cast<char>(random());
  return bytes;
}

/// A source of packs beside the target, and one check for all: the outcome's
/// class, an untouched repository, nothing left behind.
struct fixture : fetch_fixture {
  git_repo source = git_repo::with_commits(files / "source.git", 20);

  fixture() {
    settings.timeouts.first_byte = 300ms;
    settings.timeouts.rate_window = 500ms;
    settings.timeouts.connect = 1s;
    settings.discovery_timeout = 2s;
    settings.job_timeout = 20s;
  }

  fetch_outcome fetch_from(scripted_server& server,
                           const std::string& want = wanted) {
    allow_port(server.port());
    client.reset(); // Made anew with what the test has set.
    return fetch(server.url("demo.git"), {want});
  }

  std::string class_of(scripted_server& server,
                       const std::string& want = wanted) {
    const auto before = repository.inventory();
    const auto result = fetch_from(server, want);
    CAF_CHECK(result.got.empty());
    CAF_CHECK(result.pack == nullptr);
    CAF_CHECK(repository.inventory() == before);
    CAF_CHECK_EQUAL(quarantines(), 0u);
    return to_string(result.outcome);
  }

  std::string class_of(scripted_server::script script) {
    scripted_server server{std::move(script)};
    return class_of(server);
  }

  /// Cancels a job once `moment` has come; it must end within 500 ms.
  template <class Moment>
  void check_cancel(scripted_server& server, Moment moment,
                    const std::string& want = wanted) {
    const auto before = repository.inventory();
    std::chrono::steady_clock::time_point cancelled;
    std::thread canceller{[&] {
      while (!moment())
        std::this_thread::sleep_for(1ms);
      cancelled = std::chrono::steady_clock::now();
      cancel = true;
    }};
    const auto result = fetch_from(server, want);
    const auto end = std::chrono::steady_clock::now();
    canceller.join();
    CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"internal"});
    CAF_CHECK(result.got.empty());
    CAF_CHECK(result.pack == nullptr);
    CAF_CHECK(end - cancelled < 500ms);
    CAF_CHECK(repository.inventory() == before);
  }

  /// A server whose only tip is `want`, with this answer to every POST.
  std::string class_of_reply(const std::string& want, const std::string& reply,
                             std::size_t missing_bytes = 0) {
    scripted_server server{
      speaks_git({{want}, [=](const auto&) { return reply; }, missing_bytes})};
    return class_of(server, want);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(fetch_hostile_tests, fixture)

CAF_TEST(a server that never answers is a timeout) {
  const auto start = std::chrono::steady_clock::now();
  CAF_CHECK_EQUAL(class_of(never_answers()), "timeout");
  CAF_CHECK_EQUAL(sends, 1);
  CAF_CHECK(std::chrono::steady_clock::now() - start < 2s);
}

CAF_TEST(headers at one byte per second are a timeout) {
  CAF_CHECK_EQUAL(class_of(one_byte_per_second()), "timeout");
}

CAF_TEST(a port where nobody listens is refused) {
  std::string url;
  {
    scripted_server gone{never_answers()};
    allow_port(gone.port());
    url = gone.url("demo.git");
  }
  const auto result = fetch(url, {wanted});
  CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"refused"});
  CAF_CHECK_EQUAL(sends, 0);
}

CAF_TEST(a name that does not exist is dns) {
  const auto result = fetch("http://absent.invalid/demo.git", {wanted});
  CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"dns"});
  CAF_CHECK_EQUAL(sends, 0);
}

CAF_TEST(a server without TLS on an https URL is tls) {
  settings.timeouts.tls = 300ms;
  scripted_server talks{[](scripted_connection& connection) {
    connection.send("HTTP/1.1 400 Bad Request\r\n\r\n");
    connection.pause(60s);
  }};
  scripted_server silent{never_answers()};
  for (auto* server : {&talks, &silent}) {
    allow_port(server->port());
    client.reset();
    const auto result
      = fetch("https" + server->url("demo.git").substr(4), {wanted});
    CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"tls"});
    CAF_CHECK_EQUAL(sends, 0);
  }
}

CAF_TEST(each status has its class) {
  CAF_CHECK_EQUAL(class_of(always(404)), "no_repo");
  CAF_CHECK_EQUAL(class_of(always(410)), "no_repo");
  CAF_CHECK_EQUAL(class_of(always(401)), "auth");
  CAF_CHECK_EQUAL(class_of(always(403)), "auth");
  CAF_CHECK_EQUAL(class_of(always(429)), "limited");
  CAF_CHECK_EQUAL(class_of(always(500)), "server");
  CAF_CHECK_EQUAL(class_of(always(503)), "server");
  CAF_CHECK_EQUAL(class_of(always(503, "", {"Retry-After: 60"})), "limited");
  CAF_CHECK_EQUAL(class_of(always(418)), "unsupported");
}

CAF_TEST(text of a page never decides) {
  CAF_CHECK_EQUAL(
    class_of(always(500, "404 not found: certificate dns ssl rate limit")),
    "server");
}

CAF_TEST(pages and dumb servers are unsupported) {
  CAF_CHECK_EQUAL(class_of(html_page()), "unsupported");
  CAF_CHECK_EQUAL(class_of(always(200, wanted + "\trefs/heads/main\n")),
                  "unsupported");
  CAF_CHECK_EQUAL(class_of(always(200)), "unsupported");
}

CAF_TEST(a connection cut before the answer blames the server) {
  CAF_CHECK_EQUAL(class_of(cuts_connections()), "server");
}

CAF_TEST(redirects on the same host are followed up to the limit) {
  scripted_server loop{
    redirects_to("/next.git/info/refs?service=git-upload-pack")};
  CAF_CHECK_EQUAL(class_of(loop), "policy");
  CAF_CHECK_EQUAL(loop.connections(), 1);
  const auto result = fetch_from(loop);
  CAF_CHECK_EQUAL(result.wire_requests, 4u);
}

CAF_TEST(what is at the end of a redirect is fetched from there) {
  const auto main = source.id("main");
  const auto reply = v0_reply(source.pack({main}));
  scripted_server server{[&](scripted_connection& connection) {
    scripted_request request;
    while (connection.read(request)) {
      if (request.target.starts_with("/demo.git/info/refs"))
        connection.answer(
          301, "", {"Location: /moved.git/info/refs?service=git-upload-pack"});
      else if (request.target.starts_with("/moved.git/info/refs"))
        connection.answer(200, refs_body({main}));
      else
        connection.answer(
          request.target == "/moved.git/git-upload-pack" ? 200 : 404, reply);
    }
  }};
  const auto result = fetch_from(server, main);
  CAF_CHECK_EQUAL(describe(result), "ok (HTTP 200)");
  CAF_CHECK_EQUAL(result.wire_requests, 3u);
}

CAF_TEST(a redirect to another host ends the job and names it) {
  scripted_server other{always(404)};
  allow_port(other.port());
  scripted_server server{
    redirects_to(other.url("demo.git/info/refs?service=git-upload-pack"))};
  const auto result = fetch_from(server);
  CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"redirected"});
  CAF_REQUIRE(result.redirect.has_value());
  CAF_CHECK_EQUAL(result.redirect->value, other.url("demo.git"));
  CAF_CHECK_EQUAL(other.connections(), 0);
}

CAF_TEST(a redirect to a port or scheme that we do not ask is refused) {
  CAF_CHECK_EQUAL(class_of(redirects_to("http://127.0.0.1:22/demo.git/info/"
                                        "refs?service=git-upload-pack")),
                  "policy");
  CAF_CHECK_EQUAL(class_of(redirects_to("file:///etc/info/"
                                        "refs?service=git-upload-pack")),
                  "policy");
  CAF_CHECK_EQUAL(class_of(redirects_to("/somewhere/else")), "policy");
}

CAF_TEST(refs without end are cut off) {
  settings.advertisement.max_refs = 5000;
  CAF_CHECK_EQUAL(class_of(endless_refs()), "oversize");
}

CAF_TEST(an ERR packet blames the server) {
  CAF_CHECK_EQUAL(class_of(always(200, error_reply("no access"))), "server");
  CAF_CHECK_EQUAL(class_of_reply(wanted, error_reply("no access")), "server");
}

CAF_TEST(a sha256 remote is unsupported) {
  std::string body = refs_body({wanted});
  body.replace(body.find("=sha1"), 5, "=sha2");
  CAF_CHECK_EQUAL(class_of(always(200, body)), "unsupported");
}

CAF_TEST(a shallow reply is corrupt) {
  CAF_CHECK_EQUAL(class_of_reply(wanted, "0035shallow " + wanted + "\n0000"),
                  "corrupt");
}

CAF_TEST(junk in place of a pack is corrupt) {
  CAF_CHECK_EQUAL(class_of_reply(wanted, v0_reply(std::string(5000, 'x'))),
                  "corrupt");
  CAF_CHECK_EQUAL(
    class_of_reply(wanted, v0_reply("PACK" + std::string(5000, '\1'))),
    "oversize"); // It claims 16 million objects.
  CAF_CHECK_EQUAL(class_of_reply(wanted, v0_reply("")), "corrupt");
  CAF_CHECK_EQUAL(class_of_reply(wanted, "junk"), "corrupt");
}

CAF_TEST(a pack cut short is corrupt and a connection cut is not ) {
  const auto main = source.id("main");
  const auto pack = source.pack({main});
  const auto half = pack.substr(0, pack.size() / 2);
  CAF_CHECK_EQUAL(class_of_reply(main, v0_reply(half)), "corrupt");
  auto reply = v0_reply(pack);
  reply.resize(reply.size() - 100);
  CAF_CHECK_EQUAL(class_of_reply(main, reply), "corrupt");
  CAF_CHECK_EQUAL(class_of_reply(main, reply, 100), "server");
}

CAF_TEST(a pack with one changed byte is corrupt) {
  const auto main = source.id("main");
  auto pack = source.pack({main});
  pack[pack.size() / 2] = static_cast<char>(pack[pack.size() / 2] ^ 1);
  CAF_CHECK_EQUAL(class_of_reply(main, v0_reply(pack)), "corrupt");
}

CAF_TEST(a valid pack without the wanted object is corrupt) {
  CAF_CHECK_EQUAL(
    class_of_reply(wanted, v0_reply(source.pack({source.id("main")}))),
    "corrupt");
}

CAF_TEST(history that does not connect is corrupt) {
  const auto main = source.id("main");
  // The commit and its tree, without files or parents.
  CAF_CHECK_EQUAL(class_of_reply(main, v0_reply(source.pack_of({main}))),
                  "corrupt");
  CAF_CHECK_EQUAL(
    class_of_reply(main, v0_reply(source.pack({main}, {source.id("main~1")}))),
    "corrupt");
}

CAF_TEST(a name that git must never check out is corrupt) {
  const auto blob = source.git({"hash-object", "-w", "--stdin"}, "x");
  const auto tree = source.git({"mktree"}, "100644 blob " + blob + "\t.git\n");
  const auto commit = source.git({"commit-tree", tree, "-m", "bad"});
  CAF_CHECK_EQUAL(class_of_reply(commit, v0_reply(source.pack({commit}))),
                  "corrupt");
}

CAF_TEST(a whole pack counts although the connection drags on) {
  const auto main = source.id("main");
  scripted_server server{[&](scripted_connection& connection) {
    scripted_request request;
    connection.read(request);
    connection.answer(200, refs_body({main}));
    connection.read(request);
    const auto reply = v0_reply(source.pack({main}));
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n"
                    + reply);
    connection.pause(60s);
  }};
  CAF_CHECK_EQUAL(to_string(fetch_from(server, main).outcome),
                  std::string{"ok"});
}

CAF_TEST(an object that the server names without being asked ends the job) {
  const auto other = std::string(40, 'b');
  const auto reply = error_reply("upload-pack: not our ref " + other);
  scripted_server server{
    speaks_git({{other}, [=](const auto&) { return reply; }, 0})};
  const auto result = fetch_from(server);
  CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"server"});
  CAF_CHECK(result.missing.empty());
  CAF_CHECK(result.wire_requests <= 2);
}

CAF_TEST(a job that waits for an answer is cancelled at once) {
  settings.timeouts.first_byte = 60s;
  scripted_server server{never_answers()};
  check_cancel(server, [&] { return server.connections() > 0; });
}

CAF_TEST(a job amid a pack is cancelled at once with its child) {
  settings.timeouts.rate_window = 60s;
  const auto main = source.id("main");
  // More than what is held back before the child starts, never complete.
  const auto blob
    = source.git({"hash-object", "-w", "--stdin"}, noise(3 << 20));
  auto reply = v0_reply(source.pack_of({blob}));
  reply.resize(reply.size() - 30);
  std::atomic<bool> sent{false};
  scripted_server server{[&](scripted_connection& connection) {
    scripted_request request;
    connection.read(request);
    connection.answer(200, refs_body({main}));
    connection.read(request);
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n"
                    + reply);
    sent = true;
    connection.pause(60s);
  }};
  check_cancel(
    server, [&] { return sent.load(); }, main);
}

CAF_TEST_FIXTURE_SCOPE_END()
