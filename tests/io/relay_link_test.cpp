#include "actors/relay_link.hpp"
#include "app/io/relay/ws_client.hpp"
#include "tests/support/relay_process.hpp"
#include "tests/support/signed_event.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#define CAF_SUITE relay_link_io
#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace std::chrono_literals;

namespace {

/// What intake was offered, seen from the test's thread.
struct offers {
  void add(const offer& what) {
    const std::lock_guard lock{mutex};
    seen.push_back(what.json);
  }
  std::size_t count(const std::string& part) {
    const std::lock_guard lock{mutex};
    return static_cast<std::size_t>(
      std::count_if(seen.begin(), seen.end(), [&](const auto& json) {
        return json.find(part) != std::string::npos;
      }));
  }
  std::mutex mutex;
  std::vector<std::string> seen;
};

intake_actor::behavior_type recording_intake(intake_actor::pointer,
                                             std::shared_ptr<offers> into) {
  return {[into](const offer& what) {
    into->add(what);
    return offer_answer{};
  }};
}

caf::actor_system_config& configured(caf::actor_system_config& cfg) {
  cfg.set("scheduler.policy", caf::atom("sharing"));
  cfg.set("scheduler.max-threads", std::size_t{2});
  return cfg;
}

/// The real link over real sockets, with short waits.
struct fixture {
  fixture() {
    config.outbox.answer_deadline = 1s;
    config.outbox.rate_limited_wait = 200ms;
  }

  ~fixture() {
    if (link)
      caf::anon_send_exit(link, caf::exit_reason::user_shutdown);
    if (intake)
      caf::anon_send_exit(intake, caf::exit_reason::user_shutdown);
    link = nullptr;
    intake = nullptr;
    sys.await_all_actors_done();
  }

  void start(const std::string& url) {
    config.url = url;
    link = sys.spawn(relay_link, config, io::make_ws_factory());
  }

  void watch() {
    intake = sys.spawn(recording_intake, offered);
    caf::anon_send(link, watch_relay{}, intake);
  }

  /// Publishes and waits for the final word: its outcome and text.
  std::string release(const nostr::event& what, duration deadline = 60s) {
    caf::scoped_actor self{sys};
    std::string result;
    self->request(link, deadline, publish{what})
      .receive(
        [&](const published& end) {
          result = to_string(end.outcome)
                   + (end.detail.empty() ? "" : " (" + end.detail + ")");
        },
        [&](const caf::error& problem) { result = sys.render(problem); });
    return result;
  }

  nostr::event state(const std::string& d,
                     unix_seconds at = std::time(nullptr)) {
    return test::signed_event(key, nostr::kind_state, {{"d", d}}, "", at);
  }

