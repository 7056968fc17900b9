#define CAF_SUITE git_state

#include "libsync/nostr/git_events.hpp"
#include "tests/support/nostr_events.hpp"

#include <caf/test/dsl.hpp>

#include <algorithm>
#include <string>

using namespace purgatory;
using namespace purgatory::nostr;
using purgatory::test::unsigned_event;

namespace {

using texts = std::vector<std::string>;

const std::string oid_1(40, '1');
const std::string oid_2(40, '2');
const std::string sha256_3(64, '3');

state read(std::vector<tag> tags) {
  tags.insert(tags.begin(), {"d", "x"});
  auto result = read_git_event(unsigned_event(30618, std::move(tags)));
  CAF_REQUIRE(std::holds_alternative<state>(result));
  return std::get<state>(std::move(result));
}

/// `name=value` of each concrete ref, first digit of the value only.
texts refs_of(const state& st) {
  texts result;
  for (const auto& ref : st.refs)
    result.push_back(ref.name + '=' + ref.target.value.substr(0, 1));
  return result;
}

std::string problem_of(std::vector<tag> tags) {
  return read(std::move(tags)).unsatisfiable.value_or("satisfiable");
}

} // namespace

CAF_TEST(branches_and_tags_are_read_and_sorted_by_name) {
  const auto st = read({{"refs/tags/v1", oid_2},
                        {"HEAD", "ref: refs/heads/main"},
                        {"refs/heads/main", oid_1, "shorthand", "ancestors"},
                        {"refs/heads/a/b", std::string(40, 'A')}});
  CAF_CHECK_EQUAL(st.repo.value, "x");
  CAF_CHECK_EQUAL(st.author.value, std::string(64, 'a'));
  CAF_CHECK_EQUAL(refs_of(st), (texts{"refs/heads/a/b=a", "refs/heads/main=1",
                                      "refs/tags/v1=2"}));
  CAF_CHECK(st.head == "refs/heads/main");
  CAF_CHECK(!st.unsatisfiable);
}

CAF_TEST(other_names_and_tags_without_a_value_are_ignored) {
  const auto st = read({{"refs/pull/1/head", oid_1},
                        {"refs/notes/commits", oid_1},
                        {"refs/nostr/x", oid_1},
                        {"refs/heads", oid_1},
                        {"main", oid_1},
                        {"r", "refs/heads/main", oid_1},
                        {"refs/heads/main"},
                        {}});
  CAF_CHECK(st.refs.empty());
  CAF_CHECK(!st.unsatisfiable);
}

CAF_TEST(peeled_names_are_skipped_with_or_without_their_tag) {
  const auto st = read({{"refs/tags/v1", oid_2},
                        {"refs/tags/v1^{}", oid_1},
                        {"refs/tags/v2^{}", "junk"}});
  CAF_CHECK_EQUAL(refs_of(st), (texts{"refs/tags/v1=2"}));
  CAF_CHECK(!st.unsatisfiable);
}

CAF_TEST(of_a_duplicate_name_the_last_counts_and_only_it) {
  const auto st
    = read({{"refs/heads/main", "junk"}, {"refs/heads/main", oid_2}});
  CAF_CHECK_EQUAL(refs_of(st), (texts{"refs/heads/main=2"}));
  CAF_CHECK(!st.unsatisfiable);
  CAF_CHECK_EQUAL(
    problem_of({{"refs/heads/main", oid_2}, {"refs/heads/main", "junk"}}),
    "invalid object id");
}

CAF_TEST(symbolic_values_are_kept_apart) {
  const auto st = read({{"refs/heads/main", oid_1},
                        {"refs/heads/alias", "ref: refs/heads/main"},
                        {"HEAD", "ref: refs/heads/alias"}});
  CAF_CHECK_EQUAL(refs_of(st), (texts{"refs/heads/main=1"}));
  CAF_CHECK_EQUAL(st.symbolic_names, (texts{"refs/heads/alias"}));
  CAF_CHECK(!st.head);
  CAF_CHECK(!st.unsatisfiable);
}

