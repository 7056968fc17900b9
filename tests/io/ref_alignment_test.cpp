#include "tests/support/tenant_sandbox.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#define CAF_SUITE ref_alignment
#include <caf/test/dsl.hpp>

using namespace purgatory;
using purgatory::test::tenant_sandbox;

namespace fs = std::filesystem;

namespace {

using ref_map = std::map<std::string, oid>;

struct fixture : tenant_sandbox {
  std::unique_ptr<object_store> repositories = store();
  oid first;
  oid second;
  oid third;
  oid tag;

  fixture() {
    if (repositories->create(repository).result != store_result::done)
      throw std::runtime_error("no repository");
    first = commit("one");
    second = commit("two");
    third = commit("three");
    git_in(source(), {"tag", "-a", "-m", "release", "v1"});
    tag = source_id("refs/tags/v1");
    bring_objects();
  }

  store_report align(ref_map wanted, std::optional<std::string> head = {},
                     std::set<std::string> untouched = {}) {
    return repositories->align(
      repository, {std::move(wanted), std::move(untouched), std::move(head)});
  }

  /// Aligns and lets git confirm it.
  store_report expect_aligned(const ref_map& wanted) {
    auto report = align(wanted);
    CAF_CHECK_EQUAL(report.result, store_result::done);
    CAF_CHECK_EQUAL(report.detail, "");
    CAF_CHECK(refs() == wanted);
    fsck();
    return report;
  }

  std::vector<oid> kept() {
    std::vector<oid> values;
    for (const auto& [name, value] : refs_below("refs/purgatory/kept"))
      values.push_back(value);
    return values;
  }

