#include "libsync/nostr/outbox.hpp"
#include "tests/support/seed.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <string>

#define CAF_SUITE outbox
#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::nostr;
using namespace std::chrono_literals;

namespace {

constexpr auto ok_text = "";

event make_event(int number, std::uint32_t kind = kind_pull_request) {
  event result;
  result.id.value = "e" + std::to_string(number);
  result.author.value = "author";
  result.created_at = 1000;
  result.kind = kind;
  result.tags = {{"d", "repo"}};
  return result;
}

/// A relay's side of the conversation, driven by hand. Texts are shortened:
/// `EVENT e1`, `REQ read-1`, `CLOSE read-1`, `connect`, `released e1`.
struct desk {
  explicit desk(outbox_limits limits = {}) : box(limits) {
    note(box.start());
    note(box.opened(now));
    log.clear();
  }

  void publish(int number, std::uint32_t kind = kind_pull_request) {
    note(box.publish(make_event(number, kind), now));
  }
  void ok(int number, bool accepted = true, std::string text = ok_text) {
    note(box.received(
      ok_answer{make_event(number).id, accepted, std::move(text)}, now));
  }
  void serve(const std::string& sub, const event& what) {
    note(box.received(
      served_event{sub, "", what.id, what.author, what.created_at, what.kind},
      now));
  }
  void end(const std::string& sub) {
    note(box.received(end_of_stored{sub}, now));
  }
  void closed(const std::string& sub) {
    note(box.received(subscription_closed{sub, "error: no"}, now));
  }
  void lost() { note(box.lost(now)); }
  void opened() { note(box.opened(now)); }

  /// Lets time pass up to `span`, ticking when the box asks for it.
  void pass(duration span) {
    const auto end = now + span;
    for (int ticks = 0; ticks < 10'000; ++ticks) {
      const auto wake = box.wake_at();
      if (!wake || *wake > end)
        break;
      now = std::max(now, *wake);
      note(box.tick(now));
    }
    now = end;
  }

  std::string take() { return std::exchange(log, ""); }

  void note(const outbox_effects& effects) {
    for (const auto& effect : effects)
      log += (log.empty() ? "" : ", ") + text_of(effect);
  }

  static std::string text_of(const outbox_effect& effect) {
    if (std::holds_alternative<connect_relay>(effect))
      return "connect";
    if (const auto* end = std::get_if<settled>(&effect)) {
      static constexpr std::array names
        = {"released", "superseded", "deleted", "refused"};
      return std::string{names.at(static_cast<std::size_t>(end->outcome))} + " "
             + end->id.value;
    }
    const auto& text = std::get<send_text>(effect).text;
    const auto word = text.substr(2, text.find('"', 2) - 2);
    const auto from
      = word == "EVENT" ? text.find("\"id\":\"") + 6 : text.find(",\"") + 2;
    return word + " " + text.substr(from, text.find('"', from) - from);
  }

  time_point now = time_point{} + 100h;
  outbox box;
  std::string log;
};

} // namespace

CAF_TEST(an accepted event is released when it was read back) {
  desk at;
  at.publish(1);
  CAF_CHECK_EQUAL(at.take(), "EVENT e1");
  at.ok(1);
  CAF_CHECK_EQUAL(at.take(), "REQ read-1");
  at.serve("read-1", make_event(1));
  CAF_CHECK_EQUAL(at.take(), "CLOSE read-1, released e1");
  CAF_CHECK_EQUAL(at.box.size(), 0u);
  CAF_CHECK(!at.box.wake_at().has_value());
}

CAF_TEST(a duplicate is read back too) {
  desk at;
  at.publish(1);
  at.ok(1, true, "duplicate: have this event");
  CAF_CHECK_EQUAL(at.take(), "EVENT e1, REQ read-1");
}

CAF_TEST(refusals end with their outcome) {
  desk at;
  for (int i = 1; i <= 3; ++i)
    at.publish(i);
  at.take();
  at.ok(1, false, "replaced: have newer event");
  at.ok(2, false, "deleted: user requested deletion");
  at.ok(3, false, "invalid: too big");
  CAF_CHECK_EQUAL(at.take(), "superseded e1, deleted e2, refused e3");
}

CAF_TEST(publishing twice joins the event on its way) {
  desk at;
  at.publish(1);
  at.publish(1);
  CAF_CHECK_EQUAL(at.take(), "EVENT e1");
  at.ok(1);
  at.publish(1);
  CAF_CHECK_EQUAL(at.take(), "REQ read-1");
  CAF_CHECK_EQUAL(at.box.size(), 1u);
}

CAF_TEST(a second OK changes nothing) {
  desk at;
  at.publish(1);
  at.ok(1, true, "duplicate: first");
  at.take();
  at.ok(1);
  at.ok(1, false, "invalid: late");
  CAF_CHECK_EQUAL(at.take(), "");
}

