#define CAF_SUITE nostr_parse

#include "libsync/nostr/parse.hpp"
#include "tests/support/fixtures.hpp"
#include "tests/support/nostr_events.hpp"

#include <caf/test/dsl.hpp>

#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

using namespace purgatory;
using namespace purgatory::nostr;
using purgatory::test::fixture_lines;
using purgatory::test::unsigned_event;

namespace {

std::string reason_of(std::string_view json, const event_limits& limits = {}) {
  const auto result = parse_event(json, limits);
  const auto* failure = std::get_if<parse_failure>(&result);
  return failure ? failure->reason : "accepted";
}

/// `text` with the first `from` replaced; fails loudly if there is none.
std::string replaced(std::string text, std::string_view from,
                     std::string_view to) {
  const auto at = text.find(from);
  if (at == std::string::npos)
    CAF_FAIL("nothing to replace: " << std::string{from});
  return text.replace(at, from.size(), to);
}

const std::string not_json = "event is not valid JSON in UTF-8";
const std::string wrong_id = "id does not match the event";

std::string sample() {
  return to_json(unsigned_event(30618, {{"d", "x"}, {"alt", "y"}}, "text"));
}

} // namespace

CAF_TEST(
  events_of_another_implementation_are_accepted_and_forwarded_unchanged) {
  for (const auto* file :
       {"events/signed.jsonl", "events/signed_del_escaped.jsonl"})
    for (const auto& line : fixture_lines(file)) {
      const auto result = parse_event(line, {});
      CAF_REQUIRE(std::holds_alternative<parsed_event>(result));
      const auto& parsed = std::get<parsed_event>(result);
      CAF_CHECK_EQUAL(parsed.raw_id, parsed.value.id.value);
      CAF_CHECK_EQUAL(parsed.bytes, line.size());
      const auto again = parse_event(to_json(parsed.value), {});
      CAF_CHECK(std::holds_alternative<parsed_event>(again));
    }
}

CAF_TEST(every_code_point_hashes_as_another_implementation_does) {
  const auto append_utf8 = [](std::string& out, std::uint32_t code) {
    const auto tail = [&](unsigned shift) {
      out += static_cast<char>(0x80U | ((code >> shift) & 0x3fU));
    };
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xc0U | (code >> 6U));
      tail(0);
    } else if (code < 0x10000) {
      out += static_cast<char>(0xe0U | (code >> 12U));
      tail(6);
      tail(0);
    } else {
      out += static_cast<char>(0xf0U | (code >> 18U));
      tail(12);
      tail(6);
      tail(0);
    }
  };
  for (const auto& line : fixture_lines("events/code_point_ids.txt")) {
    std::istringstream words{line};
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::string id;
    words >> first >> last >> id;
    auto ev = unsigned_event(1, {});
    ev.author.value = std::string(64, '1');
    for (auto code = first; code <= last; ++code)
      append_utf8(ev.content, code);
    CAF_CHECK_EQUAL(compute_id(ev).value, id);
    ev.id = compute_id(ev);
    CAF_CHECK_EQUAL(reason_of(to_json(ev)), "accepted");
  }
}

CAF_TEST(the_hashed_text_is_that_of_nip_01) {
  auto ev
    = unsigned_event(1, {{}, {"t"}, {"", "\x7f"}}, "\n\"\\\r\t\b\f\x01/\x7f");
  ev.author.value = "k";
  CAF_CHECK_EQUAL(id_preimage(ev, false),
                  "[0,\"k\",1760000000,1,[[],[\"t\"],[\"\",\"\x7f\"]],"
                  "\"\\n\\\"\\\\\\r\\t\\b\\f\\u0001/\x7f\"]");
  CAF_CHECK_EQUAL(id_preimage(ev, true),
                  "[0,\"k\",1760000000,1,[[],[\"t\"],[\"\",\"\\u007f\"]],"
                  "\"\\n\\\"\\\\\\r\\t\\b\\f\\u0001/\\u007f\"]");
}

CAF_TEST(both_ids_of_a_text_with_DEL_are_right) {
  auto ev = unsigned_event(1, {{"t", "a\x7f"}}, "b");
  CAF_CHECK_EQUAL(reason_of(to_json(ev)), "accepted");
  ev.id = compute_id(ev, true);
  CAF_CHECK(ev.id != compute_id(ev));
  CAF_CHECK_EQUAL(reason_of(to_json(ev)), "accepted");
}

