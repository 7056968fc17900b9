#pragma once

// The rules of every event_store about the long horizon. To be included after
// store_checks.hpp.

namespace purgatory::test {

inline unit_key unit_in(const std::string& repo) {
  return {key_of('a'), identifier{repo}};
}

inline pair_memory some_memory() {
  pair_memory memory;
  memory.last = fetch_class::not_here;
  memory.failures = 3;
  memory.next_allowed = 77;
  memory.score = 0.375;
  memory.scored_at = -5;
  memory.last_ok = 12;
  memory.host_probes = std::uint64_t{1} << 40U;
  memory.recent = {1, 2, 3};
  memory.absent = {{oid{std::string(40, 'e')}, 2, 99}};
  return memory;
}

CAF_TEST_FIXTURE_SCOPE(store_horizon_scope, store_rules)

CAF_TEST(the horizon of an event comes back and its last one counts) {
  auto record = accepted('1', "r");
  record.horizon = {5, 2, 1800, std::nullopt, 0};
  write({record});
  crash();
  CAF_CHECK(load("r").events.at(0).horizon == record.horizon);
  const entry_horizon parked{5, 2, 1800, 1900, 3};
  write({state_record{id_of('1'), entry_state::parked},
         horizon_record{id_of('1'), parked}});
  crash();
  CAF_CHECK(load("r").events.at(0).horizon == parked);
  CAF_CHECK_EQUAL(state_of('1'), "parked");
  CAF_CHECK_EQUAL(names_of(store().pending()), "r;");
}

CAF_TEST(what a unit remembers of a url lasts as long as something waits) {
  const pair_record pair{unit_in("r"), remote_url{"https://x/r.git"},
                         some_memory()};
  write({pair});
  CAF_CHECK(load("r").pairs.empty());
  write({accepted('1', "r"), pair});
  crash();
  CAF_REQUIRE_EQUAL(load("r").pairs.size(), 1u);
  CAF_CHECK(load("r").pairs[0] == pair);
  write({state_record{id_of('1'), entry_state::served}});
  CAF_CHECK(load("r").pairs.empty());
}

CAF_TEST(a verdict keeps the whole event and is lifted by a revival) {
  const verdict_record verdict{
    id_of('1'),
    70,
    "nobody has it",
    {{remote_url{"https://x/r.git"}, fetch_class::no_repo}}};
  write({accepted('1', "r"), verdict});
  CAF_CHECK(load("r").verdicts.empty());
  write({state_record{id_of('1'), entry_state::verdict}, verdict});
  crash();
  CAF_REQUIRE_EQUAL(load("r").verdicts.size(), 1u);
  CAF_CHECK(load("r").verdicts[0] == verdict);
  CAF_CHECK(
    same(load("r").events.at(0).event, event_of('1', nostr::kind_state)));
  CAF_CHECK_EQUAL(names_of(store().pending()), "r;");
  write({state_record{id_of('1'), entry_state::hunting}});
  CAF_CHECK(load("r").verdicts.empty());
  CAF_CHECK_EQUAL(state_of('1'), "hunting");
}

CAF_TEST(tombstones are found by author and id or by repository) {
  tombstone_record one{key_of('a'), id_of('7'), 0, std::nullopt, 50, 51};
  tombstone_record all{key_of('b'),     std::nullopt, nostr::kind_state,
                       identifier{"r"}, 60,           61};
  write({one, all});
  crash();
  CAF_CHECK(store().is_buried(key_of('a'), id_of('7')));
  CAF_CHECK(!store().is_buried(key_of('b'), id_of('7')));
  CAF_CHECK(!store().is_buried(key_of('a'), id_of('8')));
  CAF_CHECK(load("other").tombstones.empty());
  CAF_REQUIRE_EQUAL(load("r").tombstones.size(), 1u);
  CAF_CHECK(load("r").tombstones[0] == all);
  auto earlier = all;
  earlier.until = 20;
  write({earlier});
  const auto after = load("r");
  CAF_CHECK_EQUAL(after.tombstones.at(0).until, 60);
}

CAF_TEST(a tombstone that comes again lives on and never covers less) {
  const auto of = [](unix_seconds until, unix_seconds since) {
    return tombstone_record{key_of('b'),     std::nullopt, nostr::kind_state,
                            identifier{"r"}, until,        since};
  };
  write({of(60, 100), of(20, 200)});
  CAF_REQUIRE_EQUAL(load("r").tombstones.size(), 1u);
  CAF_CHECK(load("r").tombstones[0] == of(60, 200));
}

CAF_TEST(tombstones are forgotten after thirty days) {
  constexpr unix_seconds month = 30 * 24 * 60 * 60;
  write({tombstone_record{key_of('a'), id_of('1'), 0, std::nullopt, 5, 10},
         tombstone_record{key_of('a'), id_of('2'), 0, std::nullopt, 5, 11},
         tombstone_record{key_of('b'), id_of('3'), 0, std::nullopt, 5,
                          10 + month}});
  CAF_CHECK(!store().is_buried(key_of('a'), id_of('1')));
  CAF_CHECK(store().is_buried(key_of('a'), id_of('2')));
  CAF_CHECK(store().is_buried(key_of('b'), id_of('3')));
}

CAF_TEST(of a thousand and one tombstones of an author the oldest goes) {
  const auto numbered = [](int number) {
    auto text = std::to_string(number);
    return event_id{std::string(64 - text.size(), '0') + text};
  };
  write({tombstone_record{key_of('b'), id_of('1'), 0, std::nullopt, 5, 5}});
  std::vector<journal_record> flood;
  for (int number = 0; number < 1001; ++number)
    flood.push_back(
      tombstone_record{key_of('a'), numbered(number), 0, std::nullopt, 5, 10});
  write(flood);
  CAF_CHECK(!store().is_buried(key_of('a'), numbered(0)));
  CAF_CHECK(store().is_buried(key_of('a'), numbered(1)));
  CAF_CHECK(store().is_buried(key_of('a'), numbered(1000)));
  CAF_CHECK(store().is_buried(key_of('b'), id_of('1')));
}

CAF_TEST(who sleeps is woken by any record of its own) {
  write({accepted('1', "r"), accepted('2', "other")});
  write({sleep_record{identifier{"r"}, 500},
         sleep_record{identifier{"other"}, std::nullopt}});
  crash();
  const std::vector<pending_identifier> asleep
    = {{identifier{"other"}, true, std::nullopt}, {identifier{"r"}, true, 500}};
  CAF_CHECK(store().pending() == asleep);
  for (const journal_record& news : std::vector<journal_record>{
         accepted('3', "r"), state_record{id_of('1'), entry_state::parked},
         attempt_record{unit_in("r"), 1, 1, 3}, horizon_record{id_of('1'), {}},
         pair_record{unit_in("r"), remote_url{"u"}, {}},
         align_record{id_of('1'), {key_of('a'), identifier{"r"}}, false, {}}}) {
    write({sleep_record{identifier{"r"}, 500}});
    CAF_CHECK(store().pending() == asleep);
    write({news});
    CAF_CHECK(!store().pending().at(1).asleep);
    CAF_CHECK(store().pending().at(0).asleep);
  }
}

CAF_TEST(a host finds the sleeping identifiers that it concerns page by page) {
  const host_key host{"x.example"};
  for (const char digit : {'1', '2', '3', '4'}) {
    const std::string repo(1, digit);
    write({accepted(digit, repo)});
    write({hosts_record{identifier{repo}, {host, host_key{"y.example"}}}});
    if (digit != '2')
      write({sleep_record{identifier{repo}, std::nullopt}});
  }
  crash();
  const auto names = [&](const std::string& after, std::size_t limit) {
    std::string all;
    for (const auto& repo :
         store().interested_in(host, identifier{after}, limit))
      all += repo.value;
    return all;
  };
  CAF_CHECK_EQUAL(names("", 10), "134");
  CAF_CHECK_EQUAL(names("", 2), "13");
  CAF_CHECK_EQUAL(names("3", 10), "4");
  write({hosts_record{identifier{"4"}, {}},
         sleep_record{identifier{"4"}, std::nullopt}});
  CAF_CHECK_EQUAL(names("", 10), "13");
  write({state_record{id_of('1'), entry_state::served},
         sleep_record{identifier{"1"}, std::nullopt}});
  CAF_CHECK_EQUAL(names("", 10), "3");
}

CAF_TEST(the last word about a host counts) {
  const host_record blocked{
    host_key{"x.example"}, fetch_class::refused, 3, 4, 500, 7};
  write({host_record{host_key{"x.example"}, fetch_class::dns, 1, 1, 1, 0}});
  write({blocked});
  crash();
  CAF_REQUIRE_EQUAL(store().hosts().size(), 1u);
  CAF_CHECK(store().hosts()[0] == blocked);
}

CAF_TEST(live time is what the last commit stamped) {
  CAF_CHECK_EQUAL(store().last_run().live, 0);
  store().apply({accepted('1', "r")});
  store().stamp(40);
  store().commit();
  store().apply({accepted('2', "r")});
  store().stamp(90);
  crash();
  CAF_CHECK_EQUAL(store().last_run().live, 40);
}

CAF_TEST(a clean stop keeps the latest stamp though nothing was written) {
  store().stamp(40);
  store().close_clean(1);
  crash();
  CAF_CHECK_EQUAL(store().last_run().live, 40);
}

CAF_TEST(live time never goes back) {
  store().stamp(40);
  store().stamp(30);
  write({accepted('1', "r")});
  crash();
  store().stamp(7);
  write({accepted('2', "r")});
  crash();
  CAF_CHECK_EQUAL(store().last_run().live, 40);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace purgatory::test
