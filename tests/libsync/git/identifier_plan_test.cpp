// One identifier from event to release, in a world of plain containers.

#include "tests/support/plan_driver.hpp"

#define CAF_SUITE identifier_plan
#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::test;
using namespace std::chrono_literals;

namespace {

const std::string main_ref = "refs/heads/main";
const std::string url_a = "https://a.example/r.git";
const std::string url_b = "https://b.example/r.git";

bool says(const std::optional<admission>& answer, const char* text) {
  return answer && answer->message == text;
}

struct fixture : plan_driver {
  tenant home{key(1), identifier{"r"}};
  unit_key unit{key(1), identifier{"r"}};

  void announce(const std::vector<std::string>& urls = {url_a, url_b}) {
    offer(announcement(1, key(1), "r", urls));
  }
  void claim(std::uint64_t id, std::uint64_t commit,
             unix_seconds created_at = 1000) {
    offer(state(id, key(1), "r", {{main_ref, object(commit).value}}, created_at,
                main_ref));
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(identifier_plan_tests, fixture)

CAF_TEST(a state is held until its commit came and then released after its
           announcement) {
  CAF_CHECK(
    says(offer(announcement(1, key(1), "r", {url_a})), answer_text::held));
  const auto held = offer(
    state(2, key(1), "r", {{main_ref, object(1).value}}, 1000, main_ref));
  CAF_CHECK(held->what == action::hold);
  CAF_CHECK_EQUAL(held->message, answer_text::held);
  CAF_CHECK(questions.empty());
  advance(499ms);
  CAF_CHECK(questions.empty());
  advance(1ms);
  CAF_REQUIRE_EQUAL(questions.size(), 1u);
  CAF_CHECK(questions.front().turn == lane::fresh);
  grant();
  CAF_REQUIRE_EQUAL(jobs.size(), 1u);
  CAF_CHECK_EQUAL(jobs.front().order.wants.size(), 1u);
  deliver({object(1)});
  CAF_CHECK(refs_of[home][main_ref] == object(1));
  CAF_CHECK_EQUAL(head_of[home], main_ref);
  CAF_REQUIRE_EQUAL(released.size(), 2u);
  CAF_CHECK(released[0] == id_of(1));
  CAF_CHECK(released[1] == id_of(2));
  CAF_CHECK_EQUAL(plan().waiting(), 0u);
  CAF_CHECK(idle_seen);
}

CAF_TEST(
  a direct event waits three minutes and a later delay never pushes back) {
  announce();
  claim(2, 1);
  offer(state(3, key(1), "r", {{main_ref, object(2).value}}, 1001),
        provenance::direct);
  advance(500ms);
  CAF_CHECK_EQUAL(questions.size(), 1u);
}

CAF_TEST(a direct event alone is hunted after 180 seconds) {
  announce();
  offer(state(3, key(1), "r", {{main_ref, object(2).value}}),
        provenance::direct);
  advance(180s - 1ms);
  CAF_CHECK(questions.empty());
  advance(1ms);
  CAF_CHECK_EQUAL(questions.size(), 1u);
}

CAF_TEST(two commits on two servers make one release) {
  announce();
  offer(
    state(2, key(1), "r",
          {{main_ref, object(1).value}, {"refs/heads/dev", object(2).value}}));
  advance(500ms);
  grant();
  CAF_CHECK_EQUAL(jobs.front().host.value, "a.example");
  CAF_CHECK_EQUAL(jobs.front().order.wants.size(), 2u);
  deliver({object(1)});
  CAF_REQUIRE_EQUAL(questions.size(), 1u);
  CAF_CHECK_EQUAL(questions.front().url.host.value, "b.example");
  grant();
  CAF_REQUIRE_EQUAL(jobs.front().order.wants.size(), 1u);
  CAF_CHECK(jobs.front().order.wants.front() == object(2));
  CAF_CHECK_EQUAL(released_times(id_of(2)), 0u);
  deliver({object(2)});
  CAF_CHECK_EQUAL(released_times(id_of(2)), 1u);
}

CAF_TEST(ten events in a burst make one question and one job) {
  announce();
  for (std::uint64_t i = 0; i < 7; ++i) {
    claim(10 + i, 10 + i, 1000 + static_cast<unix_seconds>(i));
    advance(10ms);
  }
  CAF_CHECK(questions.empty());
  // To the moment at which the first one is due, the others not yet.
  advance(430ms);
  CAF_CHECK_EQUAL(questions.size(), 1u);
  grant();
  CAF_REQUIRE_EQUAL(jobs.size(), 1u);
  CAF_CHECK_EQUAL(jobs.front().order.wants.size(), 7u);
  CAF_CHECK(questions.empty());
}

CAF_TEST(failed rounds wait 20 then 40 then 80 then 120 seconds) {
  announce({url_a});
  claim(2, 1);
  advance(500ms);
  for (const auto wait : {20s, 40s, 80s, 120s, 120s}) {
    CAF_REQUIRE_EQUAL(questions.size(), 1u);
    grant();
    fail(fetch_class::refused);
    CAF_CHECK(questions.empty());
    advance(wait - 1ms);
    CAF_CHECK(questions.empty());
    advance(1ms);
    CAF_CHECK_EQUAL(questions.front().turn == lane::retry, true);
  }
}

CAF_TEST(a round asks every url once and ends when all were tried) {
  announce();
  claim(2, 1);
  advance(500ms);
  grant();
  fail(fetch_class::no_repo);
  grant();
  fail(fetch_class::timeout);
  CAF_CHECK(questions.empty());
  CAF_CHECK(jobs.empty());
  CAF_CHECK_EQUAL(plan().needed(key(1), git::wish::states).size(), 1u);
}

CAF_TEST(a queued domain keeps the place and the next domain is asked) {
  announce();
  claim(2, 1);
  advance(500ms);
  queue();
  CAF_REQUIRE_EQUAL(questions.size(), 1u);
  CAF_CHECK_EQUAL(questions.front().url.host.value, "b.example");
  grant();
  CAF_REQUIRE_EQUAL(jobs.size(), 1u);
  // The first host grants while the same object is in flight elsewhere.
  grant_at(unit, host_key{"a.example"});
  CAF_CHECK(lease_uses.back().use == git::lease_use::defer);
  fail(fetch_class::not_here);
  // Deferred because of that job: asked once more now that it is over.
  CAF_REQUIRE_EQUAL(questions.size(), 1u);
  CAF_CHECK_EQUAL(questions.front().url.host.value, "a.example");
  grant();
  deliver({object(1)});
  CAF_CHECK_EQUAL(released_times(id_of(2)), 1u);
}

CAF_TEST(
  a grant that nobody needs any more is withdrawn and other places are left) {
  announce();
  claim(2, 1);
  advance(500ms);
  queue();
  grant();
  deliver({object(1)});
  CAF_REQUIRE_EQUAL(given_up.size(), 1u);
  CAF_CHECK_EQUAL(given_up.front().value, "a.example");
  grant_at(unit, host_key{"a.example"});
  CAF_CHECK(lease_uses.back().use == git::lease_use::withdraw);
}

CAF_TEST(
  pull requests travel in a job of their own and use their own url last) {
  announce({url_a});
  claim(2, 1);
  offer(pull_request(3, key(9), key(1), "r", object(5).value,
                     {"https://fork.example/r.git"}));
  advance(500ms);
  grant();
  CAF_CHECK_EQUAL(jobs.front().order.wants.size(), 1u);
  CAF_CHECK(jobs.front().order.wants.front() == object(1));
  CAF_REQUIRE_EQUAL(questions.size(), 1u);
  CAF_CHECK_EQUAL(questions.front().url.host.value, "fork.example");
  deliver({object(1)});
  CAF_CHECK_EQUAL(released_times(id_of(2)), 1u);
  grant();
  CAF_CHECK(jobs.front().order.wants.front() == object(5));
  deliver({object(5)});
  CAF_CHECK_EQUAL(released_times(id_of(3)), 1u);
  CAF_CHECK(refs_of[home]["refs/nostr/" + id_of(3).value] == object(5));
}

CAF_TEST(a pull request waits for its announcement to be served) {
  announce({url_a});
  offer(pull_request(3, key(9), key(1), "r", object(5).value));
  advance(500ms);
  grant();
  deliver({object(5)});
  CAF_CHECK(released.empty());
  claim(2, 5);
  CAF_CHECK_EQUAL(released_times(id_of(1)), 1u);
  CAF_CHECK_EQUAL(released_times(id_of(2)), 1u);
  CAF_CHECK_EQUAL(released_times(id_of(3)), 1u);
}

CAF_TEST(
  a state before its announcement is an orphan that the announcement wakes) {
  const auto early
    = offer(state(2, key(1), "r", {{main_ref, object(1).value}}));
  CAF_CHECK_EQUAL(early->message, answer_text::orphan);
  advance(10min);
  CAF_CHECK(questions.empty());
  announce();
  advance(500ms);
  CAF_CHECK_EQUAL(questions.size(), 1u);
}

CAF_TEST(a maintainer of a maintainer may state and a stranger may not ) {
  offer(announcement(1, key(1), "r", {url_a}, {key(2)}));
  offer(announcement(2, key(2), "r", {url_b}, {key(3)}));
  CAF_CHECK(says(offer(state(3, key(3), "r", {{main_ref, object(1).value}})),
                 answer_text::held));
  CAF_CHECK(says(offer(state(4, key(4), "r", {{main_ref, object(1).value}})),
                 answer_text::orphan));
}

CAF_TEST(data that is here already releases without any request) {
  objects[home][object(1)] = object_kind::commit;
  announce();
  claim(2, 1);
  CAF_CHECK_EQUAL(released_times(id_of(2)), 1u);
  advance(10min);
  CAF_CHECK(questions.empty());
}

CAF_TEST(a branch that names a tag object can never be satisfied) {
  objects[home][object(1)] = object_kind::tag;
  announce();
  claim(2, 1);
  CAF_CHECK(plan().where(id_of(2)) == entry_state::unsatisfiable);
  advance(30min + 1s);
  CAF_CHECK(plan().where(id_of(2)) == entry_state::dropped);
  CAF_CHECK(released.empty());
}

CAF_TEST(a state without values is released once its announcement is
           served and touches no ref) {
  announce({url_a});
  offer(state(3, key(2), "r", {}));
  offer(state(4, key(1), "r", {}, 900));
  CAF_CHECK(released.empty());
  claim(2, 1, 800);
  advance(500ms);
  grant();
  deliver({object(1)});
  CAF_CHECK(refs_of[home][main_ref] == object(1));
  CAF_CHECK_EQUAL(released_times(id_of(4)), 1u);
}

CAF_TEST(an event that comes during a fetch is not lost and has its own time) {
  announce({url_a});
  claim(2, 1);
  advance(500ms);
  grant();
  claim(3, 2, 1001);
  advance(2s);
  CAF_CHECK_EQUAL(jobs.size(), 1u);
  deliver({object(1)});
  CAF_REQUIRE_EQUAL(questions.size(), 1u);
  grant();
  CAF_CHECK(jobs.front().order.wants.front() == object(2));
}

CAF_TEST(new information resets the backoff and a replay does not ) {
  announce({url_a});
  claim(2, 1);
  advance(500ms);
  grant();
  fail(fetch_class::refused);
  advance(20s);
  grant();
  fail(fetch_class::refused);
  CAF_CHECK(says(
    offer(state(2, key(1), "r", {{main_ref, object(1).value}}, 1000, main_ref)),
    answer_text::in_purgatory));
  advance(39s);
  CAF_CHECK(questions.empty());
  advance(180s);
  while (!questions.empty()) {
    grant();
    fail(fetch_class::refused);
  }
  claim(3, 2, 1001);
  advance(500ms);
  CAF_CHECK(questions.front().turn == lane::fresh);
}

CAF_TEST(an own origin is never asked and a name that only contains ours is) {
  git::plan_settings s = default_settings();
  s.own_origins = {"git.example"};
  plan_driver d(s);
  d.offer(
    announcement(1, key(1), "r",
                 {"https://git.example/r.git", "https://mygit.example/r.git",
                  "https://other.example/git.example/r.git"}));
  d.offer(state(2, key(1), "r", {{main_ref, object(1).value}}));
  d.advance(500ms);
  d.grant();
  CAF_CHECK_EQUAL(d.jobs.front().host.value, "mygit.example");
  d.fail(fetch_class::not_here);
  d.grant();
  CAF_CHECK_EQUAL(d.jobs.front().host.value, "other.example");
  d.fail(fetch_class::not_here);
  CAF_CHECK(d.questions.empty());
}

CAF_TEST(no url at all is no hunt but the event stays held) {
  announce({"ssh://git@a.example/r.git", "git@b.example:r.git"});
  claim(2, 1);
  advance(10min);
  CAF_CHECK(questions.empty());
  CAF_CHECK(plan().where(id_of(2)) == entry_state::hunting);
}

CAF_TEST(a redirect to another host is asked there under a turn of its own) {
  announce({url_a});
  claim(2, 1);
  advance(500ms);
  grant();
  redirect("https://c.example/moved.git");
  CAF_REQUIRE_EQUAL(questions.size(), 1u);
  CAF_CHECK_EQUAL(questions.front().url.host.value, "c.example");
  grant();
  redirect("https://a.example/r.git");
  CAF_CHECK(questions.empty());
}

CAF_TEST(a deletion takes back what its signer had held and nothing else) {
  announce();
  claim(2, 1);
  offer(
    make_event(7, nostr::kind_deletion, key(2), 2000, {{"e", id_of(2).value}}));
  CAF_CHECK(plan().where(id_of(2)) == entry_state::hunting);
  offer(
    make_event(8, nostr::kind_deletion, key(1), 2000, {{"e", id_of(2).value}}));
  CAF_CHECK(plan().where(id_of(2)) == entry_state::deleted);
  CAF_CHECK(says(
    offer(state(2, key(1), "r", {{main_ref, object(1).value}}, 1000, main_ref)),
    answer_text::deleted));
}

CAF_TEST(
  older states of an author are superseded when a newer one is released) {
  announce({url_a});
  claim(2, 1, 1000);
  claim(3, 2, 2000);
  advance(500ms);
  grant();
  deliver({object(2)});
  CAF_CHECK_EQUAL(released_times(id_of(3)), 1u);
  CAF_CHECK(plan().where(id_of(2)) == entry_state::superseded);
  CAF_CHECK(
    says(offer(state(4, key(1), "r", {{main_ref, object(3).value}}, 1500)),
         answer_text::have_newer));
}

CAF_TEST(a re - offer passes once the release has begun and not before) {
  announce({url_a});
  claim(2, 1);
  const auto again
    = state(2, key(1), "r", {{main_ref, object(1).value}}, 1000, main_ref);
  CAF_CHECK(offer(again)->what == action::hold);
  relay_answers = false;
  advance(500ms);
  grant();
  deliver({object(1)});
  CAF_CHECK(offer(again)->what == action::accept);
}

CAF_TEST(while a newer state is on its way an older one turns nothing back) {
  announce({url_a});
  claim(2, 1, 1000);
  claim(3, 2, 2000);
  relay_answers = false;
  advance(500ms);
  grant();
  deliver({object(1), object(2)});
  CAF_CHECK(refs_of[home][main_ref] == object(2));
  advance(10min);
  CAF_CHECK(refs_of[home][main_ref] == object(2));
  CAF_CHECK(plan().where(id_of(2)) == entry_state::hunting);
  publish_all();
  CAF_CHECK(refs_of[home][main_ref] == object(2));
  CAF_CHECK(plan().where(id_of(2)) == entry_state::superseded);
  CAF_CHECK_EQUAL(released_times(id_of(2)), 0u);
}

CAF_TEST(an older state gets its turn when the relay refuses the newer one) {
  announce({url_a});
  claim(2, 1, 1000);
  claim(3, 2, 2000);
  relay_answers = false;
  advance(500ms);
  grant();
  deliver({object(1), object(2)});
  publish_one(id_of(1), publish_outcome::released);
  publish_one(id_of(3), publish_outcome::refused);
  CAF_CHECK(refs_of[home][main_ref] == object(1));
  CAF_CHECK_EQUAL(released_times(id_of(2)), 1u);
}

CAF_TEST(
  an orphan woken while the journal is slow is hunted once it is durable) {
  offer(state(2, key(1), "r", {{main_ref, object(1).value}}));
  journal_answers = false;
  announce();
  advance(10s);
  CAF_CHECK(questions.empty());
  journal_answers = true;
  record_all();
  advance(1ms);
  CAF_CHECK_EQUAL(questions.size(), 1u);
}

CAF_TEST(an object that is gone when its refs move is hunted again) {
  announce({url_a});
  claim(2, 1);
  advance(500ms);
  grant();
  alignment_says = store_result::failed;
  lose_objects = true;
  deliver({object(1)});
  alignment_says = store_result::done;
  lose_objects = false;
  advance(5min);
  CAF_REQUIRE_EQUAL(questions.size(), 1u);
  grant();
  deliver({object(1)});
  CAF_CHECK_EQUAL(released_times(id_of(2)), 1u);
}

CAF_TEST(a newer announcement takes the place of one that waits for the relay) {
  announce({url_a});
  claim(2, 1);
  relay_answers = false;
  advance(500ms);
  grant();
  deliver({object(1)});
  CAF_REQUIRE(plan().where(id_of(1)) == entry_state::publishing);
  offer(announcement(5, key(1), "r", {url_a, url_b}, {}, 2000));
  CAF_CHECK(plan().where(id_of(1)) == entry_state::superseded);
  CAF_CHECK(plan().where(id_of(5)) == entry_state::publishing);
  publish_all();
  CAF_CHECK_EQUAL(released_times(id_of(5)), 1u);
  CAF_CHECK_EQUAL(released_times(id_of(2)), 1u);
  CAF_CHECK_EQUAL(plan().waiting(), 0u);
}

CAF_TEST(a newer announcement seen at our relay ends the older held one) {
  offer(announcement(1, key(1), "r", {url_a}, {}, 1000));
  offer(announcement(5, key(1), "r", {url_b}, {}, 2000), provenance::served);
  CAF_CHECK(plan().where(id_of(1)) == entry_state::superseded);
  CAF_CHECK_EQUAL(plan().waiting(), 0u);
}

CAF_TEST(a state whose announcement is refused goes back to the orphans) {
  announce({url_a});
  claim(2, 1);
  relay_says = publish_outcome::refused;
  advance(500ms);
  grant();
  deliver({object(1)});
  CAF_CHECK(plan().where(id_of(1)) == entry_state::refused);
  CAF_CHECK(plan().where(id_of(2)) == entry_state::orphan);
  CAF_CHECK_EQUAL(released_times(id_of(2)), 0u);
}

CAF_TEST(more objects than one job takes are asked for at once) {
  announce({url_a});
  refs many;
  std::vector<oid> all;
  for (std::uint64_t i = 0; i < 4500; ++i) {
    all.push_back(object(10 + i));
    many.emplace_back("refs/tags/t" + std::to_string(i), all.back().value);
  }
  offer(state(2, key(1), "r", many));
  advance(500ms);
  for (int i = 0; i < 3; ++i) {
    CAF_REQUIRE_EQUAL(questions.size(), 1u);
    grant();
    deliver(std::vector(jobs.front().order.wants));
  }
  CAF_CHECK_EQUAL(released_times(id_of(2)), 1u);
}

CAF_TEST(no answer is given before the journal has the event) {
  journal_answers = false;
  const auto ev = announcement(1, key(1), "r", {url_a});
  CAF_CHECK(!offer(ev));
  const auto first = last_offer();
  CAF_CHECK(!offer(ev));
  const auto second = last_offer();
  record_all();
  CAF_CHECK(says(answer_to(first), answer_text::held));
  CAF_CHECK(says(answer_to(second), answer_text::in_purgatory));
}

CAF_TEST(a failed alignment releases nothing and is tried again later) {
  announce({url_a});
  claim(2, 1);
  advance(500ms);
  grant();
  alignment_says = store_result::failed;
  deliver({object(1)});
  CAF_CHECK(released.empty());
  CAF_CHECK(plan().where(id_of(2)) == entry_state::hunting);
  alignment_says = store_result::done;
  advance(2min);
  CAF_CHECK_EQUAL(released_times(id_of(2)), 1u);
}

CAF_TEST(events far ahead are refused and near ones wait for their time) {
  announce({url_a});
  const auto now = wall();
  CAF_CHECK(says(offer(state(2, key(1), "r", {{main_ref, object(1).value}},
                             now + 25 * 3600)),
                 answer_text::too_far_ahead));
  offer(state(3, key(1), "r", {{main_ref, object(1).value}}, now + 3600));
  CAF_CHECK(plan().where(id_of(3)) == entry_state::future);
  advance(44min);
  CAF_CHECK(questions.empty());
  advance(2min);
  CAF_CHECK_EQUAL(questions.size(), 1u);
}

CAF_TEST(what the journal remembers goes on where it stood) {
  identifier_image image;
  image.repo = identifier{"r"};
  image.events = {{announcement(1, key(1), "r", {url_a}), entry_state::hunting,
                   provenance::sync, 0},
                  {state(2, key(1), "r", {{main_ref, object(1).value}}),
                   entry_state::publishing, provenance::sync, 0},
                  {state(3, key(1), "r", {{main_ref, object(2).value}}, 2000),
                   entry_state::aligning, provenance::sync, 0}};
  image.attempts = {{unit, 3, 3, at().live + 50}};
  objects[home][object(1)] = object_kind::commit;
  restore(image);
  CAF_CHECK(questions.empty());
  advance(50s);
  CAF_REQUIRE_EQUAL(questions.size(), 1u);
  CAF_CHECK(questions.front().turn == lane::retry);
  grant();
  deliver({object(2)});
  CAF_CHECK_EQUAL(released_times(id_of(3)), 1u);
}

CAF_TEST(the other host answers while the first repository has a second job only
           afterwards) {
  announce({url_a, "https://a.example/other.git"});
  claim(2, 1);
  advance(500ms);
  grant();
  CAF_CHECK(questions.empty());
  fail(fetch_class::no_repo);
  CAF_REQUIRE_EQUAL(questions.size(), 1u);
  CAF_CHECK_EQUAL(questions.front().url.path, "/other.git");
}

CAF_TEST_FIXTURE_SCOPE_END()
