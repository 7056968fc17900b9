#include "actors/relay_link.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

#define CAF_SUITE relay_link
#include "tests/support/deterministic.hpp"

using namespace purgatory;
using namespace std::chrono_literals;

namespace {

/// The far end of the link, driven by hand.
struct fake_relay {
  struct socket final : relay_socket {
    explicit socket(fake_relay* to) : relay(to) {}
    ~socket() override { relay->open = false; }
    void send(std::string message) override {
      relay->sent.push_back(std::move(message));
    }
    void permit(std::size_t messages) override { relay->permitted += messages; }
    fake_relay* relay;
  };

  relay_socket_factory factory() {
    return [this](const std::string& url, relay_socket_events report) {
      urls.push_back(url);
      events = std::move(report);
      open = true;
      permitted = 0;
      return std::make_unique<socket>(this);
    };
  }

  std::vector<std::string> urls;
  std::vector<std::string> sent;
  std::size_t permitted = 0;
  bool open = false;
  relay_socket_events events;
};

struct fake_intake_state {
  static inline const char* name = "fake_intake";
  explicit fake_intake_state(intake_actor::pointer) {}
  std::vector<offer> offers;
  std::vector<caf::typed_response_promise<offer_answer>> unanswered;
};

intake_actor::behavior_type
fake_intake(intake_actor::stateful_pointer<fake_intake_state> self,
            bool answers) {
  return {[=](const offer& offered) -> caf::result<offer_answer> {
    self->state.offers.push_back(offered);
    if (answers)
      return offer_answer{};
    auto promise = self->make_response_promise<offer_answer>();
    self->state.unanswered.push_back(promise);
    return promise;
  }};
}

/// Keeps the final word of each release.
using client_actor = caf::typed_actor<caf::reacts_to<publish>>;

struct client_state {
  static inline const char* name = "client";
  explicit client_state(client_actor::pointer) {}
  std::vector<published> ends;
};

client_actor::behavior_type
client(client_actor::stateful_pointer<client_state> self, relay_link_actor to) {
  return {[=](const publish& what) {
    self->request(to, caf::infinite, what).then([=](const published& end) {
      self->state.ends.push_back(end);
    });
  }};
}

nostr::event make_event(int number) {
  nostr::event result;
  result.id.value = std::string(63, 'a') + std::to_string(number);
  result.author.value = std::string(64, 'b');
  result.created_at = 1000;
  result.kind = nostr::kind_pull_request;
  result.sig = std::string(128, 'c');
  return result;
}

struct fixture : test::deterministic {
  relay_link_io start(relay_link_config config = {}) {
    config.url = "ws://relay.example";
    link = track(sys.spawn(relay_link, config, relay.factory()));
    one = track(sys.spawn(client, relay_link_actor{link}));
    settle();
    return link;
  }

  void open() {
    relay.events.opened();
    settle();
  }

  void publish_event(int number) {
    caf::anon_send(one, publish{make_event(number)});
    settle();
  }

  void hear(const std::string& text) {
    relay.events.text(text);
    settle();
  }

  void ok(int number, bool accepted, const std::string& text) {
    hear(
      nlohmann::json{"OK", make_event(number).id.value, accepted, text}.dump());
  }

  void serve(const std::string& sub, const nostr::event& what) {
    hear("[\"EVENT\",\"" + sub + "\"," + nostr::to_json(what) + "]");
  }

  void lose() {
    relay.events.closed("cut");
    settle();
  }

  /// What was sent since the last call: `EVENT 1`, `REQ read-1`, ….
  std::string sent() {
    std::string result;
    for (const auto& text : std::exchange(relay.sent, {})) {
      const auto message = nlohmann::json::parse(text);
      const auto word = message[0].get<std::string>();
      const auto what = message[1].is_object()
                          ? message[1]["id"].get<std::string>().substr(63)
                          : message[1].get<std::string>();
      result += (result.empty() ? "" : ", ") + word + " " + what;
    }
    return result;
  }

  std::string ended() {
    std::string result;
    auto& ends = state_of<client_state>(one).ends;
    for (const auto& end : std::exchange(ends, {}))
      result += (result.empty() ? "" : ", ")
                + (to_string(end.outcome) + (" " + end.id.value.substr(63)))
                + (end.detail.empty() ? "" : " (" + end.detail + ")");
    return result;
  }

  intake_actor watch(bool answers = true) {
    auto intake = track(sys.spawn(fake_intake, answers));
    caf::anon_send(link, watch_relay{}, intake);
    settle();
    return intake;
  }