CAF_TEST(a_state_without_refs_is_fine) {
  for (const auto& st :
       {read({}), read({{"refs/heads/x", "ref: refs/heads/y"}})}) {
    CAF_CHECK(st.refs.empty());
    CAF_CHECK(!st.unsatisfiable);
    CAF_CHECK(!st.head);
  }
}

CAF_TEST(head_must_name_a_branch_that_has_an_object_id_here) {
  const auto head_of = [](std::vector<tag> heads) {
    std::vector<tag> tags{{"refs/heads/main", oid_1}, {"refs/tags/v1", oid_2}};
    tags.insert(tags.begin(), heads.begin(), heads.end());
    return read(std::move(tags)).head.value_or("none");
  };
  CAF_CHECK_EQUAL(head_of({{"HEAD", "ref: refs/heads/main"}}),
                  "refs/heads/main");
  CAF_CHECK_EQUAL(head_of({{"HEAD", "refs/heads/main"}}), "refs/heads/main");
  CAF_CHECK_EQUAL(head_of({}), "none");
  CAF_CHECK_EQUAL(head_of({{"HEAD"}}), "none");
  CAF_CHECK_EQUAL(head_of({{"HEAD", ""}}), "none");
  CAF_CHECK_EQUAL(head_of({{"HEAD", oid_1}}), "none");
  CAF_CHECK_EQUAL(head_of({{"HEAD", "ref: refs/heads/gone"}}), "none");
  CAF_CHECK_EQUAL(head_of({{"HEAD", "ref: refs/tags/v1"}}), "none");
  CAF_CHECK_EQUAL(head_of({{"HEAD", "ref:refs/heads/main"}}), "none");
  CAF_CHECK_EQUAL(head_of({{"HEAD", "ref: ref: refs/heads/main"}}), "none");
  CAF_CHECK_EQUAL(head_of({{"HEAD", "ref: refs/heads/gone"},
                           {"HEAD", "ref: refs/heads/main"}}),
                  "none");
}

CAF_TEST(values_that_are_no_full_object_id_make_it_unsatisfiable) {
  for (const auto& value :
       texts{"", "abc123", std::string(40, '0'), std::string(64, '0'),
             "--depth=1", "+a:b", "HEAD", "main~1", "HEAD^{tree}",
             "ref:refs/heads/x", oid_1 + "\n"}) {
    const auto st
      = read({{"refs/heads/main", oid_1}, {"refs/heads/bad", value}});
    CAF_CHECK(st.unsatisfiable == "invalid object id");
  }
}

CAF_TEST(object_ids_of_one_state_have_one_length) {
  CAF_CHECK_EQUAL(problem_of({{"refs/heads/a", sha256_3}}), "satisfiable");
  CAF_CHECK_EQUAL(
    problem_of({{"refs/heads/a", sha256_3}, {"refs/heads/b", oid_1}}),
    "object ids of different lengths");
}

CAF_TEST(names_that_git_refuses_make_it_unsatisfiable) {
  for (const auto& name :
       texts{"refs/heads/",       "refs/heads/../x",     "refs/heads/a..b",
             "refs/heads/.a",     "refs/heads/a/.b",     "refs/heads/a.",
             "refs/heads/a.lock", "refs/heads/a.lock/b", "refs/heads//a",
             "refs/heads/a/",     "refs/heads/a b",      "refs/heads/a~1",
             "refs/heads/a^",     "refs/heads/a:b",      "refs/heads/a?",
             "refs/heads/a*",     "refs/heads/[a",       "refs/heads/a\\b",
             "refs/heads/a@{1}",  "refs/heads/a\n",      "refs/heads/a\x7f",
             "refs/tags/\x01"}) {
    CAF_CHECK_EQUAL(problem_of({{name, oid_1}}), "invalid ref name");
    CAF_CHECK_EQUAL(problem_of({{name, "ref: refs/heads/x"}}),
                    "invalid ref name");
    CAF_CHECK(!is_valid_ref_name(name));
  }
  CAF_CHECK(!is_valid_ref_name(""));
  CAF_CHECK(!is_valid_ref_name("@"));
  CAF_CHECK(!is_valid_ref_name("HEAD"));
  CAF_CHECK(!is_valid_ref_name("/refs/heads/a"));
}

