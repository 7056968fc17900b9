#pragma once

// The rules of every event_store, run against each of them. To be included
// last, after the includer has defined
//
//   struct store_world {
//     event_store& store();
//     void crash();                 // the process died; opened again
//     void close(unix_seconds now); // clean stop; opened again
//   };
//
// in namespace purgatory::test.

namespace purgatory::test {

inline event_id id_of(char digit) {
  return event_id{std::string(64, digit)};
}

inline pubkey key_of(char digit) {
  return pubkey{std::string(64, digit)};
}

inline nostr::event event_of(char digit, std::uint32_t kind) {
  nostr::event ev;
  ev.id = id_of(digit);
  ev.author = key_of('a');
  ev.created_at = 1'700'000'000 + digit;
  ev.kind = kind;
  ev.tags = {{"d", "my \xF0\x9F\x9A\x80 repo"}, {"clone", "https://x/r", ""}};
  ev.content = std::string("line\nquote\" \x7f nul", 17) + '\0';
  ev.sig = std::string(128, 'c');
  return ev;
}

inline accept_record accepted(char digit, const std::string& repo,
                              entry_state state = entry_state::hunting,
                              std::uint32_t kind = nostr::kind_state) {
  return {event_of(digit, kind), identifier{repo}, state, provenance::direct,
          1000 + digit};
}

inline bool same(const nostr::event& left, const nostr::event& right) {
  return left.id == right.id && left.author == right.author
         && left.created_at == right.created_at && left.kind == right.kind
         && left.tags == right.tags && left.content == right.content
         && left.sig == right.sig;
}

inline std::string ids_of(const identifier_image& image) {
  std::string digits;
  for (const auto& known : image.events)
    digits += known.event.id.value.front();
  return digits;
}

inline std::string names_of(const std::vector<pending_identifier>& repos) {
  std::string names;
  for (const auto& one : repos)
    names += one.repo.value + ";";
  return names;
}

template <class Action>
bool is_refused(Action action) {
  try {
    action();
  } catch (const std::runtime_error&) {
    return true;
  }
  return false;
}

struct store_rules : store_world {
  void write(const std::vector<journal_record>& records) {
    store().apply(records);
    store().commit();
  }

  identifier_image load(const std::string& repo) {
    return store().load(identifier{repo});
  }

