#define CAF_SUITE git_events

#include "libsync/nostr/git_events.hpp"
#include "tests/support/nostr_events.hpp"

#include <caf/test/dsl.hpp>

#include <string>

using namespace purgatory;
using namespace purgatory::nostr;
using purgatory::test::unsigned_event;

namespace {

using texts = std::vector<std::string>;

const std::string key_a(64, 'a');
const std::string key_b(64, 'b');
const std::string key_c(64, 'c');
const std::string oid_1(40, '1');

/// The event of `kind` with `tags`, read as `T`; fails when it is another.
template <class T>
T read(std::uint32_t kind, std::vector<tag> tags) {
  auto result = read_git_event(unsigned_event(kind, std::move(tags)));
  if (const auto* invalid = std::get_if<invalid_event>(&result))
    if constexpr (!std::is_same_v<T, invalid_event>)
      CAF_FAIL("invalid event: " << invalid->reason);
  CAF_REQUIRE(std::holds_alternative<T>(result));
  return std::get<T>(std::move(result));
}

std::string reason_of(std::uint32_t kind, std::vector<tag> tags) {
  return read<invalid_event>(kind, std::move(tags)).reason;
}

texts identifiers_of(const pull_request& request) {
  texts result;
  for (const auto& target : request.repositories)
    result.push_back(target.owner.value.substr(0, 1) + ':' + target.repo.value);
  return result;
}

const std::string no_reference
  = "PR event must reference an accepted repository or accepted event";

} // namespace

CAF_TEST(one_clone_tag_with_several_values_and_several_tags_are_the_same) {
  const texts urls{"https://a.example/x.git", "https://b.example/x.git"};
  const auto one
    = read<announcement>(30617, {{"d", "x"}, {"clone", urls[0], urls[1]}});
  const auto several = read<announcement>(
    30617, {{"d", "x"}, {"clone", urls[0]}, {"t", "y"}, {"clone", urls[1]}});
  CAF_CHECK_EQUAL(one.clone_urls, urls);
  CAF_CHECK_EQUAL(several.clone_urls, urls);
}

CAF_TEST(relays_and_maintainers_of_all_tags_are_united) {
  const auto read_one
    = read<announcement>(30617, {{"d", "x"},
                                 {"relays", "wss://a", ""},
                                 {"maintainers", key_b, "", key_b},
                                 {"relays", "wss://b"},
                                 {"maintainers", std::string(64, 'C')}});
  CAF_CHECK_EQUAL(read_one.owner.value, key_a);
  CAF_CHECK_EQUAL(read_one.relays, (texts{"wss://a", "wss://b"}));
  CAF_CHECK(read_one.maintainers == (std::set{pubkey{key_b}, pubkey{key_c}}));
}

CAF_TEST(a_bad_maintainer_is_ignored_alone) {
  const auto read_one = read<announcement>(
    30617, {{"d", "x"}, {"maintainers", "npub1junk", key_b, "abc", key_a}});
  CAF_CHECK(read_one.maintainers == (std::set{pubkey{key_a}, pubkey{key_b}}));
}

CAF_TEST(an_announcement_needs_no_clone_tag) {
  CAF_CHECK(read<announcement>(30617, {{"d", "x"}}).clone_urls.empty());
  CAF_CHECK(
    read<announcement>(30617, {{"d", "x"}, {"clone"}}).clone_urls.empty());
}

CAF_TEST(the_identifier_is_that_of_the_first_d_tag_with_a_value) {
  CAF_CHECK_EQUAL(
    read<announcement>(30617, {{}, {"d"}, {"d", "x"}, {"d", "y"}}).repo.value,
    "x");
  const std::string reason = "announcement has no valid identifier (d tag)";
  CAF_CHECK_EQUAL(reason_of(30617, {}), reason);
  CAF_CHECK_EQUAL(reason_of(30617, {{"d"}}), reason);
  CAF_CHECK_EQUAL(reason_of(30617, {{"d", ""}, {"d", "x"}}), reason);
  CAF_CHECK_EQUAL(reason_of(30617, {{"d", key_a + "/x"}}), reason);
}