  void lock(const std::string& name) {
    const auto path = bare() / (name + ".lock");
    fs::create_directories(path.parent_path());
    std::ofstream{path} << "";
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(ref_alignment_tests, fixture)

CAF_TEST(refs are created updated and deleted exactly) {
  expect_aligned({{"refs/heads/main", first}, {"refs/heads/old", first}});
  const auto report = expect_aligned({{"refs/heads/main", second},
                                      {"refs/heads/deep/er/name", third},
                                      {"refs/tags/v1", tag}});
  const std::vector<git::ref_change> expected = {
    {"refs/heads/deep/er/name", {}, third},
    {"refs/heads/main", first, second},
    {"refs/tags/v1", {}, tag},
    {"refs/heads/old", first, {}},
  };
  CAF_CHECK(report.changes == expected);
  CAF_CHECK(expect_aligned(refs()).changes.empty());
}

CAF_TEST(packed refs are aligned like loose ones) {
  expect_aligned({{"refs/heads/main", first},
                  {"refs/heads/old", first},
                  {"refs/heads/a", first}});
  in_bare({"pack-refs", "--all"});
  expect_aligned({{"refs/heads/main", second}, {"refs/heads/a/b", third}});
}

CAF_TEST(a file and a folder of one name change places) {
  expect_aligned({{"refs/heads/a", first}, {"refs/heads/b/c", second}});
  expect_aligned({{"refs/heads/a/b", second}, {"refs/heads/b", third}});
  expect_aligned({{"refs/heads/a", third}, {"refs/heads/b/c/d", first}});
}

CAF_TEST(five hundred refs move in one step) {
  ref_map wanted;
  for (auto i = 0; i < 500; ++i)
    wanted.emplace("refs/heads/branch-" + std::to_string(i), first);
  expect_aligned(wanted);
  wanted.clear();
  for (auto i = 250; i < 750; ++i)
    wanted.emplace("refs/heads/branch-" + std::to_string(i), second);
  const auto report = expect_aligned(wanted);
  CAF_CHECK_EQUAL(report.changes.size(), 750u);
}

CAF_TEST(HEAD follows last and only to a branch that is there) {
  CAF_CHECK_EQUAL(align({{"refs/heads/dev", first}}, "refs/heads/dev").result,
                  store_result::done);
  CAF_CHECK_EQUAL(head(), "refs/heads/dev");
  CAF_CHECK_EQUAL(
    align({{"refs/heads/dev", first}}, "refs/heads/absent").result,
    store_result::done);
  CAF_CHECK_EQUAL(head(), "refs/heads/dev");
  CAF_CHECK_EQUAL(align({{"refs/heads/dev", second}}).result,
                  store_result::done);
  CAF_CHECK_EQUAL(head(), "refs/heads/dev");
  CAF_CHECK_EQUAL(align({{"refs/tags/v1", tag}}, "refs/tags/v1").result,
                  store_result::done);
  CAF_CHECK_EQUAL(head(), "refs/heads/dev");
}

CAF_TEST(symbolic values leave a ref as it is) {
  expect_aligned({{"refs/heads/main", first}, {"refs/heads/link", second}});
  in_bare({"symbolic-ref", "refs/heads/sym", "refs/heads/main"});
  CAF_CHECK_EQUAL(align({{"refs/heads/main", third}}, {},
                        {"refs/heads/link", "refs/heads/sym"})
                    .result,
                  store_result::done);
  CAF_CHECK_EQUAL(in_bare({"symbolic-ref", "refs/heads/sym"}),
                  "refs/heads/main");
  CAF_CHECK(refs()["refs/heads/link"] == second);
}

CAF_TEST(a symbolic ref gives way to a value) {
  expect_aligned({{"refs/heads/main", first}});
  in_bare({"symbolic-ref", "refs/heads/sym", "refs/heads/main"});
  in_bare({"symbolic-ref", "refs/heads/dangling", "refs/heads/nowhere"});
  expect_aligned({{"refs/heads/main", first}, {"refs/heads/sym", first}});
  CAF_CHECK_EQUAL(
    test::run(call(bare(), {"symbolic-ref", "-q", "refs/heads/sym"})).status,
    1);
  CAF_CHECK(!fs::exists(bare() / "refs/heads/dangling"));
}

CAF_TEST(a branch that would name a tag object moves nothing) {
  expect_aligned({{"refs/heads/main", first}});
  const auto report
    = align({{"refs/heads/main", second}, {"refs/heads/rel", tag}});
  CAF_CHECK_EQUAL(report.result, store_result::failed);
  CAF_CHECK(report.detail.find("refs/heads/rel") != std::string::npos);
  CAF_CHECK(report.changes.empty());
  CAF_CHECK(refs() == (ref_map{{"refs/heads/main", first}}));
}

CAF_TEST(a tag may name anything) {
  expect_aligned({{"refs/tags/commit", first},
                  {"refs/tags/annotated", tag},
                  {"refs/tags/tree", source_id("HEAD^{tree}")},
                  {"refs/tags/blob", source_id("HEAD:file")}});
}

CAF_TEST(an object that is not here moves nothing) {
  expect_aligned({{"refs/heads/main", first}});
  const auto report = align(
    {{"refs/heads/main", second}, {"refs/tags/v9", oid{std::string(40, 'd')}}});
  CAF_CHECK_EQUAL(report.result, store_result::missing);
  CAF_CHECK(refs() == (ref_map{{"refs/heads/main", first}}));
}

CAF_TEST(names outside branches and tags or against each other move nothing) {
  expect_aligned({{"refs/heads/main", first}});
  for (const auto* name :
       {"refs/nostr/x", "refs/heads/../x", "refs/heads/a.lock", "HEAD",
        "refs/heads/a b", "refs/heads/main/below"}) {
    const auto report = align({{"refs/heads/main", second}, {name, second}});
    CAF_CHECK_EQUAL(report.result, store_result::failed);
    CAF_CHECK(refs() == (ref_map{{"refs/heads/main", first}}));
  }
}

CAF_TEST(other refs are none of its business) {
  in_bare({"update-ref", "refs/nostr/" + std::string(64, 'e'), first.value});
  in_bare({"update-ref", "refs/notes/x", first.value});
  expect_aligned({{"refs/heads/main", first}});
  expect_aligned({{"refs/heads/main", second}});
  CAF_CHECK_EQUAL(refs_below("refs/nostr refs/notes").size(), 2u);
}

CAF_TEST(tips that would be lost are kept out of sight) {
  expect_aligned({{"refs/heads/main", first},
                  {"refs/heads/gone", third},
                  {"refs/tags/v1", tag}});
  expect_aligned({{"refs/heads/main", second}, {"refs/tags/v1", tag}});
  CAF_CHECK(kept() == (std::vector<oid>{third}));
  expect_aligned({{"refs/heads/main", first}});
  auto values = kept();
  std::sort(values.begin(), values.end());
  auto expected = std::vector<oid>{second, third, tag};
  std::sort(expected.begin(), expected.end());
  // The same tip may be kept twice, at two seconds.
  values.erase(std::unique(values.begin(), values.end()), values.end());
  CAF_CHECK(values == expected);
  const auto seen = git_in(scratch(), {"ls-remote", bare().string()});
  CAF_CHECK(seen.find("purgatory") == std::string::npos);
}

CAF_TEST(anchors go once a ref holds their object) {
  const test::temp_dir empty;
  struct nothing : quarantine {
    std::string path;
    const std::string& directory() const override { return path; }
  } pack;
  pack.path = empty.path().string();
  CAF_REQUIRE_EQUAL(
    repositories->promote(repository, pack, {first, tag}).result,
    store_result::done);
  CAF_CHECK_EQUAL(refs_below("refs/purgatory").size(), 2u);
  expect_aligned({{"refs/tags/v1", tag}});
  CAF_CHECK(refs_below("refs/purgatory")
            == (ref_map{{"refs/purgatory/" + first.value, first}}));
}

CAF_TEST(a stale lock is a conflict and nothing has moved) {
  expect_aligned({{"refs/heads/main", first}, {"refs/heads/old/x", first}});
  const auto before = refs();
  const ref_map wanted{{"refs/heads/main", second}, {"refs/heads/old", third}};
  for (const auto* name :
       {"refs/heads/main", "refs/heads/old", "refs/heads/old/x"}) {
    lock(name);
    const auto report = align(wanted);
    CAF_CHECK_EQUAL(report.result, store_result::conflict);
    CAF_CHECK(report.changes.empty());
    CAF_CHECK(!report.detail.empty());
    CAF_CHECK(refs() == before);
    CAF_CHECK(kept().empty());
    fs::remove(bare() / (std::string{name} + ".lock"));
  }
  expect_aligned(wanted);
}

CAF_TEST(locks that a crash left are removed once they are old) {
  expect_aligned({{"refs/heads/main", first}, {"refs/heads/gone", first}});
  in_bare({"pack-refs", "--all"});
  const auto old = fs::file_time_type::clock::now() - std::chrono::seconds{61};
  for (const auto* name : {"refs/heads/main", "refs/heads/new",
                           "refs/heads/gone", "packed-refs"}) {
    lock(name);
    fs::last_write_time(bare() / (std::string{name} + ".lock"), old);
  }
  expect_aligned({{"refs/heads/main", second}, {"refs/heads/new", third}});
  const event_id pr{std::string(64, '7')};
  const auto name = "refs/nostr/" + pr.value;
  lock(name);
  fs::last_write_time(bare() / (name + ".lock"), old);
  CAF_CHECK_EQUAL(repositories->set_pr_ref(repository, pr, first).result,
                  store_result::done);
  fsck();
}

CAF_TEST(no update of a writer beside us is lost) {
  // git moves the branch from the second to the third commit, we move it back.
  // The log that both write must be one unbroken chain.
  expect_aligned({{"refs/heads/main", first}});
  in_bare({"config", "core.logAllRefUpdates", "always"});
  std::atomic<bool> stop{false};
  std::atomic<int> theirs{0};
  std::thread writer{[&] {
    while (!stop) {
      const auto done = test::run(call(
        bare(), {"update-ref", "refs/heads/main", third.value, second.value}));
      theirs += done.status == 0 ? 1 : 0;
    }
  }};
  auto ours = 0;
  auto conflicts = 0;
  auto others = 0;
  const auto deadline
    = std::chrono::steady_clock::now() + std::chrono::seconds{30};
  while ((ours < 20 || theirs < 20)
         && std::chrono::steady_clock::now() < deadline) {
    const auto report = align({{"refs/heads/main", second}});
    if (report.result == store_result::conflict)
      ++conflicts;
    else if (report.result != store_result::done)
      ++others;
    else if (!report.changes.empty())
      ++ours;
  }
  stop = true;
  writer.join();
  CAF_MESSAGE("ours " << ours << ", theirs " << theirs.load() << ", conflicts "
                      << conflicts);
  CAF_CHECK_EQUAL(others, 0);
  CAF_CHECK(theirs >= 20);
  CAF_CHECK(ours >= 20);

  std::ifstream log{bare() / "logs/refs/heads/main"};
  auto value = first.value;
  auto to_third = 0;
  for (std::string line; std::getline(log, line);) {
    CAF_REQUIRE_EQUAL(line.substr(0, 40), value);
    value = line.substr(41, 40);
    to_third += value == third.value ? 1 : 0;
  }
  CAF_CHECK_EQUAL(to_third, theirs.load());
  CAF_CHECK(refs()["refs/heads/main"].value == value);
  fsck();
}

CAF_TEST(a pull request ref is set once and repaired) {
  const event_id pr{std::string(64, '7')};
  const auto name = "refs/nostr/" + pr.value;
  const auto set = repositories->set_pr_ref(repository, pr, second);
  CAF_CHECK_EQUAL(set.result, store_result::done);
  CAF_CHECK(set.changes == (std::vector<git::ref_change>{{name, {}, second}}));
  CAF_CHECK(refs_below("refs/nostr") == (ref_map{{name, second}}));
  CAF_CHECK(repositories->set_pr_ref(repository, pr, second).changes.empty());
  in_bare({"update-ref", name, first.value});
  const auto repaired = repositories->set_pr_ref(repository, pr, second);
  CAF_CHECK(repaired.changes
            == (std::vector<git::ref_change>{{name, first, second}}));
  CAF_CHECK(refs_below("refs/nostr") == (ref_map{{name, second}}));
  CAF_CHECK_EQUAL(head(), "refs/heads/main");
}

CAF_TEST(a pull request needs a commit an id and the lock) {
  const event_id pr{std::string(64, '7')};
  CAF_CHECK_EQUAL(repositories->set_pr_ref(repository, pr, tag).result,
                  store_result::missing);
  CAF_CHECK_EQUAL(
    repositories->set_pr_ref(repository, pr, oid{std::string(40, 'd')}).result,
    store_result::missing);
  CAF_CHECK_EQUAL(
    repositories->set_pr_ref(repository, event_id{"../x"}, first).result,
    store_result::failed);
  lock("refs/nostr/" + pr.value);
  CAF_CHECK_EQUAL(repositories->set_pr_ref(repository, pr, first).result,
                  store_result::conflict);
  CAF_CHECK(refs_below("refs/nostr").empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
