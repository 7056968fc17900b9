#include "tests/support/tenant_sandbox.hpp"

#define CAF_SUITE object_store
#include <caf/test/dsl.hpp>

using namespace purgatory;
using purgatory::test::tenant_sandbox;

namespace fs = std::filesystem;

namespace {

/// An object directory like that of a fetch.
struct fake_quarantine : quarantine {
  explicit fake_quarantine(const fs::path& path) : path_(path.string()) {
    fs::create_directories(path / "pack");
  }
  const std::string& directory() const override { return path_; }
  std::string path_;
};

/// A home whose configuration would show, were it read. libgit2 looks for it
/// when it starts, so it has to come first.
struct telling_home {
  telling_home() {
    static const test::temp_dir home;
    std::ofstream{home / ".gitconfig"}
      << "[core]\n\tlogAllRefUpdates = always\n"
      << "[init]\n\tdefaultBranch = trunk\n";
    ::setenv("HOME", home.path().c_str(), 1);
  }
};

struct fixture : telling_home, tenant_sandbox {
  std::unique_ptr<object_store> repositories = store();

  store_result create() { return repositories->create(repository).result; }

  std::string setting(const std::string& key) {
    return in_bare({"config", "--local", "--get-all", key});
  }

  object_kind kind(const oid& id) {
    return repositories->kinds(repository, {id}).front();
  }

  /// The objects of `revision`, indexed by git into a quarantine.
  fake_quarantine quarantined(const std::string& revision) {
    const auto pack = run_ok_raw(
      source(), {"pack-objects", "--stdout", "--revs"}, revision + "\n");
    fake_quarantine result{bare() / "objects" / "tmp_fetch-abc123"};
    const auto objects = (bare() / "objects").string();
    git_in(bare(), {"index-pack", "--stdin", "--fix-thin", "--strict"}, pack,
           {"GIT_OBJECT_DIRECTORY=" + result.directory(),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + objects});
    return result;
  }

  std::string run_ok_raw(const fs::path& where, std::vector<std::string> words,
                         const std::string& input) {
    const auto done = test::run(call(where, std::move(words), input));
    CAF_REQUIRE_EQUAL(done.status, 0);
    return done.output;
  }