CAF_TEST(identifiers_are_taken_verbatim) {
  const texts good{"x",
                   "a:b:c",
                   "my 🚀 repo",
                   "kuboslopp by Shakespeare",
                   "line\nbreak",
                   "Upper",
                   "upper",
                   "x.git",
                   ".git",
                   "...",
                   "-x",
                   "%2e%2e",
                   "e\u0301",
                   "\u00e9",
                   std::string(251, 'x')};
  for (const auto& text : good) {
    CAF_CHECK_EQUAL(read<state>(30618, {{"d", text}}).repo.value, text);
    CAF_CHECK(parse_identifier(text) == identifier{text});
  }
  const texts bad{"",
                  ".",
                  "..",
                  "a/b",
                  "/",
                  "a\\b",
                  "../x",
                  "x/.",
                  std::string("a\0b", 3),
                  std::string(252, 'x'),
                  std::string(300, 'x')};
  for (const auto& text : bad) {
    CAF_CHECK_EQUAL(reason_of(30618, {{"d", text}}),
                    "state has no valid identifier (d tag)");
    CAF_CHECK(!parse_identifier(text));
  }
}

CAF_TEST(a_pull_request_names_its_tip_repositories_and_urls) {
  const auto event
    = unsigned_event(1618, {{"a", "30617:" + key_b + ":x"},
                            {"a", "30617:" + key_c + ":x", "wss://relay"},
                            {"c", std::string(40, 'A')},
                            {"c", oid_1},
                            {"clone", "https://fork.example/x.git"},
                            {"clone", "https://b.example/prs/x.git", ""}});
  const auto request = std::get<pull_request>(read_git_event(event));
  CAF_CHECK_EQUAL(request.id, event.id);
  CAF_CHECK_EQUAL(request.author.value, key_a);
  CAF_CHECK(request.tip == oid{std::string(40, 'a')});
  CAF_CHECK_EQUAL(identifiers_of(request), (texts{"b:x", "c:x"}));
  CAF_CHECK_EQUAL(request.clone_urls, (texts{"https://fork.example/x.git",
                                             "https://b.example/prs/x.git"}));
  CAF_CHECK(!request.updates);
}

CAF_TEST(a_coordinate_is_split_at_the_first_two_colons_only) {
  const auto request = read<pull_request>(
    1618, {{"c", oid_1},
           {"a", "30617:" + key_b + ":a:b:"},
           {"a", "30617:" + std::string(64, 'B') + ":a:b:"},
           {"a", "30617:" + key_b + ":my 🚀\nrepo.git"}});
  CAF_CHECK_EQUAL(identifiers_of(request),
                  (texts{"b:a:b:", "b:my 🚀\nrepo.git"}));
}

CAF_TEST(other_a_tags_are_no_repositories) {
  for (const auto& text :
       texts{"", "30617", "30617:" + key_b, "30617:" + key_b + ":",
             "30617:" + key_b + "/x", "30617:npub1x:x", "30618:" + key_b + ":x",
             "030617:" + key_b + ":x", " 30617:" + key_b + ":x",
             "30617::" + key_b + ":x", "30617:" + key_b + ":..",
             "30617:" + key_b + ":a/b"})
    CAF_CHECK_EQUAL(reason_of(1618, {{"c", oid_1}, {"a", text}}), no_reference);
}

CAF_TEST(a_pull_request_needs_a_commit_tag_and_a_reference) {
  const tag repository{"a", "30617:" + key_b + ":x"};
  for (const std::uint32_t kind : {1618, 1619}) {
    CAF_CHECK_EQUAL(reason_of(kind, {repository}),
                    "PR event has no commit (c tag)");
    CAF_CHECK_EQUAL(reason_of(kind, {{"c", oid_1}}), no_reference);
    CAF_CHECK_EQUAL(reason_of(kind, {{"c", oid_1}, {"E", "abc"}, {"a"}}),
                    no_reference);
    for (const auto* name : {"e", "E", "q"})
      CAF_CHECK(read<pull_request>(kind, {{"c", oid_1}, {name, key_c}})
                  .tip.has_value());
  }
}

