// From offered text to a routed, verified event.
#define CAF_SUITE intake
#include "actors/door.hpp"
#include "actors/intake.hpp"
#include "actors/log.hpp"
#include "actors/metrics.hpp"
#include "libsync/ports.hpp"
#include "tests/support/deterministic.hpp"
#include "tests/support/events.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

using namespace purgatory;
using namespace purgatory::test;
using namespace std::chrono_literals;

namespace {

struct seen_by_fakes {
  std::vector<std::pair<identifier, std::uint32_t>> routed;
  bool answers = true;
  std::map<event_id, identifier> known;
};

supervisor_actor::behavior_type
fake_supervisor(supervisor_actor::stateful_pointer<stateless> self,
                seen_by_fakes* seen) {
  const auto unused = caf::sec::unexpected_message;
  return {
    [=](const event_arrived& m,
        const identifier& repo) -> caf::result<admission> {
      seen->routed.emplace_back(repo, m.event.kind);
      if (!seen->answers)
        return self->make_response_promise<admission>();
      return admission{action::hold, answer_text::held};
    },
    [=](const host_key&) -> caf::result<throttle_actor> { return unused; },
    [=](const tenant&) -> caf::result<git_actor> { return unused; },
    [](const retire&) {},
    [](const set_limits&) { return limits_set{}; },
    [](const list_pending&) { return pending_identifiers{}; },
    [](const loaded&) {},
    [](const host_news&) {},
    [](const plan_changed&) {},
    [](const list_throttles&) { return std::vector<throttle_actor>{}; },
    [](const backoff_tick&) {},
    [](const stop_work&) { return work_stopped{}; },
  };
}

journal_actor::behavior_type
fake_journal(journal_actor::stateful_pointer<stateless>, seen_by_fakes* seen) {
  return {
    [](const record_batch&) { return recorded{}; },
    [](const load_identifier& m) {
      return identifier_image{m.repo, {}, {}};
    },
    [](const list_pending&) { return pending_identifiers{}; },
    [](const list_hosts&) { return known_hosts{}; },
    [](const find_interested&) { return interested{}; },
    [=](const find_event& m) {
      found_event found;
      if (const auto i = seen->known.find(m.id); i != seen->known.end())
        found.event = known_event{m.id, i->second, entry_state::hunting};
      return found;
    },
    [](const commit_batch&) {},
    [](const close_journal&) { return journal_closed{}; },
  };
}

/// Takes every signature but one of eights.
struct fake_verifier : signature_verifier {
  bool verify(const pubkey&, const event_id&,
              const std::string& sig) const override {
    return sig != std::string(128, '8');
  }
};

struct fixture : deterministic {
  seen_by_fakes seen;
  intake_actor in;
  std::ostringstream silence;

  fixture() {
    log::configure({log::level::error, log::format::text, &silence});
    const intake_doors doors{track(sys.spawn(fake_supervisor, &seen)),
                             track(sys.spawn(fake_journal, &seen)),
                             track(sys.spawn(metrics))};
    in = track(sys.spawn(intake, doors, nostr::event_limits{},
                         std::shared_ptr<const signature_verifier>(
                           std::make_shared<fake_verifier>())));
  }

  ~fixture() override { log::configure({}); }

  static std::string text(nostr::event ev) {
    ev.id = nostr::compute_id(ev);
    return nostr::to_json(ev);
  }