CAF_TEST(unusual_names_that_git_takes_are_fine) {
  for (const auto& name :
       texts{"refs/heads/-x", "refs/heads/@", "refs/heads/a@b",
             "refs/heads/a{b}", "refs/heads/HEAD", "refs/heads/🚀",
             "refs/heads/a.b.c", "refs/heads/locked", "refs/tags/v1.0-rc.1",
             "refs/heads/feature/a'b\"$(x);&|", "refs/heads/a.lock2"}) {
    CAF_CHECK(is_valid_ref_name(name));
    CAF_CHECK_EQUAL(problem_of({{name, oid_1}}), "satisfiable");
  }
}

CAF_TEST(names_that_are_file_and_folder_at_once_make_it_unsatisfiable) {
  const std::string reason = "ref names cannot coexist";
  CAF_CHECK_EQUAL(
    problem_of({{"refs/heads/a", oid_1}, {"refs/heads/a/b", oid_1}}), reason);
  CAF_CHECK_EQUAL(problem_of({{"refs/heads/a/b/c/d", oid_1},
                              {"refs/heads/a-b", oid_1},
                              {"refs/heads/a", "ref: refs/heads/a-b"}}),
                  reason);
  CAF_CHECK_EQUAL(problem_of({{"refs/heads/a", oid_1},
                              {"refs/heads/a-b", oid_1},
                              {"refs/heads/ab/c", oid_1},
                              {"refs/tags/a/b", oid_1}}),
                  "satisfiable");
}

CAF_TEST(names_longer_than_file_systems_hold_make_it_unsatisfiable) {
  const std::string heads = "refs/heads/";
  CAF_CHECK_EQUAL(problem_of({{heads + std::string(250, 'x'), oid_1}}),
                  "satisfiable");
  CAF_CHECK_EQUAL(problem_of({{heads + std::string(251, 'x'), oid_1}}),
                  "ref name is too long");
  std::string deep = heads;
  while (deep.size() < 1020)
    deep += "a/";
  CAF_CHECK_EQUAL(problem_of({{deep + "b", oid_1}}), "satisfiable");
  CAF_CHECK_EQUAL(problem_of({{deep + "a/a/b", oid_1}}),
                  "ref name is too long");
}

CAF_TEST(five_thousand_refs_are_one_state) {
  std::vector<tag> tags;
  for (int i = 0; i < 5000; ++i)
    tags.push_back({"refs/heads/b" + std::to_string(i), oid_1});
  const auto st = read(tags);
  CAF_CHECK_EQUAL(st.refs.size(), 5000u);
  CAF_CHECK(!st.unsatisfiable);
  CAF_CHECK(std::is_sorted(st.refs.begin(), st.refs.end(),
                           [](const auto& left, const auto& right) {
                             return left.name < right.name;
                           }));
}

CAF_TEST(more_refs_than_the_limit_are_refused) {
  const auto ev
    = unsigned_event(30618, {{"d", "x"},
                             {"refs/heads/a", oid_1},
                             {"refs/heads/a", oid_2},
                             {"refs/tags/v", oid_1},
                             {"refs/tags/v^{}", oid_1},
                             {"refs/heads/b", "ref: refs/heads/a"}});
  CAF_CHECK(std::holds_alternative<state>(read_git_event(ev, 3)));
  const auto refused = read_git_event(ev, 2);
  CAF_REQUIRE(std::holds_alternative<invalid_event>(refused));
  CAF_CHECK_EQUAL(std::get<invalid_event>(refused).reason,
                  "state has more than 2 refs");
}
