#include "libsync/git/advertisement.hpp"
#include "tests/support/chunks.hpp"
#include "tests/support/seed.hpp"

#define CAF_SUITE git_advertisement

#include <caf/test/dsl.hpp>

#include <string>

using namespace purgatory;
using namespace purgatory::git;
using namespace std::string_literals;
using kind = purgatory::git::advertisement_kind;

namespace {

const std::string capabilities
  = "multi_ack_detailed side-band-64k ofs-delta object-format=sha1 agent=git/2"s;

std::string hex(char digit) {
  return std::string(40, digit);
}

std::string service() {
  std::string out;
  append_pkt(out, "# service=git-upload-pack\n");
  append_flush(out);
  return out;
}

std::string line(const std::string& text) {
  std::string out;
  append_pkt(out, text + "\n");
  return out;
}

std::string first(const std::string& id, const std::string& name,
                  const std::string& caps = capabilities) {
  return line(id + " " + name + "\0"s + caps);
}

const std::string flush = "0000";

advertisement_reader read(const std::string& body,
                          advertisement_limits limits = {}) {
  advertisement_reader reader{limits};
  reader.feed(body);
  reader.finish();
  return reader;
}

kind kind_of(const std::string& body) {
  return read(body).kind();
}

} // namespace

CAF_TEST(refs and what tags peel to are tips) {
  const auto reader = read(service() + first(hex('a'), "HEAD")
                           + line(hex('a') + " refs/heads/main")
                           + line(hex('b') + " refs/tags/v1")
                           + line(hex('c') + " refs/tags/v1^{}") + flush);
  CAF_CHECK(reader.kind() == kind::refs);
  CAF_CHECK_EQUAL(reader.tips().size(), 3u);
  CAF_CHECK(reader.is_tip(oid{hex('c')}));
  CAF_CHECK(!reader.is_tip(oid{hex('d')}));
  CAF_CHECK(reader.has_capability("side-band-64k"));
  CAF_CHECK(reader.has_capability("agent=git/2"));
  CAF_CHECK(!reader.has_capability("side-band"));
  CAF_CHECK(!reader.shallow());
}

CAF_TEST(a repository without refs is an empty list) {
  const auto reader
    = read(service() + first(hex('0'), "capabilities^{}") + flush);
  CAF_CHECK(reader.kind() == kind::refs);
  CAF_CHECK(reader.tips().empty());
}

CAF_TEST(version 1 is a list like any other) {
  CAF_CHECK(
    kind_of(service() + line("version 1") + first(hex('a'), "HEAD") + flush)
    == kind::refs);
}

CAF_TEST(a server that answers in version 2 is recognised) {
  const auto v2 = line("version 2") + line("agent=git/2") + line("ls-refs")
                  + line("fetch=shallow") + line("object-format=sha1") + flush;
  CAF_CHECK(kind_of(v2) == kind::version2);
  CAF_CHECK(kind_of(service() + v2) == kind::version2);
  CAF_CHECK(kind_of(line("version 2") + line("object-format=sha256") + flush)
            == kind::sha256);
}

CAF_TEST(another object format is recognised) {
  CAF_CHECK(
    kind_of(service()
            + first(hex('a'), "HEAD", "side-band-64k object-format=sha256")
            + flush)
    == kind::sha256);
  CAF_CHECK(kind_of(service() + first(std::string(64, 'a'), "HEAD") + flush)
            == kind::sha256);
}

CAF_TEST(a shallow remote is noted and its lines are skipped) {
  const auto reader = read(service() + first(hex('a'), "HEAD")
                           + line("shallow " + hex('b')) + flush);
  CAF_CHECK(reader.kind() == kind::refs);
  CAF_CHECK(reader.shallow());
  CAF_CHECK(!reader.is_tip(oid{hex('b')}));
}

CAF_TEST(what is no smart HTTP is told apart) {
  CAF_CHECK(kind_of("<!doctype html><html></html>") == kind::not_smart);
  CAF_CHECK(kind_of("") == kind::not_smart);
  // Dumb HTTP: an id, a tab, a name. Its first digits may pass for a length.
  CAF_CHECK(kind_of(hex('a') + "\trefs/heads/main\n") == kind::not_smart);
  CAF_CHECK(kind_of("00" + hex('1') + "\trefs/heads/main\n")
            == kind::not_smart);
  CAF_CHECK(kind_of(flush) == kind::not_smart);
  CAF_CHECK(kind_of(line("# service=git-receive-pack") + flush)
            == kind::not_smart);
}