CAF_TEST(hex_is_normalised_and_the_id_kept_as_sent) {
  auto ev = unsigned_event(1, {});
  auto shouted = ev;
  for (auto* text : {&shouted.id.value, &shouted.author.value, &shouted.sig})
    for (auto& digit : *text)
      digit = static_cast<char>(std::toupper(digit));
  const auto result = parse_event(to_json(shouted), {});
  CAF_REQUIRE(std::holds_alternative<parsed_event>(result));
  const auto& parsed = std::get<parsed_event>(result);
  CAF_CHECK_EQUAL(parsed.value.id, ev.id);
  CAF_CHECK_EQUAL(parsed.value.author, ev.author);
  CAF_CHECK_EQUAL(parsed.raw_id, shouted.id.value);
  CAF_CHECK_NOT_EQUAL(parsed.raw_id, ev.id.value);
}

CAF_TEST(unknown_members_are_dropped) {
  const auto json = replaced(
    sample(), "{", R"({"seen":[1.5,{"a":null}],"__proto__":true,"ots":"x",)");
  const auto result = parse_event(json, {});
  CAF_REQUIRE(std::holds_alternative<parsed_event>(result));
  CAF_CHECK_EQUAL(to_json(std::get<parsed_event>(result).value), sample());
}

CAF_TEST(members_in_any_order_and_space_between_them_are_fine) {
  const auto json = replaced(sample(), ",\"kind\":30618", "");
  CAF_CHECK_EQUAL(
    reason_of(" \n" + replaced(json, "{", "{ \"kind\" :\t30618 ,") + "\r\n"),
    "accepted");
}

CAF_TEST(malformed_events_are_refused_by_name) {
  const auto json = sample();
  const auto with = [&](std::string_view from, std::string_view to) {
    return replaced(json, from, to);
  };
  const std::string bad_time
    = "field created_at is not an unsigned integer in range";
  const std::string bad_kind = "field kind is not an unsigned integer in range";
  const std::string bad_tags = "field tags has the wrong type";
  const std::string duplicate = "event has a duplicate key";
  const std::string deep = "event is nested deeper than 4";
  const std::pair<std::string, std::string> cases[] = {
    {"", not_json},
    {"nonsense", not_json},
    {"{", not_json},
    {json + json, not_json},
    {json + "x", not_json},
    {"\xEF\xBB\xBF" + json, not_json},
    {json + std::string(1, '\0'), not_json},
    {with("text", std::string(1, '\0')), not_json},
    {with("text", "a\nb"), not_json},
    {with("text", "\x1f"), not_json},
    {with("text", "\\ud83d"), not_json},
    {with("text", "\\udc00\\ud800"), not_json},
    {with("text", "\xc0\xaf"), not_json},         // overlong
    {with("text", "\xed\xa0\x80"), not_json},     // surrogate in UTF-8
    {with("text", "\xf4\x90\x80\x80"), not_json}, // beyond U+10FFFF
    {with("text", "\xff"), not_json},
    {with("text\"", "text\",}"), not_json},
    {"[]", "event is not a JSON object"},
    {"null", "event is not a JSON object"},
    {"\"x\"", "event is not a JSON object"},
    {"1", "event is not a JSON object"},
    {"{}", "field id is missing"},
    {with(",\"content\":\"text\"", ""), "field content is missing"},
    {with("\"sig\"", "\"Sig\""), "field sig is missing"},
    {with("1760000000", "-1"), bad_time},
    {with("1760000000", "1760000000.0"), bad_time},
    {with("1760000000", "17e8"), bad_time},
    {with("1760000000", "\"1760000000\""), bad_time},
    {with("1760000000", "null"), bad_time},
    {with("1760000000", "[1760000000]"), bad_time},
    {with("1760000000", "9007199254740993"), bad_time},
    {with("1760000000", "18446744073709551616"), bad_time},
    {with("1760000000", "1e999"), not_json},
    {with("1760000000", "01"), not_json},
    {with("30618", "65536"), bad_kind},
    {with("30618", "-30618"), bad_kind},
    {with("30618", "30618.0"), bad_kind},
    {with("30618", "true"), bad_kind},
    {with("\"text\"", "7"), "field content has the wrong type"},
    {with("\"text\"", "null"), "field content has the wrong type"},
    {with("\"text\"", "{}"), "field content has the wrong type"},
    {with("\"text\"", "[\"text\"]"), "field content has the wrong type"},
    {with("[\"alt\",\"y\"]", "\"alt\""), bad_tags},
    {with("[\"alt\",\"y\"]", "{\"alt\":\"y\"}"), bad_tags},
    {with("\"y\"", "1"), bad_tags},
    {with("\"y\"", "null"), bad_tags},
    {with("\"y\"", "[\"y\"]"), bad_tags},
    {with("\"y\"", "{\"y\":\"y\"}"), bad_tags},
    {with("\"y\"", "[[\"y\"]]"), bad_tags},
    {with("{", "{\"x\":[[[[]]]],"), deep},
    {with("{", "{\"x\":{\"a\":{\"b\":{\"c\":{}}}},"), deep},
    {with("{", "{\"kind\":30618,"), duplicate},
    {with("{", "{\"k\\u0069nd\":1,"), duplicate},
    {with("{", "{\"x\":1,\"x\":1,"), duplicate},
    {with("{", "{\"x\":{\"a\":1,\"a\":2},"), duplicate},
    {with("\"sig\":\"0", "\"sig\":\""), "sig is not 128 hex digits"},
    {with("\"pubkey\":\"a", "\"pubkey\":\"g"), "pubkey is not 64 hex digits"},
    {with("\"pubkey\":\"a", "\"pubkey\":\"aa"), "pubkey is not 64 hex digits"},
    {with("\"id\":\"", "\"id\":\"0x"), "id is not 64 hex digits"},
    {with("\"pubkey\":\"a", "\"pubkey\":\"b"), wrong_id},
    {with("text", "texT"), wrong_id},
    {with("30618", "30617"), wrong_id},
    {with("1760000000", "1760000001"), wrong_id},
    {with("[\"alt\",\"y\"]", "[\"alt\",\"y\"],[]"), wrong_id},
  };
  CAF_CHECK_EQUAL(reason_of(json), "accepted");
  for (const auto& [text, reason] : cases)
    CAF_CHECK_EQUAL(reason_of(text), reason);
}

