// Who may speak for whom.

#include "libsync/git/authority.hpp"
#include "libsync/git/candidates.hpp"
#include "tests/support/events.hpp"

#define CAF_SUITE authority
#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::git;
using purgatory::test::id_of;
using purgatory::test::key;

namespace {

known_announcement by(std::uint64_t owner, std::vector<std::uint64_t> lists,
                      bool served = false, unix_seconds created_at = 1000) {
  known_announcement a;
  a.content.owner = key(owner);
  a.content.repo = identifier{"r"};
  for (const auto m : lists)
    a.content.maintainers.insert(key(m));
  a.id = id_of(owner * 100 + static_cast<std::uint64_t>(created_at % 100));
  a.created_at = created_at;
  a.served = served;
  a.hosted = true;
  return a;
}

} // namespace

CAF_TEST(the closure is recursive and survives cycles) {
  authority a;
  a.put(by(1, {2}));
  a.put(by(2, {3, 1}));
  a.put(by(3, {1}));
  a.put(by(9, {}));
  CAF_CHECK_EQUAL(a.closure(key(1)).size(), 3u);
  CAF_CHECK(a.closure(key(1)).contains(key(3)));
  CAF_CHECK_EQUAL(a.closure(key(9)).size(), 1u);
  CAF_CHECK(a.closure(key(5)).empty());
}

CAF_TEST(a maintainer needs no announcement of his own) {
  authority a;
  a.put(by(1, {7}));
  CAF_REQUIRE_EQUAL(a.authorising(key(7)).size(), 1u);
  CAF_CHECK(a.authorising(key(7)).front() == key(1));
  CAF_CHECK(a.is_maintainer(key(7)));
  CAF_CHECK(!a.is_maintainer(key(8)));
}

CAF_TEST(being listed by a stranger gives him no say) {
  authority a;
  a.put(by(1, {}));
  a.put(by(9, {1}));
  CAF_CHECK(a.authorising(key(9)).size() == 1);
  CAF_CHECK(a.closure(key(1)).size() == 1);
  // The victim may state for the stranger, never the other way round.
  CAF_CHECK_EQUAL(a.authorising(key(1)).size(), 2u);
}

CAF_TEST(owners come first seen first) {
  authority a;
  a.put(by(3, {5}));
  a.put(by(1, {5}));
  const auto owners = a.authorising(key(5));
  CAF_REQUIRE_EQUAL(owners.size(), 2u);
  CAF_CHECK(owners.front() == key(3));
}

CAF_TEST(a held newer version counts beside the served one) {
  authority a;
  a.put(by(1, {2}, true, 1000));
  a.put(by(1, {3}, false, 2000));
  CAF_CHECK(a.closure(key(1)).contains(key(3)));
  CAF_CHECK(!a.closure(key(1)).contains(key(2)));
  CAF_CHECK(a.is_served(key(1)));
  a.put(by(1, {3}, true, 2000));
  CAF_CHECK(a.find(key(1))->served);
}

CAF_TEST(removing the held version leaves the served one) {
  authority a;
  a.put(by(1, {2}, true, 1000));
  auto next = by(1, {3}, false, 2001);
  a.put(next);
  a.remove(key(1), next.id);
  CAF_REQUIRE(a.find(key(1)) != nullptr);
  CAF_CHECK(a.find(key(1))->content.maintainers.contains(key(2)));
  a.remove(key(1), a.find(key(1))->id);
  CAF_CHECK(a.find(key(1)) == nullptr);
  CAF_CHECK(a.owners().empty());
}

CAF_TEST(urls are taken one per owner and turn and hosts are bounded) {
  authority a;
  auto one = by(1, {});
  one.content.clone_urls
    = {"https://a.example/1.git", "https://b.example/1.git"};
  auto two = by(2, {});
  for (int i = 0; i < 20; ++i)
    two.content.clone_urls.push_back("https://h" + std::to_string(i)
                                     + ".example/2.git");
  a.put(one);
  a.put(two);
  url_book book;
  const auto urls = announced_urls(a, {key(1), key(2)}, {}, book);
  CAF_REQUIRE_EQUAL(urls.size(), 8u);
  CAF_CHECK_EQUAL(urls[0].host.value, "a.example");
  CAF_CHECK_EQUAL(urls[1].host.value, "h0.example");
  CAF_CHECK_EQUAL(urls[2].host.value, "b.example");
}

CAF_TEST(a url book parses an event once and forgets with the configuration) {
  plan_settings settings;
  url_book book;
  const std::vector<std::string> raw
    = {"https://a.example/r.git", "https://b.example/r.git"};
  CAF_CHECK_EQUAL(book.of(id_of(1), raw, settings).size(), 2u);
  settings.deny_hosts = {"a.example"};
  CAF_CHECK_EQUAL(book.of(id_of(1), raw, settings).size(), 2u);
  CAF_CHECK_EQUAL(book.of(id_of(2), raw, settings).size(), 1u);
  book.clear();
  CAF_CHECK_EQUAL(book.of(id_of(1), raw, settings).size(), 1u);
}

CAF_TEST(unusable and own urls are left out and sixteen of one event are kept) {
  std::vector<std::string> raw
    = {"ssh://git@a.example/r.git", "git@a.example:r.git",
       "https://own.example/r.git", "https://own.example:8443/r.git",
       "https://a.example/r.git",   "https://A.example:443/r.git"};
  plan_settings settings;
  settings.own_origins = {"own.example"};
  CAF_CHECK_EQUAL(askable_urls(raw, settings).size(), 2u);
  settings.deny_hosts = {"a.example"};
  CAF_CHECK_EQUAL(askable_urls(raw, settings).size(), 1u);
  raw.clear();
  for (int i = 0; i < 40; ++i)
    raw.push_back("https://a.example/" + std::to_string(i) + ".git");
  CAF_CHECK_EQUAL(askable_urls(raw, {}).size(), 16u);
}

CAF_TEST(a long chain ends with the nearest) {
  authority a;
  for (std::uint64_t i = 0; i < 200; ++i)
    a.put(by(i, {i + 1}));
  const auto closure = a.closure(key(0));
  CAF_CHECK_EQUAL(closure.size(), max_closure);
  CAF_CHECK(closure.contains(key(63)));
  CAF_CHECK(!closure.contains(key(64)));
  CAF_CHECK_EQUAL(a.authorising(key(199)).size(), 64u);
}