CAF_TEST(an ERR packet is an error wherever it stands) {
  CAF_CHECK(kind_of(line("ERR no access")) == kind::error);
  const auto reader = read(service() + line("ERR busy"));
  CAF_CHECK(reader.kind() == kind::error);
  CAF_CHECK_EQUAL(reader.error_text(), "busy");
}

CAF_TEST(a list that breaks the protocol is malformed) {
  const auto start = service() + first(hex('a'), "HEAD");
  CAF_CHECK(kind_of(start) == kind::malformed);
  CAF_CHECK(kind_of(start + line("nonsense") + flush) == kind::malformed);
  CAF_CHECK(kind_of(start + line(hex('A') + " refs/heads/x") + flush)
            == kind::malformed);
  CAF_CHECK(kind_of(start + line(hex('a').substr(1) + " refs/heads/x") + flush)
            == kind::malformed);
  CAF_CHECK(kind_of(start + "zzzz") == kind::malformed);
  CAF_CHECK(kind_of(start + "0001") == kind::malformed);
  CAF_CHECK(kind_of(service() + first(hex('0'), "HEAD") + flush)
            == kind::malformed);
}

CAF_TEST(a server without the sideband is too old) {
  CAF_CHECK(kind_of(service() + first(hex('a'), "HEAD", "ofs-delta") + flush)
            == kind::no_sideband);
  CAF_CHECK(kind_of(service() + line(hex('a') + " HEAD") + flush)
            == kind::no_sideband);
}

CAF_TEST(bytes and refs are limited) {
  auto body = service() + first(hex('a'), "HEAD");
  for (int n = 0; n < 9; ++n)
    body += line(hex('a') + " refs/heads/" + std::to_string(n));
  advertisement_limits limits;
  limits.max_refs = 10;
  CAF_CHECK(read(body + flush, limits).kind() == kind::refs);
  limits.max_refs = 9;
  CAF_CHECK(read(body + flush, limits).kind() == kind::oversize);
  limits = {};
  limits.max_bytes = body.size() + flush.size();
  CAF_CHECK(read(body + flush, limits).kind() == kind::refs);
  limits.max_bytes -= 1;
  CAF_CHECK(read(body + flush, limits).kind() == kind::oversize);
}

CAF_TEST(endless bytes after a whole list are cut off) {
  advertisement_limits limits;
  limits.max_bytes = 1000;
  advertisement_reader reader{limits};
  CAF_CHECK(reader.feed(service() + first(hex('a'), "HEAD") + flush));
  CAF_CHECK(reader.is_usable());
  CAF_CHECK(reader.feed(std::string(500, 'x')));
  CAF_CHECK(!reader.feed(std::string(500, 'x')));
  CAF_CHECK(reader.kind() == kind::oversize);
}

CAF_TEST(the size of chunks changes nothing) {
  const auto seed = purgatory::test::first_seed();
  CAF_MESSAGE("seed " << seed);
  std::mt19937_64 random{seed};
  auto body = service() + first(hex('a'), "HEAD");
  for (int n = 0; n < 300; ++n)
    body += line(std::string(36, 'b') + std::to_string(1000 + n)
                 + " refs/heads/" + std::to_string(n));
  body += flush;
  const auto whole = read(body);
  CAF_REQUIRE_EQUAL(whole.tips().size(), 301u);
  for (int round = 0; round < 100; ++round) {
    advertisement_reader pieces;
    test::in_random_chunks(
      body, random, 1 + static_cast<std::size_t>(round) * 3,
      [&](std::string_view chunk) { return pieces.feed(chunk); });
    CAF_REQUIRE(pieces.kind() == kind::refs);
    CAF_REQUIRE(pieces.tips() == whole.tips());
  }
}

CAF_TEST(damaged lists are refused without harm) {
  const auto seed = purgatory::test::first_seed();
  CAF_MESSAGE("seed " << seed);
  std::mt19937_64 random{seed};
  const auto body = service() + first(hex('a'), "HEAD")
                    + line(hex('b') + " refs/tags/v1")
                    + line(hex('c') + " refs/tags/v1^{}") + flush;
  std::uniform_int_distribution<std::size_t> place{0, body.size() - 1};
  std::uniform_int_distribution<int> byte{0, 255};
  int refused = 0;
  for (int round = 0; round < 5000; ++round) {
    auto damaged = body;
    damaged[place(random)] = static_cast<char>(byte(random));
    const auto reader = read(damaged);
    CAF_REQUIRE(reader.kind() != kind::reading);
    CAF_REQUIRE(reader.tips().size() <= 3);
    refused += reader.is_usable() ? 0 : 1;
  }
  CAF_CHECK(refused > 0);
}
