#define CAF_SUITE fetch_bad_packs

#include "tests/io/hostile_fixture.hpp"

#include <atomic>
#include <random>

using namespace purgatory;
using namespace purgatory::test;

namespace {

/// Bytes that do not compress.
std::string noise(std::size_t size) {
  std::mt19937_64 random{1};
  std::string bytes(size, '\0');
  for (auto& c : bytes)
    c = static_cast<char>(random());
  return bytes;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(fetch_bad_packs_tests, hostile_fixture)

CAF_TEST(an ERR packet blames the server) {
  CAF_CHECK_EQUAL(class_of(always(200, error_reply("no access"))), "server");
  CAF_CHECK_EQUAL(class_of_reply(wanted, error_reply("no access")), "server");
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
  settings.timeouts.rate_window = 500ms;
  const auto main = source.id("main");
  const auto reply = v0_reply(source.pack({main}));
  scripted_server server{[&](scripted_connection& connection) {
    scripted_request request;
    connection.read(request);
    connection.answer(200, refs_body({main}));
    connection.read(request);
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
