#include "libsync/git/upload_pack.hpp"
#include "tests/support/chunks.hpp"
#include "tests/support/seed.hpp"

#define CAF_SUITE git_upload_pack

#include <caf/test/dsl.hpp>

#include <string>
#include <vector>

using namespace purgatory;
using namespace purgatory::git;
using namespace std::string_literals;
using version = purgatory::git::upload_pack_version;
using state = purgatory::git::reply_state;

namespace {

oid id(char digit) {
  return oid{std::string(40, digit)};
}

std::string pkt_of(const std::string& payload) {
  std::string out;
  append_pkt(out, payload);
  return out;
}

std::string band(char number, const std::string& bytes) {
  return pkt_of(std::string(1, number) + bytes);
}

const std::string flush = "0000";

struct reply {
  state end = state::reading;
  std::string pack;
  std::optional<oid> missing;
  std::string error;
};

reply read(version v, const std::string& body) {
  reply result;
  upload_pack_reader reader{v, [&](std::string_view bytes) {
                              result.pack += bytes;
                              return true;
                            }};
  reader.feed(body);
  reader.finish();
  result.end = reader.state();
  result.missing = reader.missing();
  result.error = reader.error_text();
  return result;
}

} // namespace

CAF_TEST(a version 0 request holds wants then haves then done) {
  const std::vector wants{id('a'), id('b')};
  const std::vector haves{id('c')};
  const auto body = upload_pack_request(version::v0, wants, haves, "me/1");
  CAF_CHECK_EQUAL(body, "007ewant " + id('a').value
                          + " multi_ack_detailed side-band-64k thin-pack "
                            "no-progress ofs-delta agent=me/1\n"
                            "0032want "
                          + id('b').value
                          + "\n"
                            "0000"
                            "0032have "
                          + id('c').value
                          + "\n"
                            "0009done\n");
}

CAF_TEST(a version 2 request is one fetch command) {
  const std::vector wants{id('a')};
  const std::vector haves{id('c')};
  const auto body = upload_pack_request(version::v2, wants, haves, "me/1");
  CAF_CHECK_EQUAL(body, "0011command=fetch"
                        "000eagent=me/1"
                        "0016object-format=sha1"
                        "0001"
                        "000dthin-pack"
                        "000fno-progress"
                        "000dofs-delta"
                        "0032want "
                          + id('a').value + "\n0032have " + id('c').value
                          + "\n0009done\n0000");
}

CAF_TEST(wants and haves over the caps are left out) {
  const std::vector<oid> wants(max_wants + 5, id('a'));
  const std::vector<oid> haves(max_haves + 5, id('b'));
  for (const auto v : {version::v0, version::v2}) {
    const auto body = upload_pack_request(v, wants, haves, "me");
    const auto count = [&](const std::string& word) {
      std::size_t n = 0;
      for (auto at = body.find(word); at != std::string::npos;
           at = body.find(word, at + 1))
        ++n;
      return n;
    };
    CAF_CHECK_EQUAL(count("want "), max_wants);
    CAF_CHECK_EQUAL(count("have "), max_haves);
  }
}

CAF_TEST(a version 0 pack follows its acknowledgements) {
  const auto body = pkt_of("ACK " + id('c').value + " common\n")
                    + pkt_of("ACK " + id('c').value + "\n") + band(1, "PACK")
                    + band(2, "Counting") + band(1, "") + band(1, "rest")
                    + flush;
  const auto result = read(version::v0, body);
  CAF_CHECK(result.end == state::complete);
  CAF_CHECK_EQUAL(result.pack, "PACKrest");
  CAF_CHECK(read(version::v0, pkt_of("NAK\n") + band(1, "PACK") + flush).end
            == state::complete);
}

CAF_TEST(a version 2 pack follows its section header) {
  const auto result = read(version::v2, pkt_of("packfile\n") + band(1, "PACK")
                                          + band(1, "rest") + flush);
  CAF_CHECK(result.end == state::complete);
  CAF_CHECK_EQUAL(result.pack, "PACKrest");
}

CAF_TEST(the object that a server names as missing is a typed value) {
  const auto named
    = pkt_of("ERR upload-pack: not our ref " + id('d').value + "\n");
  for (const auto v : {version::v0, version::v2}) {
    const auto result = read(v, named);
    CAF_CHECK(result.end == state::not_our_ref);
    CAF_CHECK(result.missing == id('d'));
  }
  CAF_CHECK(
    read(version::v0, pkt_of("ERR want " + id('d').value + " not valid\n"))
      .missing
    == id('d'));
}

CAF_TEST(other errors name nothing) {
  for (const auto* text :
       {"ERR access denied", "ERR upload-pack: not our ref 1234",
        "ERR upload-pack: not our ref ", "ERR want something not valid"}) {
    const auto result = read(version::v2, pkt_of(text));
    CAF_CHECK(result.end == state::error);
    CAF_CHECK(!result.missing);
  }
  const auto fatal = read(version::v0, pkt_of("NAK\n") + band(1, "PACK")
                                         + band(3, "out of memory"));
  CAF_CHECK(fatal.end == state::error);
  CAF_CHECK_EQUAL(fatal.error, "out of memory");
}