CAF_TEST(a_first_commit_tag_that_is_no_object_id_gives_no_tip) {
  const tag repository{"a", "30617:" + key_b + ":x"};
  for (const auto& text :
       texts{"", "--depth=1", "+a:b", "HEAD", "main~1", "abc123", "HEAD^{tree}",
             std::string(40, '0'), std::string(39, '1'), oid_1 + " "}) {
    const auto request
      = read<pull_request>(1618, {repository, {"c", text}, {"c", oid_1}});
    CAF_CHECK(!request.tip);
  }
  CAF_CHECK(!read<pull_request>(1618, {repository, {"c"}, {"c", oid_1}}).tip);
}

CAF_TEST(an_update_names_its_pull_request_by_a_capital_E) {
  const tag commit{"c", oid_1};
  const auto update = read<pull_request>(
    1619, {commit, {"e", key_b}, {"E", "junk"}, {"E", std::string(64, 'C')}});
  CAF_CHECK(update.updates == event_id{key_c});
  CAF_CHECK(!read<pull_request>(1619, {commit, {"e", key_b}}).updates);
  CAF_CHECK(!read<pull_request>(1618, {commit, {"E", key_b}}).updates);
}

CAF_TEST(a_deletion_takes_back_ids_and_own_coordinates_only) {
  const auto read_one
    = read<deletion>(5, {{"e", key_b},
                         {"e", "junk"},
                         {"e"},
                         {"e", std::string(64, 'C')},
                         {"a", "30617:" + key_a + ":x"},
                         {"a", "30618:" + std::string(64, 'A') + ":a:b"},
                         {"a", "30618:" + key_b + ":x"},
                         {"a", "1618:" + key_a + ":x"},
                         {"a", "30617:" + key_a + ":"}});
  CAF_CHECK_EQUAL(read_one.author.value, key_a);
  CAF_CHECK_EQUAL(read_one.created_at, 1760000000);
  CAF_CHECK(read_one.ids == (std::vector{event_id{key_b}, event_id{key_c}}));
  CAF_REQUIRE_EQUAL(read_one.coordinates.size(), 2u);
  CAF_CHECK_EQUAL(read_one.coordinates[0].kind, kind_announcement);
  CAF_CHECK_EQUAL(read_one.coordinates[0].repo.value, "x");
  CAF_CHECK_EQUAL(read_one.coordinates[1].kind, kind_state);
  CAF_CHECK_EQUAL(read_one.coordinates[1].repo.value, "a:b");
}

CAF_TEST(other_kinds_pass) {
  for (const std::uint32_t kind : {0, 1, 62, 1617, 1621, 65535})
    CAF_CHECK(std::holds_alternative<other_kind>(
      read_git_event(unsigned_event(kind, {}))));
}

CAF_TEST(object_ids_are_full_and_lower_case) {
  const std::string sha256(64, 'f');
  CAF_CHECK(parse_oid(oid_1) == oid{oid_1});
  CAF_CHECK(parse_oid(std::string(40, 'F')) == oid{std::string(40, 'f')});
  CAF_CHECK(parse_oid(sha256) == oid{sha256});
  for (const auto& text :
       texts{"", "0", "abc123", std::string(39, 'a'), std::string(41, 'a'),
             std::string(63, 'a'), std::string(65, 'a'), std::string(40, '0'),
             std::string(64, '0'), std::string(40, 'g'), "-" + oid_1.substr(1),
             " " + oid_1.substr(1), "HEAD", "--upload-pack=x"})
    CAF_CHECK(!parse_oid(text));
}

CAF_TEST(keys_and_event_ids_are_64_hex_digits) {
  CAF_CHECK(parse_pubkey(std::string(64, 'A')) == pubkey{key_a});
  CAF_CHECK(parse_event_id(std::string(64, 'B')) == event_id{key_b});
  for (const auto& text : texts{"", key_a + "a", key_a.substr(1),
                                std::string(64, 'x'), "0x" + key_a.substr(2)}) {
    CAF_CHECK(!parse_pubkey(text));
    CAF_CHECK(!parse_event_id(text));
  }
}
