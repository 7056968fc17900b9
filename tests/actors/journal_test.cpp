#define CAF_SUITE journal

#include "actors/journal.hpp"
#include "tests/support/deterministic.hpp"
#include "tests/support/memory_store.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

using namespace purgatory;
using namespace purgatory::test;

namespace {

event_id id_of(int number) {
  const auto digits = std::to_string(number);
  return event_id{std::string(64 - digits.size(), '0') + digits};
}

record_batch batch_of(int number) {
  accept_record record;
  record.event.id = id_of(number);
  record.event.kind = nostr::kind_state;
  record.repo = identifier{"repo"};
  return {{record}};
}

/// Fails where it is told to.
struct fragile_store : memory_store {
  bool broken_commit = false;
  bool broken_apply = false;
  bool broken_load = false;

  void apply(const std::vector<journal_record>& records) override {
    if (broken_apply)
      throw std::runtime_error{"disk is read-only"};
    memory_store::apply(records);
  }
  void commit() override {
    if (broken_commit)
      throw std::runtime_error{"disk is full"};
    memory_store::commit();
  }
  identifier_image load(const identifier& repo) override {
    if (broken_load)
      throw std::runtime_error{"disk is gone"};
    return memory_store::load(repo);
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

struct fixture : deterministic {
  std::shared_ptr<fragile_store> store = std::make_shared<fragile_store>();
  static constexpr live_seconds live_at_start = 10'000;
  journal_actor uut
    = track(sys.spawn(journal, store, live_clock{now(), live_at_start}));

  template <class Question>
  auto ask_later(Question question) {
    return self->request(uut, caf::infinite, std::move(question));
  }

  /// The answer that lies in our mailbox, or the text of the error.
  template <class Answer, class Pending>
  std::variant<Answer, std::string> answer_of(Pending& pending) {
    if (self->mailbox().empty())
      CAF_FAIL("no answer");
    std::variant<Answer, std::string> result;
    pending.receive([&](const Answer& x) { result = x; },
                    [&](const caf::error& x) { result = sys.render(x); });
    return result;
  }

  template <class Pending>
  bool is_confirmed(Pending& pending) {
    return answer_of<recorded>(pending).index() == 0;
  }

  template <class Answer, class Pending>
  std::string error_of(Pending& pending) {
    const auto result = answer_of<Answer>(pending);
    return result.index() == 1 ? std::get<1>(result) : "";
  }

  bool is_down() {
    auto pending = ask_later(list_pending{});
    settle();
    return contains(error_of<pending_identifiers>(pending),
                    "request_receiver_down");
  }

  /// The clock that a run after a crash by now would start with.
  live_seconds live_after_crash() {
    return memory_store(store->image()).last_run().live;
  }

  bool is_on_disk(int number) {
    return store->image().find(id_of(number)) != nullptr;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(journal_tests, fixture)

CAF_TEST(batches that wait together share one commit) {
  auto first = ask_later(batch_of(1));
  auto second = ask_later(batch_of(2));
  auto third = ask_later(batch_of(3));
  settle();
  CAF_CHECK_EQUAL(store->count().batches, 3u);
  CAF_CHECK_EQUAL(store->count().commits, 1u);
  CAF_CHECK(is_confirmed(first));
  CAF_CHECK(is_confirmed(second));
  CAF_CHECK(is_confirmed(third));
}

CAF_TEST(nothing is confirmed before it is committed) {
  auto first = ask_later(batch_of(1));
  auto second = ask_later(batch_of(2));
  while (store->count().commits == 0) {
    CAF_CHECK(self->mailbox().empty());
    CAF_REQUIRE(sched.try_run_once());
  }
  CAF_CHECK(is_on_disk(1));
  CAF_CHECK(is_on_disk(2));
  CAF_CHECK(is_confirmed(first));
  CAF_CHECK(is_confirmed(second));
}

CAF_TEST(an idle journal commits at once and each batch by itself) {
  for (int number = 1; number <= 3; ++number) {
    auto pending = ask_later(batch_of(number));
    settle();
    CAF_CHECK(is_confirmed(pending));
  }
  CAF_CHECK_EQUAL(store->count().commits, 3u);
  CAF_CHECK_EQUAL(pending_timers(), 0u);
}

CAF_TEST(reads see what waits for the commit but are answered after it) {
  auto written = ask_later(batch_of(1));
  auto found = ask_later(find_event{id_of(1)});
  auto loaded = ask_later(load_identifier{identifier{"repo"}});
  auto listed = ask_later(list_pending{});
  while (store->count().commits == 0) {
    CAF_CHECK(self->mailbox().empty());
    CAF_REQUIRE(sched.try_run_once());
  }
  settle();
  CAF_CHECK(is_confirmed(written));
  const auto event = std::get<0>(answer_of<found_event>(found)).event;
  CAF_REQUIRE(event.has_value());
  CAF_CHECK(event->repo == identifier{"repo"});
  const auto image = std::get<0>(answer_of<identifier_image>(loaded));
  CAF_CHECK_EQUAL(image.events.size(), 1u);
  const auto repos = std::get<0>(answer_of<pending_identifiers>(listed)).repos;
  CAF_CHECK_EQUAL(repos.size(), 1u);
}

CAF_TEST(reads of an idle journal need no commit) {
  CAF_CHECK(!ask<found_event>(uut, find_event{id_of(1)}).event);
  CAF_CHECK(ask<pending_identifiers>(uut, list_pending{}).repos.empty());
  const auto image
    = ask<identifier_image>(uut, load_identifier{identifier{"repo"}});
  CAF_CHECK(image.events.empty());
  CAF_CHECK_EQUAL(store->count().commits, 0u);
}

CAF_TEST(a commit that fails confirms nothing and ends the journal) {
  store->broken_commit = true;
  auto first = ask_later(batch_of(1));
  auto second = ask_later(batch_of(2));
  auto found = ask_later(find_event{id_of(1)});
  settle();
  CAF_CHECK(contains(error_of<recorded>(first), "disk is full"));
  CAF_CHECK(contains(error_of<recorded>(second), "disk is full"));
  CAF_CHECK(contains(error_of<found_event>(found), "disk is full"));
  CAF_CHECK(!is_on_disk(1));
  CAF_CHECK(is_down());
}

CAF_TEST(a write that fails leaves the committed batch before it confirmed) {
  auto first = ask_later(batch_of(1));
  while (store->count().batches == 0)
    CAF_REQUIRE(sched.try_run_once());
  store->broken_apply = true;
  auto second = ask_later(batch_of(2));
  auto third = ask_later(batch_of(3));
  CAF_REQUIRE(!is_on_disk(1));
  settle();
  CAF_CHECK_EQUAL(store->count().commits, 1u);
  CAF_CHECK(is_confirmed(first));
  CAF_CHECK(contains(error_of<recorded>(second), "disk is read-only"));
  CAF_CHECK(!error_of<recorded>(third).empty());
  CAF_CHECK(is_down());
}

CAF_TEST(a write that fails in an open batch refuses the whole batch) {
  auto first = ask_later(batch_of(1));
  auto second = ask_later(batch_of(2));
  while (store->count().batches == 0)
    CAF_REQUIRE(sched.try_run_once());
  store->broken_apply = true;
  settle();
  CAF_CHECK_EQUAL(store->count().commits, 0u);
  CAF_CHECK(contains(error_of<recorded>(first), "disk is read-only"));
  CAF_CHECK(contains(error_of<recorded>(second), "disk is read-only"));
  CAF_CHECK(!is_on_disk(1));
  CAF_CHECK(is_down());
}

CAF_TEST(a read that fails ends the journal) {
  store->broken_load = true;
  auto loaded = ask_later(load_identifier{identifier{"repo"}});
  settle();
  CAF_CHECK(contains(error_of<identifier_image>(loaded), "disk is gone"));
  CAF_CHECK(is_down());
}

CAF_TEST(closing commits the open batch and notes a clean stop) {
  auto written = ask_later(batch_of(1));
  auto closed = ask_later(close_journal{777});
  settle();
  CAF_CHECK(is_confirmed(written));
  CAF_CHECK_EQUAL(answer_of<journal_closed>(closed).index(), 0u);
  CAF_CHECK(is_on_disk(1));
  CAF_CHECK(store->image().clean);
  CAF_CHECK_EQUAL(store->image().stopped, 777);
}

CAF_TEST(each commit carries how long the daemon has run) {
  advance(std::chrono::seconds(7));
  ask<recorded>(uut, batch_of(1));
  CAF_CHECK_EQUAL(live_after_crash(), live_at_start + 7);
  advance(std::chrono::seconds(100));
  ask<recorded>(uut, batch_of(2));
  CAF_CHECK_EQUAL(live_after_crash(), live_at_start + 107);
}

CAF_TEST(time since the last commit is lost by a crash but not by a stop) {
  ask<recorded>(uut, batch_of(1));
  advance(std::chrono::hours(1));
  CAF_CHECK_EQUAL(live_after_crash(), live_at_start);
  ask<journal_closed>(uut, close_journal{777});
  CAF_CHECK_EQUAL(live_after_crash(), live_at_start + 3600);
}

CAF_TEST(hosts are listed and those whom one concerns are found page by page) {
  const host_key host{"x.example"};
  const host_record blocked{host, fetch_class::refused, 3, 4, 500, 7};
  auto written = ask_later(record_batch{
    {batch_of(1).records[0], hosts_record{identifier{"repo"}, {host}},
     sleep_record{identifier{"repo"}, 900}, blocked}});
  auto listed = ask_later(list_hosts{});
  auto found = ask_later(find_interested{host, identifier{}, 5});
  auto beyond = ask_later(find_interested{host, identifier{"repo"}, 5});
  settle();
  CAF_CHECK(is_confirmed(written));
  const auto hosts = std::get<0>(answer_of<known_hosts>(listed)).hosts;
  CAF_REQUIRE_EQUAL(hosts.size(), 1u);
  CAF_CHECK(hosts[0] == blocked);
  const auto repos = std::get<0>(answer_of<interested>(found)).repos;
  CAF_REQUIRE_EQUAL(repos.size(), 1u);
  CAF_CHECK_EQUAL(repos[0].value, "repo");
  CAF_CHECK(std::get<0>(answer_of<interested>(beyond)).repos.empty());
  const auto pending = ask<pending_identifiers>(uut, list_pending{}).repos;
  CAF_REQUIRE_EQUAL(pending.size(), 1u);
  CAF_CHECK(pending[0].asleep);
  CAF_CHECK(pending[0].due == live_seconds{900});
}

CAF_TEST(a closed journal refuses batches but still answers reads) {
  ask<journal_closed>(uut, close_journal{777});
  auto late = ask_later(batch_of(1));
  settle();
  CAF_CHECK(contains(error_of<recorded>(late), "journal is closed"));
  CAF_CHECK(!is_on_disk(1));
  CAF_CHECK(ask<pending_identifiers>(uut, list_pending{}).repos.empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
