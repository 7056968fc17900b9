#include "libsync/git/pkt_line.hpp"
#include "tests/support/chunks.hpp"
#include "tests/support/seed.hpp"

#define CAF_SUITE git_pkt_line

#include <caf/test/dsl.hpp>

#include <string>
#include <vector>

using namespace purgatory::git;
using purgatory::test::in_random_chunks;

namespace {

/// Payloads as text, special packets by name.
std::vector<std::string> read_all(pkt_reader& reader, std::string_view chunk) {
  std::vector<std::string> seen;
  while (const auto packet = reader.next(chunk)) {
    switch (packet->kind) {
    case pkt_kind::data:
      seen.push_back("data:" + std::string{packet->payload});
      break;
    case pkt_kind::flush:
      seen.emplace_back("flush");
      break;
    case pkt_kind::delimiter:
      seen.emplace_back("delimiter");
      break;
    case pkt_kind::response_end:
      seen.emplace_back("end");
      break;
    }
  }
  return seen;
}

bool is_malformed(std::string_view stream) {
  pkt_reader reader;
  read_all(reader, stream);
  return reader.malformed();
}

} // namespace

CAF_TEST(packets are written with their length in four hex digits) {
  std::string out;
  append_pkt(out, "done\n");
  append_pkt(out, "");
  append_delimiter(out);
  append_flush(out);
  CAF_CHECK_EQUAL(out, "0009done\n000400010000");
  out.clear();
  append_pkt(out, std::string(max_pkt_bytes - 4, 'x'));
  CAF_CHECK_EQUAL(out.substr(0, 4), "fff0");
}

CAF_TEST(each kind of packet is read) {
  pkt_reader reader;
  const std::vector<std::string> expected{"data:done\n", "data:", "delimiter",
                                          "end", "flush"};
  CAF_CHECK_EQUAL(read_all(reader, "0009done\n0004000100020000"), expected);
  CAF_CHECK(reader.at_boundary());
}

CAF_TEST(a packet that is not whole is no packet yet) {
  pkt_reader reader;
  CAF_CHECK(read_all(reader, "0009do").empty());
  CAF_CHECK(!reader.at_boundary());
  CAF_CHECK(!reader.malformed());
  CAF_CHECK_EQUAL(read_all(reader, "ne\n"),
                  std::vector<std::string>{"data:done\n"});
}

CAF_TEST(lengths that the protocol does not know are malformed) {
  CAF_CHECK(is_malformed("0003"));
  CAF_CHECK(is_malformed("fff1"));
  CAF_CHECK(is_malformed("<htm"));
  CAF_CHECK(is_malformed("00 9"));
  CAF_CHECK(!is_malformed("FFF0"));
}

CAF_TEST(nothing is read after a malformed length) {
  pkt_reader reader;
  read_all(reader, "zzzz");
  CAF_CHECK(read_all(reader, "0009done\n").empty());
  CAF_CHECK(reader.malformed());
}

CAF_TEST(the size of chunks changes nothing) {
  const auto seed = purgatory::test::first_seed();
  CAF_MESSAGE("seed " << seed);
  std::mt19937_64 random{seed};
  std::uniform_int_distribution<std::size_t> size{0, 2000};
  for (int round = 0; round < 200; ++round) {
    std::string stream;
    for (int n = 0; n < 20; ++n)
      append_pkt(stream, std::string(size(random), static_cast<char>(n)));
    append_pkt(stream, std::string(max_pkt_bytes - 4, 'm'));
    append_flush(stream);
    pkt_reader whole;
    const auto expected = read_all(whole, stream);
    pkt_reader pieces;
    std::vector<std::string> seen;
    in_random_chunks(stream, random, round % 2 == 0 ? 7 : 5000,
                     [&](std::string_view chunk) {
                       const auto some = read_all(pieces, chunk);
                       seen.insert(seen.end(), some.begin(), some.end());
                       return true;
                     });
    CAF_REQUIRE(seen == expected);
    CAF_REQUIRE(pieces.at_boundary());
  }
}
