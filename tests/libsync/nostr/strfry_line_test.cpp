#define CAF_SUITE strfry_line

#include "libsync/nostr/parse.hpp"
#include "libsync/nostr/strfry_line.hpp"
#include "tests/support/fixtures.hpp"
#include "tests/support/nostr_events.hpp"

#include <caf/test/dsl.hpp>

#include <string>

using namespace purgatory;
using namespace purgatory::nostr;
using purgatory::test::fixture_lines;
using purgatory::test::unsigned_event;

namespace {

strfry_request good(const std::string& line) {
  auto result = parse_strfry_request(line);
  if (const auto* failure = std::get_if<strfry_failure>(&result))
    CAF_FAIL("refused: " << failure->reason);
  return std::get<strfry_request>(std::move(result));
}

strfry_failure bad(const std::string& line) {
  auto result = parse_strfry_request(line);
  CAF_REQUIRE(std::holds_alternative<strfry_failure>(result));
  return std::get<strfry_failure>(std::move(result));
}

const std::string line_problem
  = "line is not one JSON object without duplicate members";
const std::string event_problem
  = "event is not a JSON object without duplicate members";

} // namespace

CAF_TEST(a_request_as_strfry_sends_it_is_read) {
  const auto event = unsigned_event(30618, {{"d", "x"}}, "\"}\\");
  const auto json = to_json(event);
  const auto request
    = good("{\"event\":" + json
           + ",\"receivedAt\":1700000000,\"sourceInfo\":\"1.2.3.4\","
             "\"sourceType\":\"IP4\",\"type\":\"new\"}\n");
  CAF_CHECK_EQUAL(request.raw_id, event.id.value);
  CAF_CHECK_EQUAL(request.event_json, json);
  CAF_CHECK(request.kind == 30618u);
  CAF_CHECK_EQUAL(request.type, "new");
  CAF_CHECK_EQUAL(request.source_type, "IP4");
  CAF_CHECK_EQUAL(request.source_info, "1.2.3.4");
}

CAF_TEST(events_pass_through_a_request_unchanged) {
  for (const auto& json : fixture_lines("events/signed.jsonl")) {
    const auto request
      = good(format_strfry_request(json, "Stream", "wss://a\"b", 1700000000));
    CAF_CHECK_EQUAL(request.event_json, json);
    CAF_CHECK_EQUAL(request.source_type, "Stream");
    CAF_CHECK_EQUAL(request.source_info, "wss://a\"b");
    const auto parsed = parse_event(request.event_json, {});
    CAF_REQUIRE(std::holds_alternative<parsed_event>(parsed));
    CAF_CHECK_EQUAL(request.raw_id, std::get<parsed_event>(parsed).raw_id);
  }
}

CAF_TEST(a_request_is_one_line_whatever_the_layout_of_the_event) {
  const auto line
    = format_strfry_request("{\n\"id\":\r\n\"ab\",\n\"kind\": 1}\n", "", "", 5);
  CAF_CHECK_EQUAL(line.find_first_of("\r\n"), std::string::npos);
  CAF_CHECK_EQUAL(good(line).raw_id, "ab");
  CAF_CHECK(good(line).kind == 1u);
}

CAF_TEST(ids_are_read_verbatim) {
  const std::pair<std::string, std::string> cases[] = {
    {R"("ABcd")", "ABcd"},
    {R"("a\u0062\n\"")", "ab\n\""},
    {R"("")", ""},
    {R"("\u00e9🚀")", "\u00e9🚀"},
    {"5", ""},
    {"null", ""},
    {R"("\ud83d")", ""},
    {R"({"id":"x"})", ""},
  };
  for (const auto& [json, id] : cases)
    CAF_CHECK_EQUAL(
      good(R"({"event":{"id":)" + json + R"(},"type":"new"})").raw_id, id);
}

CAF_TEST(kinds_that_are_no_plain_number_are_unknown) {
  const auto kind_of = [](const std::string& json) {
    return good(R"({"type":"new","event":{"kind":)" + json + "}}").kind;
  };
  CAF_CHECK(kind_of("30617") == 30617u);
  CAF_CHECK(kind_of("0") == 0u);
  for (const auto* json :
       {"30617.0", "3e4", "-1", "\"30617\"", "null", "[1]", "99999999999"})
    CAF_CHECK(!kind_of(json));
}

