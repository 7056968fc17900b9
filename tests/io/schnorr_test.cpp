#define CAF_SUITE schnorr

#include "app/io/crypto/schnorr.hpp"
#include "libsync/nostr/parse.hpp"
#include "tests/support/fixtures.hpp"
#include "tests/support/nostr_events.hpp"

#include <caf/test/dsl.hpp>

#include <sstream>
#include <string>
#include <variant>

using namespace purgatory;
using purgatory::io::make_schnorr_verifier;
using purgatory::io::schnorr_key;
using purgatory::test::fixture_lines;
using purgatory::test::unsigned_event;

namespace {

struct vector_row {
  std::string secret;
  std::string key;
  std::string aux;
  std::string message;
  std::string signature;
  bool is_valid;
  std::string comment;
};

/// The rows of BIP-340's test-vectors.csv.
std::vector<vector_row> bip340_vectors() {
  std::vector<vector_row> rows;
  for (const auto& line : fixture_lines("bip340.csv")) {
    std::istringstream fields{line};
    std::string index;
    std::string verdict;
    vector_row row;
    for (auto* field : {&index, &row.secret, &row.key, &row.aux, &row.message,
                        &row.signature, &verdict, &row.comment})
      std::getline(fields, *field, ',');
    row.is_valid = verdict == "TRUE";
    if (index != "index")
      rows.push_back(row);
  }
  return rows;
}

std::string lower(std::string text) {
  for (auto& letter : text)
    letter = static_cast<char>(std::tolower(letter));
  return text;
}

} // namespace

CAF_TEST(the_vectors_of_bip_340_verify_or_fail_as_listed) {
  const auto verifier = make_schnorr_verifier();
  const auto rows = bip340_vectors();
  CAF_CHECK_EQUAL(rows.size(), 15u);
  for (const auto& row : rows) {
    CAF_MESSAGE("vector: " << row.comment);
    CAF_CHECK_EQUAL(
      verifier->verify(pubkey{row.key}, event_id{row.message}, row.signature),
      row.is_valid);
  }
}

CAF_TEST(keys_and_signatures_are_those_of_bip_340) {
  std::size_t signed_rows = 0;
  for (const auto& row : bip340_vectors()) {
    if (row.secret.empty())
      continue;
    const auto key = schnorr_key::from_hex(row.secret);
    CAF_REQUIRE(key.has_value());
    CAF_CHECK_EQUAL(key->public_key().value, lower(row.key));
    CAF_CHECK_EQUAL(key->secret_hex(), lower(row.secret));
    if (row.aux.find_first_not_of('0') != std::string::npos)
      continue; // we sign with auxiliary data of zeros only
    CAF_CHECK_EQUAL(key->sign(event_id{row.message}), lower(row.signature));
    ++signed_rows;
  }
  CAF_CHECK_EQUAL(signed_rows, 1u);
}

CAF_TEST(malformed_text_is_no_signature) {
  const auto verifier = make_schnorr_verifier();
  const auto row = bip340_vectors().front();
  const pubkey key{row.key};
  const event_id message{row.message};
  CAF_CHECK(verifier->verify(key, message, lower(row.signature)));
  CAF_CHECK(!verifier->verify(key, message, ""));
  CAF_CHECK(!verifier->verify(key, message, row.signature.substr(2)));
  CAF_CHECK(!verifier->verify(key, message, row.signature + "00"));
  CAF_CHECK(!verifier->verify(key, message, std::string(128, 'x')));
  CAF_CHECK(!verifier->verify(pubkey{""}, message, row.signature));
  CAF_CHECK(!verifier->verify(key, event_id{"00"}, row.signature));
}

CAF_TEST(secret_keys_lie_between_zero_and_the_curve_order) {
  const std::string order
    = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
  CAF_CHECK(!schnorr_key::from_hex(""));
  CAF_CHECK(!schnorr_key::from_hex(std::string(64, '0')));
  CAF_CHECK(!schnorr_key::from_hex(std::string(64, 'g')));
  CAF_CHECK(!schnorr_key::from_hex(order));
  CAF_CHECK(schnorr_key::from_hex(order.substr(0, 63) + "0").has_value());
}

CAF_TEST(a_fresh_key_signs_and_differs_from_the_next) {
  const auto key = schnorr_key::generate();
  const auto other = schnorr_key::generate();
  CAF_CHECK_NOT_EQUAL(key.secret_hex(), other.secret_hex());
  auto ev = unsigned_event(1, {{"t", "x"}}, "hello");
  ev.author = key.public_key();
  ev.id = nostr::compute_id(ev);
  ev.sig = key.sign(ev.id);
  const auto verifier = make_schnorr_verifier();
  CAF_CHECK(nostr::has_valid_signature(ev, *verifier));
  ev.author = other.public_key();
  CAF_CHECK(!nostr::has_valid_signature(ev, *verifier));
}

CAF_TEST(events_signed_by_another_implementation_verify) {
  const auto verifier = make_schnorr_verifier();
  for (const auto* file :
       {"events/signed.jsonl", "events/signed_del_escaped.jsonl"})
    for (const auto& line : fixture_lines(file)) {
      const auto result = nostr::parse_event(line, {});
      CAF_REQUIRE(std::holds_alternative<nostr::parsed_event>(result));
      auto ev = std::get<nostr::parsed_event>(result).value;
      CAF_CHECK(nostr::has_valid_signature(ev, *verifier));
      ev.sig.front() = ev.sig.front() == '0' ? '1' : '0';
      CAF_CHECK(!nostr::has_valid_signature(ev, *verifier));
    }
}
