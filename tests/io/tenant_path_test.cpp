#include "app/io/git/tenant_path.hpp"
#include "tests/support/temp_dir.hpp"

#define CAF_SUITE tenant_path

#include <caf/test/dsl.hpp>

#include <filesystem>
#include <fstream>

using namespace purgatory;
using namespace purgatory::io;
namespace fs = std::filesystem;

namespace {

struct fixture {
  test::temp_dir files;
  fs::path root = files / "git";

  static tenant named(std::string d) {
    return {pubkey{std::string(64, 'a')}, identifier{std::move(d)}};
  }
  fs::path create(const tenant& repository) const {
    const auto path = *tenant_path(root, repository);
    fs::create_directories(path);
    return path;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(tenant_path_tests, fixture)

CAF_TEST(a tenant lies below its owner under its name with git added) {
  const auto path = *tenant_path(root, named("a b: -\n.git"));
  CAF_CHECK_EQUAL(path.filename().string(), "a b: -\n.git.git");
  CAF_CHECK(path.parent_path().filename().string().starts_with("npub1"));
  CAF_CHECK(path.parent_path().parent_path() == root);
}

CAF_TEST(names that could leave the folder have no path) {
  using namespace std::string_literals;
  for (const auto& name : {""s, "."s, ".."s, "a/b"s, "/etc"s, "../x"s, "a\\b"s,
                           "a\0b"s, std::string(252, 'x')})
    CAF_CHECK(!tenant_path(root, named(name)));
  CAF_CHECK(tenant_path(root, named(std::string(251, 'x'))).has_value());
  CAF_CHECK(tenant_path(root, named("...")).has_value());
}

CAF_TEST(a key that is no hex key has no path) {
  for (const auto* key : {"", "..", "zz", "AA"})
    CAF_CHECK(!tenant_path(root, {pubkey{key}, identifier{"d"}}));
  CAF_CHECK(
    !tenant_path(root, {pubkey{std::string(64, 'A')}, identifier{"d"}}));
}

CAF_TEST(a folder that is there is found) {
  CAF_CHECK(!tenant_exists(root, named("demo")));
  create(named("demo"));
  CAF_CHECK(tenant_exists(root, named("demo")));
  CAF_CHECK(!tenant_exists(root, named("Demo")));
}

CAF_TEST(links below the root are not followed) {
  const auto real = create(named("real"));
  fs::create_directory_symlink(real, *tenant_path(root, named("link")));
  CAF_CHECK(!tenant_exists(root, named("link")));
  tenant other{pubkey{std::string(64, 'b')}, identifier{"real"}};
  fs::create_directory_symlink(real.parent_path(),
                               tenant_path(root, other)->parent_path());
  CAF_CHECK(!tenant_exists(root, other));
}

CAF_TEST(the root itself may be a link) {
  create(named("demo"));
  fs::create_directory_symlink(root, files / "alias");
  CAF_CHECK(tenant_exists(files / "alias", named("demo")));
}

CAF_TEST(a file in place of a folder is no tenant) {
  const auto path = create(named("demo"));
  fs::remove(path);
  std::ofstream{path} << "text";
  CAF_CHECK(!tenant_exists(root, named("demo")));
}

CAF_TEST_FIXTURE_SCOPE_END()