  offer_answer take(const std::string& json) {
    return ask<offer_answer>(in, offer{json, provenance::sync});
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(intake_tests, fixture)

CAF_TEST(each held kind goes to its identifier) {
  CAF_CHECK(take(text(announcement(1, key(1), "a", {}))).decision.what
            == action::hold);
  take(text(state(2, key(1), "b", {{"refs/heads/main", object(1).value}})));
  take(text(pull_request(3, key(2), key(1), "c", object(1).value)));
  CAF_REQUIRE_EQUAL(seen.routed.size(), 3u);
  CAF_CHECK(seen.routed[0].first == identifier{"a"});
  CAF_CHECK(seen.routed[1].first == identifier{"b"});
  CAF_CHECK(seen.routed[2].first == identifier{"c"});
}

CAF_TEST(other kinds pass without anybody being asked) {
  const auto answer = take(text(make_event(1, 1, key(1), 1, {})));
  CAF_CHECK(answer.decision.what == action::accept);
  CAF_CHECK(seen.routed.empty());
}

CAF_TEST(
  broken text a wrong id and a bad signature are refused with the reason) {
  const auto is_refused = [this](const std::string& json) {
    const auto answer = take(json);
    return answer.decision.what == action::reject
           && answer.decision.message.starts_with("invalid: ");
  };
  CAF_CHECK(is_refused("{"));
  CAF_CHECK(is_refused(std::string(300 * 1024, ' ')));
  auto ev = announcement(1, key(1), "a", {});
  CAF_CHECK(is_refused(nostr::to_json(ev)));
  ev.sig = std::string(128, '8');
  CAF_CHECK(is_refused(text(ev)));
  CAF_CHECK(seen.routed.empty());
}

CAF_TEST(the id comes back as it was sent) {
  auto ev = announcement(1, key(1), "a", {});
  ev.id = nostr::compute_id(ev);
  auto upper = ev.id.value;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  });
  auto json = nostr::to_json(ev);
  json.replace(json.find(ev.id.value), 64, upper);
  CAF_CHECK(take(json).raw_id == upper);
}

CAF_TEST(an update without repositories goes where its pull request is) {
  const auto update = [](const event_id& pr) {
    return text(make_event(1, nostr::kind_pull_request_update, key(2), 1,
                           {{"E", pr.value}, {"c", object(1).value}}));
  };
  seen.known[id_of(7)] = identifier{"home"};
  take(update(id_of(7)));
  CAF_REQUIRE_EQUAL(seen.routed.size(), 1u);
  CAF_CHECK(seen.routed[0].first == identifier{"home"});
  CAF_CHECK(take(update(id_of(8))).decision.message
            == answer_text::no_reference);
}

CAF_TEST(a deletion passes and is told to every identifier concerned) {
  seen.known[id_of(7)] = identifier{"by_id"};
  const auto answer = take(
    text(make_event(1, nostr::kind_deletion, key(1), 1,
                    {{"e", id_of(7).value},
                     {"e", id_of(8).value},
                     {"a", "30618:" + key(1).value + ":by_coordinate"},
                     {"a", "30618:" + key(2).value + ":of_somebody_else"}})));
  CAF_CHECK(answer.decision.what == action::accept);
  settle();
  CAF_REQUIRE_EQUAL(seen.routed.size(), 2u);
  CAF_CHECK(seen.routed[0].first == identifier{"by_coordinate"});
  CAF_CHECK(seen.routed[1].first == identifier{"by_id"});
}

CAF_TEST(who gets no decision is told to try again) {
  seen.answers = false;
  auto pending = self->request(
    in, caf::infinite,
    offer{text(announcement(1, key(1), "a", {})), provenance::sync});
  advance(29s);
  CAF_CHECK(self->mailbox().empty());
  advance(1s);
  CAF_REQUIRE(!self->mailbox().empty());
  pending.receive(
    [](const offer_answer& answer) {
      CAF_CHECK(answer.decision.message == "error: purgatory busy, try again");
    },
    [](caf::error&) { CAF_FAIL("an error instead of an answer"); });
}

CAF_TEST(a door answers once and a dead intake leaves the answer uncalled) {
  const auto entrance = track(sys.spawn(door, in));
  int calls = 0;
  auto alive = std::make_shared<int>(0);
  const auto ask_door = [&] {
    caf::anon_send(
      entrance,
      foreign_offer{{text(make_event(1, 1, key(1), 1, {})), provenance::direct},
                    [&calls, alive](admission) { ++calls; }});
    settle();
  };
  ask_door();
  CAF_CHECK_EQUAL(calls, 1);
  kill(in);
  ask_door();
  CAF_CHECK_EQUAL(calls, 1);
  CAF_CHECK_EQUAL(alive.use_count(), 1);
}

CAF_TEST_FIXTURE_SCOPE_END()