CAF_TEST(a_refusal_names_the_id_and_kind_even_when_they_follow_the_fault) {
  const auto ev = unsigned_event(30617, {});
  const auto json = "{\"content\":5,\"created_at\":1.5,\"id\":\"" + ev.id.value
                    + "\",\"kind\":30617,\"tags\":{\"a\":[\"b\"]}}";
  const auto result = parse_event(json, {});
  CAF_REQUIRE(std::holds_alternative<parse_failure>(result));
  const auto& failure = std::get<parse_failure>(result);
  CAF_CHECK_EQUAL(failure.reason, "field content has the wrong type");
  CAF_CHECK_EQUAL(failure.raw_id, ev.id.value);
  CAF_CHECK_EQUAL(failure.kind, 30617u);
}

CAF_TEST(text_over_the_limit_is_refused_before_it_is_parsed) {
  auto json = sample();
  event_limits limits;
  limits.max_bytes = json.size();
  CAF_CHECK_EQUAL(reason_of(json, limits), "accepted");
  CAF_CHECK_EQUAL(reason_of(json + ' ', limits), "event is too large");
  CAF_CHECK_EQUAL(reason_of(std::string(2'000'000, '[')), "event is too large");
}

CAF_TEST(hostile_nesting_stops_at_once_whatever_the_limit) {
  event_limits limits;
  limits.max_bytes = 1U << 30U;
  const std::string brackets(2'000'000, '[');
  CAF_CHECK_EQUAL(reason_of(brackets, limits), "event is not a JSON object");
  CAF_CHECK_EQUAL(reason_of("{\"x\":" + brackets, limits),
                  "event is nested deeper than 4");
  std::string objects;
  for (int i = 0; i < 500'000; ++i)
    objects += "{\"\":";
  CAF_CHECK_EQUAL(reason_of(objects, limits), "event is nested deeper than 4");
}

CAF_TEST(random_damage_never_yields_an_event_whose_id_is_wrong) {
  const auto* given = std::getenv("PURGATORY_TEST_SEED");
  const auto seed = given ? std::strtoul(given, nullptr, 10) : 20260101UL;
  std::cerr << "seed " << seed << '\n';
  std::mt19937_64 random{seed};
  const auto lines = fixture_lines("events/signed.jsonl");
  std::size_t refused = 0;
  for (int turn = 0; turn < 5'000; ++turn) {
    auto text = lines[random() % lines.size()];
    for (auto hits = 1 + random() % 4; hits > 0; --hits)
      text[random() % text.size()] = static_cast<char>(random());
    if (random() % 4 == 0)
      text.resize(random() % text.size());
    const auto result = parse_event(text, {});
    const auto* parsed = std::get_if<parsed_event>(&result);
    if (!parsed) {
      ++refused;
      continue;
    }
    const auto& ev = parsed->value;
    CAF_REQUIRE(compute_id(ev) == ev.id || compute_id(ev, true) == ev.id);
    CAF_REQUIRE_EQUAL(reason_of(to_json(ev)), "accepted");
  }
  CAF_CHECK(refused > 2'500);
}