  std::string state_of(char digit) {
    const auto known = store().find(id_of(digit));
    return known ? to_string(known->state) : "unknown";
  }
};

CAF_TEST_FIXTURE_SCOPE(store_rules_scope, store_rules)

CAF_TEST(a new store is empty and was never run) {
  CAF_CHECK(store().last_run().first);
  CAF_CHECK(store().last_run().clean);
  CAF_CHECK(store().pending().empty());
  CAF_CHECK(load("r").events.empty());
  CAF_CHECK(!store().find(id_of('1')));
}

CAF_TEST(an accepted event comes back as it was) {
  const auto record = accepted('1', "r", entry_state::orphan);
  write({record});
  crash();
  const auto image = load("r");
  CAF_CHECK_EQUAL(image.repo.value, "r");
  CAF_REQUIRE_EQUAL(image.events.size(), 1u);
  CAF_CHECK(same(image.events[0].event, record.event));
  CAF_CHECK(image.events[0].state == entry_state::orphan);
  CAF_CHECK(image.events[0].from == provenance::direct);
  CAF_CHECK_EQUAL(image.events[0].arrived, record.arrived);
}

CAF_TEST(events come back in the order of their arrival) {
  write({accepted('3', "r"), accepted('1', "r"), accepted('5', "other")});
  write({accepted('2', "r")});
  CAF_CHECK_EQUAL(ids_of(load("r")), "312");
  crash();
  CAF_CHECK_EQUAL(ids_of(load("r")), "312");
}

CAF_TEST(identifiers differ by each byte) {
  write({accepted('1', "Repo"), accepted('2', "repo"), accepted('3', "repo ")});
  CAF_CHECK_EQUAL(ids_of(load("repo")), "2");
  CAF_CHECK_EQUAL(names_of(store().pending()), "Repo;repo;repo ;");
}

CAF_TEST(a known id changes nothing) {
  write({accepted('1', "r", entry_state::publishing)});
  auto again = accepted('1', "other", entry_state::hunting);
  again.arrived = 9999;
  write({again});
  CAF_CHECK_EQUAL(state_of('1'), "publishing");
  CAF_CHECK(load("r").events.at(0).arrived == 1000 + '1');
  CAF_CHECK(load("other").events.empty());
}

CAF_TEST(a dropped event is accepted anew and arrives last) {
  write({accepted('1', "r"), accepted('2', "r")});
  write({state_record{id_of('1'), entry_state::dropped}});
  CAF_CHECK_EQUAL(names_of(store().pending()), "r;");
  write({accepted('1', "r", entry_state::unsatisfiable)});
  crash();
  CAF_CHECK_EQUAL(state_of('1'), "unsatisfiable");
  CAF_CHECK_EQUAL(ids_of(load("r")), "21");
  CAF_CHECK(!load("r").events.at(1).event.tags.empty());
}

CAF_TEST(what was not committed is gone after a crash) {
  write({accepted('1', "r")});
  store().apply(
    {accepted('2', "r"), state_record{id_of('1'), entry_state::served}});
  CAF_CHECK_EQUAL(ids_of(load("r")), "12");
  crash();
  CAF_CHECK_EQUAL(ids_of(load("r")), "1");
  CAF_CHECK_EQUAL(state_of('1'), "hunting");
}

CAF_TEST(reads see what was applied before it is committed) {
  store().apply({accepted('1', "r")});
  CAF_CHECK_EQUAL(state_of('1'), "hunting");
  CAF_CHECK_EQUAL(names_of(store().pending()), "r;");
  CAF_CHECK_EQUAL(ids_of(load("r")), "1");
}

CAF_TEST(a commit without records is harmless) {
  store().commit();
  store().apply({});
  store().commit();
  CAF_CHECK(store().pending().empty());
}

CAF_TEST(only what waits is pending) {
  write({accepted('1', "waits", entry_state::orphan),
         accepted('2', "future", entry_state::future),
         accepted('3', "stuck", entry_state::unsatisfiable),
         accepted('4', "aligning", entry_state::aligning),
         accepted('5', "publishing", entry_state::publishing),
         accepted('6', "served", entry_state::served),
         accepted('7', "gone", entry_state::deleted)});
  CAF_CHECK_EQUAL(names_of(store().pending()),
                  "aligning;future;publishing;stuck;waits;");
}

CAF_TEST(states move on but a fate is final) {
  write({accepted('1', "r"), accepted('2', "r"), accepted('3', "r"),
         accepted('4', "r")});
  write({state_record{id_of('1'), entry_state::aligning},
         state_record{id_of('1'), entry_state::hunting},
         state_record{id_of('1'), entry_state::served},
         state_record{id_of('2'), entry_state::deleted},
         state_record{id_of('3'), entry_state::refused},
         state_record{id_of('4'), entry_state::superseded}});
  for (const char digit : {'1', '2', '3', '4'})
    write({state_record{id_of(digit), entry_state::hunting},
           state_record{id_of(digit), entry_state::publishing}});
  CAF_CHECK_EQUAL(state_of('1'), "served");
  CAF_CHECK_EQUAL(state_of('2'), "deleted");
  CAF_CHECK_EQUAL(state_of('3'), "refused");
  CAF_CHECK_EQUAL(state_of('4'), "superseded");
  write({state_record{id_of('1'), entry_state::superseded},
         state_record{id_of('2'), entry_state::served},
         state_record{id_of('3'), entry_state::served}});
  CAF_CHECK_EQUAL(state_of('1'), "superseded");
  CAF_CHECK_EQUAL(state_of('2'), "deleted");
  CAF_CHECK_EQUAL(state_of('3'), "served");
}

CAF_TEST(records of an unknown event change nothing) {
  write({state_record{id_of('9'), entry_state::served},
         align_record{id_of('9'), {key_of('a'), identifier{"r"}}, true, {}}});
  CAF_CHECK_EQUAL(state_of('9'), "unknown");
}

CAF_TEST(ended events are known but come without tags and content) {
  write({accepted('1', "r"), accepted('2', "r"), accepted('3', "r"),
         accepted('4', "r")});
  write({state_record{id_of('1'), entry_state::superseded},
         state_record{id_of('2'), entry_state::deleted},
         state_record{id_of('3'), entry_state::refused},
         state_record{id_of('4'), entry_state::dropped}});
  const auto image = load("r");
  CAF_REQUIRE_EQUAL(image.events.size(), 4u);
  for (const auto& known : image.events) {
    CAF_CHECK(known.event.author == key_of('a'));
    CAF_CHECK_EQUAL(known.event.kind, nostr::kind_state);
    CAF_CHECK(known.event.created_at > 1'700'000'000);
    CAF_CHECK(known.event.tags.empty());
    CAF_CHECK(known.event.content.empty());
  }
}

CAF_TEST(served events keep their tags) {
  write({accepted('1', "r", entry_state::served, nostr::kind_announcement),
         accepted('2', "r", entry_state::served, nostr::kind_pull_request)});
  const auto image = load("r");
  CAF_REQUIRE_EQUAL(image.events.size(), 2u);
  CAF_CHECK(
    same(image.events[0].event, event_of('1', nostr::kind_announcement)));
  CAF_CHECK(
    same(image.events[1].event, event_of('2', nostr::kind_pull_request)));
}

CAF_TEST(the last attempt of a unit counts) {
  const unit_key left{key_of('a'), identifier{"r"}};
  const unit_key right{key_of('b'), identifier{"r"}};
  write({attempt_record{right, 7, 9, 77}, attempt_record{left, 1, 1, 20},
         attempt_record{{key_of('a'), identifier{"other"}}, 5, 5, 55}});
  write({attempt_record{left, 2, 2, 60}});
  crash();
  const auto attempts = load("r").attempts;
  CAF_REQUIRE_EQUAL(attempts.size(), 2u);
  CAF_CHECK(attempts[0].unit == left);
  CAF_CHECK_EQUAL(attempts[0].attempts, 2u);
  CAF_CHECK_EQUAL(attempts[0].due, 60);
  CAF_CHECK(attempts[1].unit == right);
  CAF_CHECK_EQUAL(attempts[1].attempts, 7u);
}

CAF_TEST(applying everything twice changes nothing) {
  const tenant here{key_of('a'), identifier{"r"}};
  const std::vector<journal_record> history
    = {accepted('1', "r"), align_record{id_of('1'), here, false, {}},
       align_record{
         id_of('1'),
         here,
         true,
         {{"refs/heads/main", std::nullopt, oid{std::string(40, 'e')}}}},
       state_record{id_of('1'), entry_state::served},
       attempt_record{{key_of('a'), identifier{"r"}}, 3, 3, 80}};
  write(history);
  write(history);
  CAF_CHECK_EQUAL(ids_of(load("r")), "1");
  CAF_CHECK_EQUAL(state_of('1'), "served");
  CAF_CHECK_EQUAL(load("r").attempts.size(), 1u);
}

CAF_TEST(a crash is told from a clean stop) {
  write({accepted('1', "r")});
  close(5000);
  CAF_CHECK(!store().last_run().first);
  CAF_CHECK(store().last_run().clean);
  CAF_CHECK_EQUAL(store().last_run().stopped, 5000);
  crash();
  CAF_CHECK(!store().last_run().first);
  CAF_CHECK(!store().last_run().clean);
  CAF_CHECK_EQUAL(store().last_run().stopped, 0);
  CAF_CHECK_EQUAL(ids_of(load("r")), "1");
}

CAF_TEST(a clean stop commits what was applied) {
  store().apply({accepted('1', "r")});
  close(5000);
  CAF_CHECK_EQUAL(ids_of(load("r")), "1");
}

CAF_TEST(a closed store takes nothing more) {
  store().close_clean(5000);
  CAF_CHECK(is_refused([this] { store().apply({accepted('1', "r")}); }));
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace purgatory::test