  caf::actor_system_config cfg;
  caf::actor_system sys{configured(cfg)};
  relay_link_config config;
  relay_link_io link;
  intake_actor intake;
  std::shared_ptr<offers> offered = std::make_shared<offers>();
  io::schnorr_key key = io::schnorr_key::generate();
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(relay_link_io_tests, fixture)

CAF_TEST(a relay of others stores and serves what is released) {
  const test::relay_process relay{{"relay.mjs"}};
  start(relay.url());
  const auto what = state("repo");
  CAF_CHECK_EQUAL(release(what), "released");
  CAF_CHECK_EQUAL(relay.count("stored " + what.id.value), 1u);
  CAF_CHECK_EQUAL(release(what),
                  "released (duplicate: the event already exists)");
  CAF_CHECK_EQUAL(relay.count("stored " + what.id.value), 1u);
}

CAF_TEST(a relay of others that serves a newer state means superseded) {
  const test::relay_process relay{{"relay.mjs"}};
  start(relay.url());
  const auto now = std::time(nullptr);
  CAF_CHECK_EQUAL(release(state("repo", now)), "released");
  const auto older = release(state("repo", now - 10));
  CAF_CHECK_EQUAL(older.substr(0, 10), "superseded");
  CAF_CHECK_EQUAL(release(state("other", now - 10)), "released");
}

CAF_TEST(a relay of others refuses a signature that is wrong) {
  const test::relay_process relay{{"relay.mjs"}};
  start(relay.url());
  auto what = state("repo");
  what.sig.back() = what.sig.back() == '0' ? '1' : '0';
  CAF_CHECK_EQUAL(release(what).substr(0, 16), "refused (invalid");
}

CAF_TEST(announcements and deletions at a relay of others reach intake) {
  const test::relay_process relay{{"relay.mjs"}};
  start(relay.url());
  const auto before
    = test::signed_event(key, nostr::kind_announcement, {{"d", "before"}});
  const auto gone = test::signed_event(key, nostr::kind_pull_request, {});
  CAF_CHECK_EQUAL(release(before), "released");
  CAF_CHECK_EQUAL(release(gone), "released");
  CAF_CHECK_EQUAL(release(test::signed_event(key, nostr::kind_deletion,
                                             {{"e", gone.id.value}})),
                  "released");
  watch();
  CAF_CHECK(test::eventually([&] {
    return offered->count(before.id.value) == 1
           && offered->count(gone.id.value) == 1;
  }));
  const auto live
    = test::signed_event(key, nostr::kind_announcement, {{"d", "live"}});
  CAF_CHECK_EQUAL(release(live), "released");
  CAF_CHECK(
    test::eventually([&] { return offered->count(live.id.value) == 1; }));
  CAF_CHECK_EQUAL(release(state("live")), "released");
  CAF_CHECK_EQUAL(offered->count("30618"), 0u);
}

CAF_TEST(a relay of others that is down at release gets it when it is back) {
  test::relay_process relay{{"relay.mjs"}};
  const auto url = relay.url();
  relay.kill();
  start(url);
  caf::scoped_actor self{sys};
  const auto what = state("repo");
  auto pending = self->request(link, 60s, publish{what});
  relay.restart();
  std::string outcome;
  pending.receive(
    [&](const published& end) { outcome = to_string(end.outcome); },
    [&](const caf::error& problem) { outcome = sys.render(problem); });
  CAF_CHECK_EQUAL(outcome, "released");
  CAF_CHECK_EQUAL(relay.count("stored " + what.id.value), 1u);
}

CAF_TEST(two hundred events are released to a relay of others) {
  const test::relay_process relay{{"relay.mjs"}};
  start(relay.url());
  std::vector<nostr::event> all;
  for (int i = 0; i < 200; ++i) {
    all.push_back(state("repo" + std::to_string(i)));
    caf::anon_send(link, publish{all.back()});
  }
  for (const auto& what : all)
    CAF_CHECK_EQUAL(release(what).substr(0, 8), "released");
  for (const auto& what : all)
    CAF_CHECK_EQUAL(relay.count("stored " + what.id.value), 1u);
}

CAF_TEST(a relay with any single fault gets the event in the end) {
  const std::map<std::string, std::size_t> sendings = {
    {"slow", 1}, {"silent", 2},  {"limited", 2},   {"duplicate", 1},
    {"cut", 2},  {"garbage", 1}, {"forgetful", 2}, {"huge", 2},
  };
  // Each relay with a link of its own, all at once: the waits are real.
  std::map<std::string, std::unique_ptr<test::relay_process>> relays;
  std::map<std::string, relay_link_io> links;
  std::map<std::string, std::string> outcomes;
  const auto what = state("repo");
  caf::scoped_actor self{sys};
  for (const auto& [mode, expected] : sendings) {
    relays[mode] = std::make_unique<test::relay_process>(
      std::vector<std::string>{"scripted-relay.mjs", mode});
    auto own = config;
    own.url = relays[mode]->url();
    links[mode] = sys.spawn(relay_link, own, io::make_ws_factory());
  }
  const auto ask = [&](const relay_link_io& one) {
    return self->request(one, 60s, publish{what});
  };
  std::map<std::string, decltype(ask(link))> pending;
  for (const auto& [mode, one] : links)
    pending.emplace(mode, ask(one));
  for (auto& [mode, answer] : pending)
    answer.receive([to = &outcomes[mode]](
                     const published& end) { *to = to_string(end.outcome); },
                   [&, to = &outcomes[mode]](const caf::error& problem) {
                     *to = sys.render(problem);
                   });
  for (const auto& [mode, expected] : sendings) {
    CAF_MESSAGE(mode);
    CAF_CHECK_EQUAL(outcomes[mode], "released");
    CAF_CHECK_EQUAL(relays[mode]->count("EVENT " + what.id.value), expected);
  }
  for (const auto& [mode, one] : links)
    caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
}

CAF_TEST(a final refusal comes with the text of the relay) {
  const test::relay_process relay{{"scripted-relay.mjs", "refusing"}};
  start(relay.url());
  CAF_CHECK_EQUAL(release(state("repo")), "refused (blocked: not here)");
}

CAF_TEST_FIXTURE_SCOPE_END()
