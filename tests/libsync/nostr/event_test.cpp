#define CAF_SUITE nostr_event

#include "libsync/nostr/event.hpp"
#include "tests/support/nostr_events.hpp"

#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::nostr;
using purgatory::test::unsigned_event;

CAF_TEST(four_kinds_are_held) {
  for (const std::uint32_t kind : {30617, 30618, 1618, 1619})
    CAF_CHECK(is_held_kind(kind));
  for (const std::uint32_t kind : {0, 1, 5, 62, 1617, 1620, 30616, 30619})
    CAF_CHECK(!is_held_kind(kind));
}

CAF_TEST(later_is_newer_and_on_a_tie_the_lowest_id) {
  auto left = unsigned_event(30618, {});
  auto right = left;
  left.id.value = std::string(64, '1');
  right.id.value = std::string(64, '2');
  CAF_CHECK(is_newer(left, right));
  CAF_CHECK(!is_newer(right, left));
  CAF_CHECK(!is_newer(left, left));
  ++right.created_at;
  CAF_CHECK(is_newer(right, left));
  CAF_CHECK(!is_newer(left, right));
}

CAF_TEST(first_value_is_that_of_the_first_tag_of_the_name) {
  const auto ev
    = unsigned_event(1, {{}, {"e"}, {"x", "1", "2"}, {"x", "3"}, {"e", "4"}});
  CAF_CHECK_EQUAL(first_value(ev, "x"), "1");
  CAF_CHECK_EQUAL(first_value(ev, "e"), "");
  CAF_CHECK_EQUAL(first_value(ev, "y"), "");
  CAF_CHECK_EQUAL(first_value(ev, ""), "");
}

CAF_TEST(json_holds_exactly_the_seven_fields) {
  auto ev = unsigned_event(1, {{"t", "a\"b"}, {}}, "c\n");
  CAF_CHECK_EQUAL(to_json(ev), "{\"id\":\"" + ev.id.value + "\",\"pubkey\":\""
                                 + ev.author.value
                                 + "\",\"created_at\":1760000000,\"kind\":1,"
                                   "\"tags\":[[\"t\",\"a\\\"b\"],[]],"
                                   "\"content\":\"c\\n\",\"sig\":\""
                                 + ev.sig + "\"}");
}
