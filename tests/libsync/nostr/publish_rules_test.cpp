#include "libsync/nostr/publish_rules.hpp"

#define CAF_SUITE publish_rules
#include <caf/test/dsl.hpp>

using namespace purgatory::nostr;
using namespace std::chrono_literals;

namespace {

std::string step(bool accepted, const char* message) {
  return to_string(classify_ok(accepted, message));
}

} // namespace

CAF_TEST(accepted means read it back whatever the text) {
  CAF_CHECK_EQUAL(step(true, ""), "read_back");
  CAF_CHECK_EQUAL(step(true, "duplicate: have this event"), "read_back");
  CAF_CHECK_EQUAL(step(true, "error: odd"), "read_back");
}

CAF_TEST(accepted into purgatory again is no release) {
  CAF_CHECK_EQUAL(step(true, "purgatory: won't be served until git data "
                             "arrives"),
                  "retry");
}

CAF_TEST(refusals are sorted by their first word) {
  CAF_CHECK_EQUAL(step(false, "duplicate: x"), "read_back");
  CAF_CHECK_EQUAL(step(false, "replaced: have newer event"), "superseded");
  CAF_CHECK_EQUAL(step(false, "deleted: user requested deletion"), "deleted");
  for (const auto* text : {"invalid: x", "blocked: x", "restricted: x",
                           "mute: x", "pow: x", "auth-required: x"})
    CAF_CHECK_EQUAL(step(false, text), "refused");
  CAF_CHECK_EQUAL(step(false, "rate-limited: slow down"), "wait");
  for (const auto* text : {"error: x", "banned: x", "", "no colon",
                           "blockedx: y", " blocked: z", ": x"})
    CAF_CHECK_EQUAL(step(false, text), "retry");
}

CAF_TEST(retries double from five seconds to an hour) {
  CAF_CHECK(retry_delay(1) == 5s);
  CAF_CHECK(retry_delay(2) == 10s);
  CAF_CHECK(retry_delay(10) == 2560s);
  CAF_CHECK(retry_delay(11) == 1h);
  CAF_CHECK(retry_delay(4'000'000'000U) == 1h);
}

CAF_TEST(the first reconnection comes after one second) {
  CAF_CHECK(reconnect_delay(1) == 1s);
  CAF_CHECK(reconnect_delay(2) == 5s);
  CAF_CHECK(reconnect_delay(3) == 10s);
  CAF_CHECK(reconnect_delay(100) == 1h);
}