CAF_TEST(without an OK the event is sent again after deadline and delay) {
  desk at;
  at.publish(1);
  at.take();
  at.pass(10s);
  CAF_CHECK_EQUAL(at.take(), "");
  at.pass(5s - 1ms);
  CAF_CHECK_EQUAL(at.take(), "");
  at.pass(1ms);
  CAF_CHECK_EQUAL(at.take(), "EVENT e1");
  at.pass(20s - 1ms);
  CAF_CHECK_EQUAL(at.take(), "");
  at.pass(1ms);
  CAF_CHECK_EQUAL(at.take(), "EVENT e1");
}

CAF_TEST(a late OK counts) {
  desk at;
  at.publish(1);
  at.pass(12s);
  at.take();
  at.ok(1);
  CAF_CHECK_EQUAL(at.take(), "REQ read-1");
  at.pass(9s);
  CAF_CHECK_EQUAL(at.take(), "");
}

CAF_TEST(rate limited waits sixty five seconds) {
  desk at;
  at.publish(1);
  at.ok(1, false, "rate-limited: slow down");
  at.take();
  at.pass(65s - 1ms);
  CAF_CHECK_EQUAL(at.take(), "");
  at.pass(1ms);
  CAF_CHECK_EQUAL(at.take(), "EVENT e1");
}

CAF_TEST(an event that is accepted but not served is sent again) {
  desk at;
  at.publish(1);
  at.ok(1);
  at.take();
  at.end("read-1");
  CAF_CHECK_EQUAL(at.take(), "CLOSE read-1");
  at.pass(5s);
  CAF_CHECK_EQUAL(at.take(), "EVENT e1");
  at.ok(1);
  CAF_CHECK_EQUAL(at.take(), "REQ read-2");
  at.serve("read-1", make_event(1));
  at.end("read-1");
  CAF_CHECK_EQUAL(at.take(), "");
  at.closed("read-2");
  CAF_CHECK_EQUAL(at.take(), "");
  at.pass(10s);
  CAF_CHECK_EQUAL(at.take(), "EVENT e1");
}

CAF_TEST(a read back without end is given up) {
  desk at;
  at.publish(1);
  at.ok(1);
  at.take();
  at.pass(10s);
  CAF_CHECK_EQUAL(at.take(), "CLOSE read-1");
  at.pass(5s);
  CAF_CHECK_EQUAL(at.take(), "EVENT e1");
}

CAF_TEST(a newer one of the author served instead means superseded) {
  desk at;
  at.publish(1, kind_state);
  const auto request
    = at.box.received(ok_answer{event_id{"e1"}, true, ""}, at.now);
  CAF_REQUIRE_EQUAL(request.size(), 1u);
  CAF_CHECK_EQUAL(std::get<send_text>(request[0]).text,
                  R"(["REQ","read-1",{"ids":["e1"]},{"#d":["repo"],)"
                  R"("authors":["author"],"kinds":[30618],"limit":1}])");
  at.take();
  auto newer = make_event(2, kind_state);
  newer.created_at = 1001;
  at.serve("read-1", newer);
  CAF_CHECK_EQUAL(at.take(), "");
  at.end("read-1");
  CAF_CHECK_EQUAL(at.take(), "CLOSE read-1, superseded e1");
}

CAF_TEST(an older one or one of a stranger does not supersede) {
  desk at;
  at.publish(5, kind_state);
  at.ok(5);
  at.take();
  auto older = make_event(6, kind_state); // same time, higher id
  at.serve("read-1", older);
  auto stranger = make_event(1, kind_state);
  stranger.author.value = "other";
  stranger.created_at = 5000;
  at.serve("read-1", stranger);
  at.end("read-1");
  CAF_CHECK_EQUAL(at.take(), "CLOSE read-1");
  CAF_CHECK_EQUAL(at.box.size(), 1u);
}

CAF_TEST(what a lost connection carried is sent again in order) {
  desk at;
  at.publish(1);
  at.publish(2);
  at.publish(3);
  at.ok(1);
  at.take();
  at.lost();
  at.publish(4);
  CAF_CHECK_EQUAL(at.take(), "");
  at.pass(1s - 1ms);
  CAF_CHECK_EQUAL(at.take(), "");
  at.pass(1ms);
  CAF_CHECK_EQUAL(at.take(), "connect");
  at.opened();
  CAF_CHECK_EQUAL(at.take(), "EVENT e1");
  at.ok(1);
  CAF_CHECK_EQUAL(at.take(), "REQ read-2, EVENT e2");
  at.serve("read-2", make_event(1));
  CAF_CHECK_EQUAL(at.take(), "CLOSE read-2, released e1, EVENT e3");
}

CAF_TEST(a relay that stays down is asked ever more rarely) {
  desk at;
  at.lost();
  for (const auto delay : {1s, 5s, 10s, 20s, 40s}) {
    at.pass(delay - 1ms);
    CAF_CHECK_EQUAL(at.take(), "");
    at.pass(1ms);
    CAF_CHECK_EQUAL(at.take(), "connect");
    CAF_CHECK(!at.box.wake_at().has_value());
    at.lost();
  }
}

CAF_TEST(a good connection makes the next reconnection quick again) {
  desk at;
  for (int i = 0; i < 5; ++i)
    at.lost();
  at.pass(1h);
  at.opened();
  at.pass(1min);
  at.take();
  at.lost();
  at.pass(1s);
  CAF_CHECK_EQUAL(at.take(), "connect");
}

