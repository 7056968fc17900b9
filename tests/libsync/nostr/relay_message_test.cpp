#include "libsync/nostr/relay_message.hpp"

#include <string>

#define CAF_SUITE relay_message
#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::nostr;

namespace {

template <class T>
T expect_message(std::string_view text) {
  const auto message = parse_relay_message(text);
  CAF_REQUIRE(message.has_value());
  CAF_REQUIRE(std::holds_alternative<T>(*message));
  return std::get<T>(*message);
}

bool is_refused(std::string_view text) {
  return !parse_relay_message(text).has_value();
}

} // namespace

CAF_TEST(an event keeps its text to the byte) {
  const std::string event
    = R"({ "id":"AB","pubkey":"cd", "created_at":7,"kind":30618,)"
      R"("tags":[["d","a],\"b"]],"content":"\u007f[{","sig":""})";
  const auto served
    = expect_message<served_event>(R"( ["EVENT" , "s1",)" + event + " ]\n");
  CAF_CHECK_EQUAL(served.subscription, "s1");
  CAF_CHECK_EQUAL(served.json, event);
  CAF_CHECK_EQUAL(served.id.value, "ab");
  CAF_CHECK_EQUAL(served.author.value, "cd");
  CAF_CHECK_EQUAL(served.created_at, 7);
  CAF_CHECK_EQUAL(served.kind, 30618u);
}

CAF_TEST(an OK gives flag and text and lower case id) {
  const auto no = expect_message<ok_answer>(R"(["OK","AbC",false,"pow: 20"])");
  CAF_CHECK_EQUAL(no.id.value, "abc");
  CAF_CHECK(!no.accepted);
  CAF_CHECK_EQUAL(no.message, "pow: 20");
  const auto yes = expect_message<ok_answer>(R"(["OK","ab",true])");
  CAF_CHECK(yes.accepted);
  CAF_CHECK_EQUAL(yes.message, "");
}

CAF_TEST(the other messages give their texts) {
  CAF_CHECK_EQUAL(expect_message<end_of_stored>(R"(["EOSE","x"])").subscription,
                  "x");
  const auto closed
    = expect_message<subscription_closed>(R"(["CLOSED","x","error: y"])");
  CAF_CHECK_EQUAL(closed.subscription, "x");
  CAF_CHECK_EQUAL(closed.message, "error: y");
  CAF_CHECK_EQUAL(expect_message<notice>(R"(["NOTICE","hi"])").message, "hi");
  CAF_CHECK_EQUAL(expect_message<auth_challenge>(R"(["AUTH","c"])").challenge,
                  "c");
}

CAF_TEST(malformed messages are refused) {
  for (
    const std::string text :
    {"",
     "[",
     "]",
     "[]",
     "{}",
     "null",
     R"(["EOSE"])",
     R"(["EOSE",1])",
     R"(["EOSE","x")",
     R"(["EOSE","x]])",
     R"(["EOSE","x"],["EOSE","y"])",
     R"(["OK","ab","true",""])",
     R"(["OK","ab"])",
     R"(["OK",1,true,""])",
     R"(["EVENT","s"])",
     R"(["EVENT","s",[]])",
     R"(["EVENT",{}])",
     R"(["EVENT","s",{"id":"a","pubkey":"b","kind":1}])",
     R"(["EVENT","s",{"id":"a","pubkey":"b","kind":1,"created_at":-1}])",
     R"(["EVENT","s",{"id":"a","pubkey":"b","kind":1,"created_at":1.5}])",
     R"(["EVENT","s",{"id":"a","pubkey":"b","kind":4294967296,"created_at":1}])",
     R"(["EVENT","s",{"id":"a","pubkey":"b","kind":1,"created_at":1e30}])",
     R"(["NOTICE",}])",
     R"(["COUNT","x",{"count":1}])",
     R"([["EOSE"],"x"])"})
    CAF_CHECK(is_refused(text));
}

CAF_TEST(length and depth and number of elements are bounded) {
  const auto of_size = [](std::size_t size) {
    const std::string head = R"(["NOTICE",")";
    const std::string tail = R"("])";
    return head + std::string(size - head.size() - tail.size(), 'x') + tail;
  };
  CAF_CHECK(!is_refused(of_size(max_relay_message_bytes)));
  CAF_CHECK(is_refused(of_size(max_relay_message_bytes + 1)));
  CAF_CHECK(is_refused(R"(["NOTICE","x",)" + std::string(100'000, '[')
                       + std::string(100'000, ']') + "]"));
  CAF_CHECK(!is_refused(R"(["NOTICE","x",1,2,3,4,5,6])"));
  CAF_CHECK(is_refused(R"(["NOTICE","x",1,2,3,4,5,6,7])"));
}

CAF_TEST(every prefix of a message is refused) {
  const std::string text
    = R"(["EVENT","s",{"id":"a","pubkey":"b","kind":1,"created_at":1}])";
  for (std::size_t length = 0; length < text.size(); ++length)
    CAF_CHECK(is_refused(text.substr(0, length)));
}

CAF_TEST(client messages are written as NIP 01 wants them) {
  CAF_CHECK_EQUAL(event_message("{\"id\":1}"), R"(["EVENT",{"id":1}])");
  CAF_CHECK_EQUAL(close_message("a\"b"), R"(["CLOSE","a\"b"])");
  CAF_CHECK_EQUAL(
    request_message("s", {{.ids = {event_id{"aa"}}},
                          {.kinds = {30617, 5},
                           .authors = {pubkey{"bb"}},
                           .d = "x y",
                           .limit = 1}}),
    R"(["REQ","s",{"ids":["aa"]},)"
    R"({"#d":["x y"],"authors":["bb"],"kinds":[30617,5],"limit":1}])");
}