CAF_TEST(text of a server is cut to a length that people can read) {
  const auto result
    = read(version::v0, pkt_of("ERR " + std::string(9000, 'x')));
  CAF_CHECK_EQUAL(result.error.size(), 256u);
}

CAF_TEST(a server that does not speak version 2 is recognised) {
  CAF_CHECK(read(version::v2, "").end == state::not_v2);
  CAF_CHECK(read(version::v2, "<html>").end == state::not_v2);
  CAF_CHECK(read(version::v2, flush).end == state::not_v2);
  CAF_CHECK(read(version::v2, pkt_of("NAK\n")).end == state::not_v2);
  CAF_CHECK(read(version::v0, "").end == state::malformed);
}

CAF_TEST(a shallow reply is told apart) {
  CAF_CHECK(read(version::v0, pkt_of("shallow " + id('a').value)).end
            == state::shallow);
  CAF_CHECK(read(version::v2, pkt_of("shallow-info\n")).end == state::shallow);
}

CAF_TEST(a reply that breaks the protocol is malformed) {
  const auto start = pkt_of("packfile\n") + band(1, "PACK");
  CAF_CHECK(read(version::v2, start).end == state::malformed);
  CAF_CHECK(read(version::v2, start + "0001").end == state::malformed);
  CAF_CHECK(read(version::v2, start + band(4, "x") + flush).end
            == state::malformed);
  CAF_CHECK(read(version::v2, start + pkt_of("") + flush).end
            == state::malformed);
  CAF_CHECK(read(version::v2, start + "zzzz").end == state::malformed);
  CAF_CHECK(read(version::v2, start + flush + "junk").end == state::malformed);
  CAF_CHECK(read(version::v2, pkt_of("packfile-uris\n")).end
            != state::complete);
  CAF_CHECK(read(version::v0, pkt_of("NAK\n") + pkt_of("text") + flush).end
            == state::malformed);
}

CAF_TEST(progress without end is cut off) {
  upload_pack_reader reader{version::v0, [](std::string_view) { return true; }};
  const auto block = band(2, std::string(60'000, '.'));
  int packets = 0;
  while (packets < 1000 && reader.feed(block))
    ++packets;
  CAF_CHECK(reader.state() == state::oversize);
  CAF_CHECK(packets < 100);
}

CAF_TEST(keepalives without end are cut off) {
  upload_pack_reader reader{version::v2, [](std::string_view) { return true; }};
  reader.feed(pkt_of("packfile\n"));
  std::string block;
  for (int n = 0; n < 10'000; ++n)
    block += band(1, "");
  int blocks = 0;
  while (blocks < 1000 && reader.feed(block))
    ++blocks;
  CAF_CHECK(reader.state() == state::oversize);
}

CAF_TEST(a sink that refuses stops the transfer) {
  upload_pack_reader reader{version::v2,
                            [](std::string_view) { return false; }};
  CAF_CHECK(!reader.feed(pkt_of("packfile\n") + band(1, "PACK") + flush));
  CAF_CHECK(reader.state() == state::stopped);
}

CAF_TEST(the size of chunks changes nothing) {
  const auto seed = purgatory::test::first_seed();
  CAF_MESSAGE("seed " << seed);
  std::mt19937_64 random{seed};
  std::string pack;
  auto body = pkt_of("packfile\n");
  std::uniform_int_distribution<std::size_t> size{1, 3000};
  for (int n = 0; n < 50; ++n) {
    const std::string part(size(random), static_cast<char>('a' + n % 26));
    pack += part;
    body += band(1, part);
  }
  body += flush;
  for (int round = 0; round < 50; ++round) {
    std::string seen;
    upload_pack_reader reader{version::v2, [&](std::string_view bytes) {
                                seen += bytes;
                                return true;
                              }};
    test::in_random_chunks(
      body, random, 1 + static_cast<std::size_t>(round) * 200,
      [&](std::string_view chunk) { return reader.feed(chunk); });
    reader.finish();
    CAF_REQUIRE(reader.state() == state::complete);
    CAF_REQUIRE(seen == pack);
    CAF_REQUIRE_EQUAL(reader.pack_bytes(), pack.size());
  }
}

CAF_TEST(damaged replies end in a named state) {
  const auto seed = purgatory::test::first_seed();
  CAF_MESSAGE("seed " << seed);
  std::mt19937_64 random{seed};
  const auto body = pkt_of("ACK " + id('c').value + " common\n")
                    + pkt_of("NAK\n") + band(1, "PACKdata") + band(2, "x")
                    + flush;
  std::uniform_int_distribution<std::size_t> place{0, body.size() - 1};
  std::uniform_int_distribution<int> byte{0, 255};
  int complete = 0;
  for (int round = 0; round < 5000; ++round) {
    auto damaged = body;
    damaged[place(random)] = static_cast<char>(byte(random));
    const auto result = read(version::v0, damaged);
    CAF_REQUIRE(result.end != state::reading);
    CAF_REQUIRE(result.pack.size() <= body.size());
    complete += result.end == state::complete ? 1 : 0;
  }
  CAF_CHECK(complete < 5000);
}