CAF_TEST(an event that kills connections does not keep the others back) {
  desk at;
  at.publish(1); // the relay hangs up on it
  at.publish(2);
  bool released = false;
  for (int round = 0; round < 4 && !released; ++round) {
    at.lost();
    at.pass(1h);
    at.opened();
    if (at.take().ends_with("EVENT e2")) {
      at.ok(2);
      released = at.take().starts_with("REQ read-1");
    }
  }
  CAF_CHECK(released);
}

CAF_TEST(no more than the limit is in flight and few read backs) {
  desk at{{.in_flight = 3, .read_backs = 1}};
  for (int i = 1; i <= 5; ++i)
    at.publish(i);
  CAF_CHECK_EQUAL(at.take(), "EVENT e1, EVENT e2, EVENT e3");
  at.ok(2);
  at.ok(1);
  CAF_CHECK_EQUAL(at.take(), "REQ read-1");
  at.serve("read-1", make_event(2));
  CAF_CHECK_EQUAL(at.take(), "CLOSE read-1, released e2, REQ read-2, EVENT e4");
}

namespace {

/// A relay that answers as it likes, over a connection that breaks at will.
struct moody_relay {
  explicit moody_relay(std::uint64_t seed) : random(seed) {
    todo = box.start();
  }

  std::uint64_t roll(std::uint64_t sides) { return random() % sides; }

  void add(const outbox_effects& effects) {
    todo.insert(todo.end(), effects.begin(), effects.end());
  }

  void step() {
    if (published < wanted && roll(4) == 0)
      add(box.publish(make_event(published++), now));
    if (up && cuts_left > 0 && roll(60) == 0)
      return cut();
    if (todo.empty())
      return sleep();
    const auto effect = todo.front();
    todo.erase(todo.begin());
    std::visit([this](const auto& what) { perform(what); }, effect);
  }

  void cut() {
    --cuts_left;
    up = false;
    // What was on its way is gone, what was settled is not.
    std::erase_if(todo, [](const outbox_effect& effect) {
      return !std::holds_alternative<settled>(effect);
    });
    add(box.lost(now));
  }

  void sleep() {
    const auto wake = box.wake_at();
    if (!wake)
      return;
    now = std::max(now, *wake);
    add(box.tick(now));
  }

  void perform(const connect_relay&) {
    CAF_REQUIRE(!up);
    up = roll(3) != 0;
    add(up ? box.opened(now) : box.lost(now));
  }

  void perform(const settled& end) {
    CAF_CHECK_EQUAL(to_string_of(end.outcome), "released");
    ++ends[end.id.value];
  }

  void perform(const send_text& sent) {
    const auto line = desk::text_of(sent);
    const auto name = line.substr(line.find(' ') + 1);
    if (line.starts_with("EVENT"))
      answer_event(event_id{name});
    else if (line.starts_with("REQ"))
      answer_request(name, sent.text);
  }

  void answer_event(const event_id& id) {
    const auto mood = roll(8);
    if (mood == 0)
      return;
    if (mood == 1)
      return add(box.received(ok_answer{id, false, "rate-limited: x"}, now));
    if (mood == 2)
      return add(box.received(ok_answer{id, false, "error: x"}, now));
    if (mood > 3)
      stored.insert(id);
    add(box.received(ok_answer{id, true, ""}, now));
  }

  void answer_request(const std::string& sub, const std::string& text) {
    const auto from = text.find("[\"e") + 2;
    const event_id id{text.substr(from, text.find('"', from) - from)};
    if (stored.count(id) > 0)
      add(box.received(
        served_event{sub, "", id, pubkey{"author"}, 1000, kind_pull_request},
        now));
    if (roll(5) != 0)
      add(box.received(end_of_stored{sub}, now));
  }

  static std::string to_string_of(publish_outcome outcome) {
    return desk::text_of(settled{event_id{""}, outcome, ""}).substr(0, 8);
  }

  std::mt19937_64 random;
  time_point now = time_point{} + 1h;
  outbox box{{.in_flight = 4, .read_backs = 2}};
  outbox_effects todo;
  std::map<std::string, int> ends;
  std::set<event_id> stored;
  bool up = false;
  int wanted = 30;
  int published = 0;
  int cuts_left = 40;
};

} // namespace

CAF_TEST(every event is released once by a relay of any mood) {
  const auto first = test::first_seed();
  for (auto seed = first; seed < first + 200; ++seed) {
    moody_relay relay{seed};
    for (int step = 0; step < 20'000 && relay.ends.size() < 30; ++step)
      relay.step();
    if (relay.ends.size() != 30)
      std::cerr << "seed " << seed << '\n';
    CAF_REQUIRE_EQUAL(relay.ends.size(), 30u);
    CAF_REQUIRE_EQUAL(relay.box.size(), 0u);
    for (const auto& [id, count] : relay.ends)
      CAF_REQUIRE_EQUAL(count, 1);
  }
}