CAF_TEST(a_faulty_line_is_named_and_yields_the_id_if_it_can_be_read) {
  struct faulty {
    std::string line;
    std::string reason;
    std::string id;
  };
  const faulty cases[] = {
    {"", line_problem, ""},
    {"nonsense", line_problem, ""},
    {"[]", line_problem, ""},
    {"{", line_problem, ""},
    {"{}", "line has no event", ""},
    {"{\"type\":\"new\"}", "line has no event", ""},
    {R"({"event":{"id":"ab"}})", "line has no type", "ab"},
    {R"({"event":{"id":"ab"},"type":""})", "line has no type", "ab"},
    {R"({"event":{"id":"ab"},"type":5})", "line has no type", "ab"},
    {R"({"event":[],"type":"new"})", event_problem, ""},
    {R"({"event":"x","type":"new"})", event_problem, ""},
    {R"({"event":{"id":"ab","id":"cd"},"type":"new"})", event_problem, "ab"},
    {R"({"event":{"id":"ab","kind":1,"kind":30617},"type":"new"})",
     event_problem, "ab"},
    {R"({"event":{"id":"ab",},"type":"new"})", event_problem, "ab"},
    {R"({"event":{"id":"ab"},"event":{"id":"cd"},"type":"new"})", line_problem,
     "ab"},
    {R"({"event":{"id":"ab"},"type":"new"} x)", line_problem, "ab"},
    {R"({"event":{"id":"ab"},"type":"new")", line_problem, "ab"},
    {R"({"event":{"content":"x","id":"ab","ki)", line_problem, "ab"},
    {R"({"event":{"content":"x","id":"ab)", line_problem, ""},
    {R"({"event":{"id":"ab"},"type":"new","sourceType":1})",
     "source is not a string", "ab"},
    {R"({"event":{"id":"ab"},"type":"new","sourceInfo":{}})",
     "source is not a string", "ab"},
    {"{\"event\":{\"id\":\"ab\"},\"type\":\"new\",\"sourceInfo\":\"\xff\"}",
     "source is not a string", "ab"},
    {"{\"event\":" + std::string(2'000'000, '['), line_problem, ""},
    {"{\"event\":{\"id\":\"ab\",\"x\":" + std::string(2'000'000, '{'),
     line_problem, "ab"},
  };
  for (const auto& [line, reason, id] : cases) {
    const auto failure = bad(line);
    CAF_CHECK_EQUAL(failure.reason, reason);
    CAF_CHECK_EQUAL(failure.raw_id, id);
  }
}

CAF_TEST(unknown_members_of_a_line_are_ignored) {
  const auto request
    = good(R"({"authed":"k","x":{"event":{"id":"no"}},"event":{"id":"ab"},)"
           R"("type":"new","y":[1,"}",{}]})");
  CAF_CHECK_EQUAL(request.raw_id, "ab");
  CAF_CHECK_EQUAL(request.source_type, "");
}

CAF_TEST(answers_are_written_and_read) {
  CAF_CHECK_EQUAL(
    format_strfry_answer({"AB", strfry_action::shadow_reject, "purgatory: x"}),
    R"({"action":"shadowReject","id":"AB","msg":"purgatory: x"})");
  CAF_CHECK_EQUAL(format_strfry_answer({"ab", strfry_action::accept, ""}),
                  R"({"action":"accept","id":"ab"})");
  for (const auto action : {strfry_action::accept, strfry_action::reject,
                            strfry_action::shadow_reject})
    for (const std::string text : {"", "a\"\n\\\x01", "\u00e9🚀"}) {
      const strfry_answer answer{text, action, text};
      CAF_CHECK(parse_strfry_answer(format_strfry_answer(answer)) == answer);
    }
}

CAF_TEST(texts_that_are_no_answer_are_refused) {
  for (const auto* line :
       {"", "x", "[]", "{}", R"({"id":"a"})", R"({"action":"accept"})",
        R"({"id":5,"action":"accept"})", R"({"id":"a","action":"Accept"})",
        R"({"id":"a","action":"accept","msg":5})",
        R"({"id":"a","action":"accept","id":"b"})",
        R"({"id":"a","action":"accept")"})
    CAF_CHECK(!parse_strfry_answer(line));
}

CAF_TEST(answers_stay_below_the_limit_and_keep_whole_characters) {
  const std::string id(64, 'a');
  for (const std::string piece : {"x", "\u00e9", "🚀", "\x01", "\"", "a🚀"}) {
    std::string message;
    while (message.size() < 60'000)
      message += piece;
    for (std::size_t skip = 0; skip < 4; ++skip) {
      const auto line = format_strfry_answer(
        {id, strfry_action::reject, std::string(skip, 'y') + message});
      CAF_CHECK(line.size() < max_strfry_answer_bytes);
      CAF_CHECK(line.size() > max_strfry_answer_bytes / 2);
      const auto answer = parse_strfry_answer(line); // needs valid UTF-8
      CAF_REQUIRE(answer.has_value());
      CAF_CHECK_EQUAL(answer->raw_id, id);
      CAF_CHECK(message.starts_with(answer->message.substr(skip)));
    }
  }
}

CAF_TEST(an_id_too_long_for_any_answer_is_answered_as_empty) {
  CAF_CHECK_EQUAL(
    format_strfry_answer({std::string(5000, 'a'), strfry_action::reject, "m"}),
    R"({"action":"reject","id":"","msg":"m"})");
}