  fake_relay relay;
  relay_link_io link;
  client_actor one;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(relay_link_tests, fixture)

CAF_TEST(an event is released after OK and read back) {
  start();
  open();
  publish_event(1);
  CAF_CHECK_EQUAL(sent(), "EVENT 1");
  ok(1, true, "");
  CAF_CHECK_EQUAL(sent(), "REQ read-1");
  CAF_CHECK_EQUAL(ended(), "");
  serve("read-1", make_event(1));
  CAF_CHECK_EQUAL(ended(), "released 1");
  CAF_CHECK_EQUAL(sent(), "CLOSE read-1");
}

CAF_TEST(a duplicate is released after read back) {
  start();
  open();
  publish_event(1);
  ok(1, true, "duplicate: have this event");
  CAF_CHECK_EQUAL(sent(), "EVENT 1, REQ read-1");
  serve("read-1", make_event(1));
  CAF_CHECK_EQUAL(ended(), "released 1 (duplicate: have this event)");
}

CAF_TEST(every final refusal reaches the publisher with its text) {
  start();
  open();
  const std::vector<std::pair<std::string, std::string>> cases = {
    {"replaced: have newer event", "superseded"},
    {"deleted: user requested deletion", "deleted"},
    {"invalid: event too large", "refused"},
    {"blocked: not welcome", "refused"},
    {"restricted: members only", "refused"},
    {"pow: 28 bits", "refused"},
    {"auth-required: who are you", "refused"},
  };
  for (const auto& [text, outcome] : cases) {
    publish_event(1);
    ok(1, false, text);
    CAF_CHECK_EQUAL(ended(), outcome + " 1 (" + text + ")");
  }
}

CAF_TEST(an error is retried after five then ten seconds) {
  start();
  open();
  publish_event(1);
  sent();
  ok(1, false, "error: database is busy");
  advance(4999ms);
  CAF_CHECK_EQUAL(sent(), "");
  advance(1ms);
  CAF_CHECK_EQUAL(sent(), "EVENT 1");
  ok(1, false, "what is this");
  advance(9999ms);
  CAF_CHECK_EQUAL(sent(), "");
  advance(1ms);
  CAF_CHECK_EQUAL(sent(), "EVENT 1");
  CAF_CHECK_EQUAL(ended(), "");
}

CAF_TEST(rate limited waits sixty five seconds) {
  start();
  open();
  publish_event(1);
  sent();
  ok(1, false, "rate-limited: slow down");
  advance(64999ms);
  CAF_CHECK_EQUAL(sent(), "");
  advance(1ms);
  CAF_CHECK_EQUAL(sent(), "EVENT 1");
}

CAF_TEST(no OK within ten seconds counts as a failure) {
  start();
  open();
  publish_event(1);
  sent();
  advance(14999ms);
  CAF_CHECK_EQUAL(sent(), "");
  advance(1ms);
  CAF_CHECK_EQUAL(sent(), "EVENT 1");
}

CAF_TEST(accepted but not served is tried again) {
  start();
  open();
  publish_event(1);
  ok(1, true, "");
  sent();
  hear(R"(["EOSE","read-1"])");
  CAF_CHECK_EQUAL(sent(), "CLOSE read-1");
  CAF_CHECK_EQUAL(ended(), "");
  advance(5s);
  CAF_CHECK_EQUAL(sent(), "EVENT 1");
}

CAF_TEST(two publishers of one event hear the end of one sending) {
  start();
  open();
  publish_event(1);
  publish_event(1);
  CAF_CHECK_EQUAL(sent(), "EVENT 1");
  ok(1, true, "");
  publish_event(1);
  serve("read-1", make_event(1));
  CAF_CHECK_EQUAL(ended(), "released 1, released 1, released 1");
  CAF_CHECK_EQUAL(sent(), "REQ read-1, CLOSE read-1");
}

CAF_TEST(a relay that is down at release gets the event when it is back) {
  start();
  lose();
  publish_event(1);
  CAF_CHECK_EQUAL(relay.urls.size(), 1u);
  CAF_CHECK(!relay.open);
  advance(1s);
  CAF_CHECK_EQUAL(relay.urls.size(), 2u);
  lose();
  advance(4999ms);
  CAF_CHECK_EQUAL(relay.urls.size(), 2u);
  advance(1ms);
  CAF_CHECK_EQUAL(relay.urls.size(), 3u);
  open();
  CAF_CHECK_EQUAL(sent(), "EVENT 1");
  ok(1, true, "");
  serve("read-1", make_event(1));
  CAF_CHECK_EQUAL(ended(), "released 1");
}

CAF_TEST(a connection cut in the middle loses nothing) {
  start();
  open();
  for (int i = 1; i <= 3; ++i)
    publish_event(i);
  ok(1, true, "");
  CAF_CHECK_EQUAL(sent(), "EVENT 1, EVENT 2, EVENT 3, REQ read-1");
  lose();
  advance(1s);
  open();
  for (int i = 1; i <= 3; ++i) {
    ok(i, true, "");
    serve("read-" + std::to_string(i + 1), make_event(i));
  }
  CAF_CHECK_EQUAL(ended(), "released 1, released 2, released 3");
}

CAF_TEST(words of an earlier connection are ignored) {
  start();
  open();
  publish_event(1);
  const auto old = relay.events;
  lose();
  advance(1s);
  open();
  sent();
  old.text(
    nlohmann::json{"OK", make_event(1).id.value, false, "invalid: x"}.dump());
  old.closed("again");
  settle();
  CAF_CHECK_EQUAL(ended(), "");
  CAF_CHECK(relay.open);
}

CAF_TEST(what the relay serves is offered to intake) {
  start();
  open();
  const auto intake = watch();
  const auto request = nlohmann::json::parse(relay.sent.at(0));
  CAF_CHECK_EQUAL(request.dump(), R"(["REQ","watch",{"kinds":[30617,5]}])");
  serve("watch", make_event(1));
  serve("other", make_event(2));
  auto& offers = state_of<fake_intake_state>(intake).offers;
  CAF_REQUIRE_EQUAL(offers.size(), 1u);
  CAF_CHECK_EQUAL(offers[0].json, nostr::to_json(make_event(1)));
  CAF_CHECK(offers[0].from == provenance::served);
}

CAF_TEST(the live view is asked for again on every connection) {
  start();
  watch();
  CAF_CHECK_EQUAL(sent(), "");
  open();
  CAF_CHECK_EQUAL(sent(), "REQ watch");
  lose();
  advance(1s);
  open();
  CAF_CHECK_EQUAL(sent(), "REQ watch");
  hear(R"(["CLOSED","watch","error: shutting down"])");
  advance(59999ms);
  CAF_CHECK_EQUAL(sent(), "");
  advance(1ms);
  CAF_CHECK_EQUAL(sent(), "REQ watch");
}

CAF_TEST(the end of what was stored is told once) {
  int ends = 0;
  relay_link_config config;
  config.history = track(
    sys.spawn([&ends](history_sink::pointer) -> history_sink::behavior_type {
      return {[&ends](const history_read&) { ++ends; }};
    }));
  start(config);
  open();
  watch();
  hear(R"(["EOSE","read-1"])");
  CAF_CHECK_EQUAL(ends, 0);
  hear(R"(["EOSE","watch"])");
  CAF_CHECK_EQUAL(ends, 1);
  lose();
  advance(1s);
  open();
  hear(R"(["EOSE","watch"])");
  CAF_CHECK_EQUAL(ends, 1);
}

CAF_TEST(a slow intake stops the reading and a dead one does not ) {
  relay_link_config config;
  config.max_unconfirmed = 3;
  start(config);
  open();
  const auto intake = watch(false);
  CAF_CHECK_EQUAL(relay.permitted, 3u);
  for (int i = 1; i <= 3; ++i)
    serve("watch", make_event(i));
  CAF_CHECK_EQUAL(relay.permitted, 3u);
  hear("nonsense");
  hear(R"(["NOTICE","hello"])");
  CAF_CHECK_EQUAL(relay.permitted, 5u);
  kill(intake);
  CAF_CHECK_EQUAL(relay.permitted, 8u);
  serve("watch", make_event(4));
  CAF_CHECK_EQUAL(relay.permitted, 9u);
  const auto next = watch();
  serve("watch", make_event(5));
  CAF_CHECK_EQUAL(relay.permitted, 10u);
  CAF_CHECK_EQUAL(state_of<fake_intake_state>(next).offers.size(), 1u);
}

CAF_TEST(many releases arm few timers) {
  start();
  open();
  for (int i = 1; i <= 9; ++i) {
    publish_event(i);
    ok(i, true, "");
    advance(1ms);
  }
  CAF_CHECK(pending_timers() <= 2);
}

CAF_TEST_FIXTURE_SCOPE_END()