  std::vector<std::string> names(const fs::path& folder) {
    std::vector<std::string> result;
    for (const auto& entry : fs::directory_iterator{folder})
      result.push_back(entry.path().filename().string());
    std::sort(result.begin(), result.end());
    return result;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(object_store_tests, fixture)

CAF_TEST(a created repository is bare and has our settings) {
  CAF_REQUIRE_EQUAL(create(), store_result::done);
  CAF_CHECK_EQUAL(in_bare({"rev-parse", "--is-bare-repository"}), "true");
  CAF_CHECK_EQUAL(head(), "refs/heads/main");
  CAF_CHECK_EQUAL(setting("gc.auto"), "0");
  CAF_CHECK_EQUAL(setting("receive.autogc"), "false");
  CAF_CHECK_EQUAL(setting("transfer.hideRefs"), "refs/purgatory");
  CAF_CHECK_EQUAL(setting("uploadpack.allowTipSHA1InWant"), "true");
  CAF_CHECK_EQUAL(setting("uploadpack.allowReachableSHA1InWant"), "true");
  CAF_CHECK_EQUAL(setting("uploadpack.allowFilter"), "true");
  CAF_CHECK_EQUAL(
    test::run(call(bare(), {"config", "--get", "http.receivepack"})).status, 1);
  CAF_CHECK(!fs::exists(bare() / "hooks") || fs::is_empty(bare() / "hooks"));
  CAF_CHECK_EQUAL(names(bare().parent_path()).size(), 1u);
  CAF_CHECK((fs::status(bare()).permissions() & fs::perms::others_exec)
            != fs::perms::none);
  fsck();
}

CAF_TEST(a created repository can be cloned and pushed to) {
  CAF_REQUIRE_EQUAL(create(), store_result::done);
  const auto tip = commit("one");
  git_in(source(), {"push", "-q", bare().string(), "main"});
  git_in(scratch(), {"clone", "-q", bare().string(), "copy"});
  CAF_CHECK_EQUAL(git_in(scratch() / "copy", {"rev-parse", "HEAD"}), tip.value);
  fsck();
}

CAF_TEST(creating again keeps what is there) {
  CAF_REQUIRE_EQUAL(create(), store_result::done);
  commit("one");
  git_in(source(), {"push", "-q", bare().string(), "main"});
  in_bare({"config", "--add", "transfer.hideRefs", "refs/other"});
  in_bare({"config", "--unset", "gc.auto"});
  const auto before = refs();
  CAF_CHECK_EQUAL(create(), store_result::done);
  CAF_CHECK(refs() == before);
  CAF_CHECK_EQUAL(setting("transfer.hideRefs"), "refs/purgatory\nrefs/other");
  CAF_CHECK_EQUAL(setting("gc.auto"), "0");
}

CAF_TEST(creating survives half made repositories) {
  fs::create_directories(bare().parent_path() / ".creating-abcdef" / "new");
  CAF_CHECK_EQUAL(create(), store_result::done);
  fs::remove_all(bare());
  fs::create_directories(bare());
  CAF_CHECK_EQUAL(create(), store_result::done);
  fsck();
  fs::remove(bare() / "HEAD");
  CAF_CHECK_EQUAL(create(), store_result::done);
  CAF_CHECK_EQUAL(head(), "refs/heads/main");
  fs::remove(bare() / "config");
  CAF_CHECK_EQUAL(create(), store_result::done);
  CAF_CHECK_EQUAL(setting("gc.auto"), "0");
  CAF_CHECK_EQUAL(in_bare({"rev-parse", "--is-bare-repository"}), "true");
  fsck();
  repositories->remove_stale_quarantines();
  CAF_CHECK_EQUAL(names(bare().parent_path()).size(), 1u);
}

CAF_TEST(a link in place of a tenant is refused) {
  const auto elsewhere = scratch() / "elsewhere";
  git_in(scratch(), {"init", "-q", "--bare", elsewhere.string()});
  fs::create_directories(bare().parent_path());
  fs::create_directory_symlink(elsewhere, bare());
  CAF_CHECK_EQUAL(create(), store_result::failed);
  CAF_CHECK_EQUAL(repositories->align(repository, {}).result,
                  store_result::missing);
}

CAF_TEST(a name that is no file name makes no repository) {
  for (const auto* name : {"..", "a/b", "", "."}) {
    const tenant bad{repository.owner, identifier{name}};
    CAF_CHECK_EQUAL(repositories->create(bad).result, store_result::failed);
  }
  CAF_CHECK(!fs::exists(root()) || fs::is_empty(root()));
}

CAF_TEST(objects are told apart by kind) {
  CAF_REQUIRE_EQUAL(create(), store_result::done);
  const auto tip = commit("one");
  git_in(source(), {"tag", "-a", "-m", "first", "v1"});
  bring_objects();
  const auto kinds = repositories->kinds(
    repository,
    {tip, source_id("HEAD^{tree}"), source_id("HEAD:file"),
     source_id("refs/tags/v1"), oid{std::string(40, 'b')},
     oid{std::string(64, 'b')}, oid{"HEAD"}, oid{tip.value.substr(0, 10)}});
  using k = object_kind;
  const std::vector<k> expected = {k::commit, k::tree,   k::blob,   k::tag,
                                   k::absent, k::absent, k::absent, k::absent};
  CAF_CHECK(kinds == expected);
}

CAF_TEST(without a repository everything is absent or missing) {
  const oid id{std::string(40, 'a')};
  CAF_CHECK_EQUAL(kind(id), object_kind::absent);
  CAF_CHECK_EQUAL(repositories->align(repository, {}).result,
                  store_result::missing);
  CAF_CHECK_EQUAL(
    repositories->set_pr_ref(repository, event_id{std::string(64, '1')}, id)
      .result,
    store_result::missing);
  const fake_quarantine pack{scratch() / "q"};
  CAF_CHECK_EQUAL(repositories->promote(repository, pack, {id}).result,
                  store_result::missing);
}

CAF_TEST(a promoted pack is whole and its wants are anchored out of sight) {
  CAF_REQUIRE_EQUAL(create(), store_result::done);
  commit("one");
  const auto tip = commit("two");
  const auto pack = quarantined("HEAD");
  CAF_CHECK_EQUAL(kind(tip), object_kind::absent);
  const auto packs = names(fs::path{pack.directory()} / "pack");
  CAF_REQUIRE(packs.size() >= 2);

  const auto report = repositories->promote(repository, pack, {tip});
  CAF_CHECK_EQUAL(report.result, store_result::done);
  CAF_CHECK(names(bare() / "objects" / "pack") == packs);
  CAF_CHECK(fs::is_empty(fs::path{pack.directory()} / "pack"));
  CAF_CHECK_EQUAL(kind(tip), object_kind::commit);
  CAF_CHECK_EQUAL(in_bare({"for-each-ref", "--format=%(refname)"}),
                  "refs/purgatory/" + tip.value);
  CAF_CHECK_EQUAL(git_in(scratch(), {"ls-remote", bare().string()}), "");
  fsck();
  in_bare({"gc", "-q", "--prune=now"});
  CAF_CHECK_EQUAL(kind(tip), object_kind::commit);
}

CAF_TEST(promoting again changes nothing) {
  CAF_REQUIRE_EQUAL(create(), store_result::done);
  const auto tip = commit("one");
  const auto pack = quarantined("HEAD");
  CAF_REQUIRE_EQUAL(repositories->promote(repository, pack, {tip}).result,
                    store_result::done);
  CAF_CHECK_EQUAL(repositories->promote(repository, pack, {tip}).result,
                  store_result::done);
  const auto same = quarantined("HEAD");
  CAF_CHECK_EQUAL(repositories->promote(repository, same, {tip}).result,
                  store_result::done);
  fs::remove_all(same.directory());
  CAF_CHECK_EQUAL(repositories->promote(repository, same, {tip}).result,
                  store_result::done);
  fsck();
}

CAF_TEST(a promotion that a crash cut short is finished by the next) {
  CAF_REQUIRE_EQUAL(create(), store_result::done);
  const auto tip = commit("one");
  const auto pack = quarantined("HEAD");
  const auto from = fs::path{pack.directory()} / "pack";
  const auto to = bare() / "objects" / "pack";
  fs::create_directories(to);
  for (const auto& name : names(from))
    if (name.ends_with(".pack"))
      fs::rename(from / name, to / name);
  CAF_CHECK_EQUAL(kind(tip), object_kind::absent);
  CAF_CHECK_EQUAL(repositories->promote(repository, pack, {tip}).result,
                  store_result::done);
  CAF_CHECK_EQUAL(kind(tip), object_kind::commit);
  fsck();
}

CAF_TEST(loose objects of a quarantine are promoted too) {
  CAF_REQUIRE_EQUAL(create(), store_result::done);
  const auto tip = commit("one");
  const fake_quarantine pack{bare() / "objects" / "tmp_fetch-loose1"};
  for (const auto& entry : fs::directory_iterator{source() / ".git/objects"})
    if (entry.path().filename().string().size() == 2)
      fs::copy(entry.path(),
               fs::path{pack.directory()} / entry.path().filename());
  CAF_CHECK_EQUAL(repositories->promote(repository, pack, {tip}).result,
                  store_result::done);
  CAF_CHECK_EQUAL(kind(tip), object_kind::commit);
  fsck();
}

CAF_TEST(a want that did not come is reported and the others are anchored) {
  CAF_REQUIRE_EQUAL(create(), store_result::done);
  const auto tip = commit("one");
  const auto pack = quarantined("HEAD");
  const oid absent{std::string(40, 'c')};
  const auto report = repositories->promote(repository, pack, {absent, tip});
  CAF_CHECK_EQUAL(report.result, store_result::missing);
  CAF_CHECK_EQUAL(in_bare({"for-each-ref", "--format=%(refname)"}),
                  "refs/purgatory/" + tip.value);
}

CAF_TEST(objects are copied from another owner with all that they need) {
  CAF_REQUIRE_EQUAL(create(), store_result::done);
  const tenant other{pubkey{std::string(62, '0') + "b2"}, repository.repo};
  const auto there
    = root() / nostr::to_npub(other.owner) / (other.repo.value + ".git");
  const auto first = commit("one");
  const auto second = commit("two");
  bring_objects();
  const auto elsewhere = commit("three, which only the source has");
  CAF_CHECK_EQUAL(repositories->copy(other, repository, {elsewhere}).result,
                  store_result::missing);
  CAF_REQUIRE_EQUAL(repositories->copy(other, repository, {first}).result,
                    store_result::done);
  CAF_CHECK_EQUAL(git_in(there, {"rev-list", "--count", first.value}), "1");
  const auto lacking = repositories->kinds(other, {second});
  CAF_CHECK_EQUAL(lacking.front(), object_kind::absent);
  git::desired_refs wanted;
  wanted.refs["refs/heads/main"] = first;
  CAF_REQUIRE_EQUAL(repositories->align(other, wanted).result,
                    store_result::done);
  // Now what its branch has is not sent again.
  CAF_REQUIRE_EQUAL(repositories->copy(other, repository, {second}).result,
                    store_result::done);
  CAF_CHECK_EQUAL(git_in(there, {"rev-list", "--count", second.value}), "2");
  CAF_CHECK_EQUAL(repositories->copy(other, repository, {second}).result,
                  store_result::done);
  git_in(there, {"fsck", "--full", "--strict"});
  for (const auto& entry : fs::directory_iterator{there / "objects"})
    CAF_CHECK(!entry.path().filename().string().starts_with("tmp_"));
  fsck();
}

CAF_TEST(a copy from nowhere changes nothing) {
  const tenant other{pubkey{std::string(62, '0') + "b2"}, repository.repo};
  CAF_CHECK_EQUAL(
    repositories->copy(repository, other, {oid{std::string(40, 'c')}}).result,
    store_result::missing);
  CAF_CHECK(!fs::exists(bare()));
}

CAF_TEST(stale quarantines go and links are not followed) {
  CAF_REQUIRE_EQUAL(create(), store_result::done);
  const tenant other{repository.owner, identifier{"other"}};
  CAF_REQUIRE_EQUAL(repositories->create(other).result, store_result::done);
  const auto objects = bare() / "objects";
  fake_quarantine{objects / "tmp_fetch-one"};
  fake_quarantine{bare().parent_path() / "other.git/objects/tmp_fetch-two"};
  const auto outside = scratch() / "outside";
  fs::create_directories(outside / "objects" / "tmp_fetch-kept");
  std::ofstream{outside / "keep"} << "x";
  fs::create_directory_symlink(outside, objects / "tmp_fetch-link");
  fs::create_directory_symlink(outside, bare().parent_path() / "link.git");
  CAF_CHECK_EQUAL(repositories->remove_stale_quarantines(), 3u);
  CAF_CHECK(!fs::exists(fs::symlink_status(objects / "tmp_fetch-link")));
  CAF_CHECK(fs::exists(outside / "keep"));
  CAF_CHECK(fs::exists(outside / "objects" / "tmp_fetch-kept"));
  CAF_CHECK_EQUAL(repositories->remove_stale_quarantines(), 0u);
  fsck();
}

CAF_TEST(the configuration of the user is ignored) {
  CAF_REQUIRE_EQUAL(create(), store_result::done);
  const auto tip = commit("one");
  bring_objects();
  const event_id pr{std::string(64, '1')};
  CAF_REQUIRE_EQUAL(repositories->set_pr_ref(repository, pr, tip).result,
                    store_result::done);
  CAF_CHECK_EQUAL(head(), "refs/heads/main");
  CAF_CHECK(!fs::exists(bare() / "logs" / "refs" / "nostr"));
}

CAF_TEST_FIXTURE_SCOPE_END()
