#include "app/io/git/index_pack.hpp"
#include "tests/support/git_repo.hpp"
#include "tests/support/temp_dir.hpp"

#define CAF_SUITE index_pack

#include <caf/test/dsl.hpp>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <thread>

using namespace purgatory;
using namespace purgatory::io;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

struct fixture {
  test::temp_dir files;
  test::git_repo source
    = test::git_repo::with_commits(files / "source.git", 20);
  test::git_repo repository = test::git_repo::init(files / "target.git");
  fetch_settings settings;
  std::atomic<bool> cancel{false};
  job_guard guard{cancel, std::chrono::steady_clock::now() + 60s};
  std::shared_ptr<fetch_quarantine> quarantine
    = fetch_quarantine::create(repository.path() / "objects");

  fetch_class prove(const std::string& pack, std::size_t chunk = 4096) {
    index_pack proof{settings, repository.path(), quarantine, guard};
    for (std::size_t at = 0; at < pack.size(); at += chunk)
      if (!proof.write(std::string_view{pack}.substr(at, chunk)))
        break;
    return proof.finish();
  }

  std::size_t files_in_quarantine() const {
    const auto packs = fs::path{quarantine->directory()} / "pack";
    if (!fs::exists(packs))
      return 0;
    return static_cast<std::size_t>(
      std::distance(fs::directory_iterator{packs}, fs::directory_iterator{}));
  }

  static bool has_children() {
    return ::waitpid(-1, nullptr, WNOHANG) == 0 || errno != ECHILD;
  }

  static std::size_t open_descriptors() {
    return static_cast<std::size_t>(std::distance(
      fs::directory_iterator{"/proc/self/fd"}, fs::directory_iterator{}));
  }

  std::string pack_of_blob(const std::string& content) const {
    return source.pack_of(
      {source.git({"hash-object", "-w", "--stdin"}, content)});
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(index_pack_tests, fixture)

CAF_TEST(a sound pack stays in the quarantine) {
  CAF_CHECK(prove(source.pack({source.id("main")})) == fetch_class::ok);
  CAF_CHECK(files_in_quarantine() >= 2);
  CAF_CHECK(!repository.has(source.id("main")));
}

CAF_TEST(the size of chunks changes nothing) {
  const auto pack = source.pack({source.id("main")});
  for (const std::size_t chunk : {1u, 5u, 11u, 13u, 100'000u})
    CAF_CHECK(prove(pack, chunk) == fetch_class::ok);
}

CAF_TEST(a second pack may lean on the first) {
  const auto old = source.id("main~5");
  const auto main = source.id("main");
  CAF_CHECK(prove(source.pack({main}, {old})) == fetch_class::corrupt);
  CAF_CHECK_EQUAL(files_in_quarantine(), 0u);
  CAF_CHECK(prove(source.pack({old})) == fetch_class::ok);
  CAF_CHECK(prove(source.pack({main}, {old})) == fetch_class::ok);
}

CAF_TEST(a refused pack leaves what was proven before) {
  CAF_CHECK(prove(source.pack({source.id("main")})) == fetch_class::ok);
  const auto before = files_in_quarantine();
  CAF_CHECK(prove("PACK" + std::string("\0\0\0\2\0\0\0\1junkjunk", 16))
            == fetch_class::corrupt);
  CAF_CHECK_EQUAL(files_in_quarantine(), before);
}

CAF_TEST(a proof that is given up leaves nothing) {
  const auto pack = pack_of_blob(std::string(100, 'x'));
  {
    index_pack proof{settings, repository.path(), quarantine, guard};
    CAF_CHECK(proof.write(pack));
  }
  CAF_CHECK_EQUAL(files_in_quarantine(), 0u);
  CAF_CHECK(!has_children());
}

CAF_TEST(an object that needs more memory than allowed is refused) {
  settings.max_object_bytes = std::uint64_t{24} << 20U;
  CAF_CHECK(prove(pack_of_blob(std::string(60 << 20, '\0')))
            != fetch_class::ok);
  CAF_CHECK_EQUAL(files_in_quarantine(), 0u);
}

CAF_TEST(a header that claims too many objects is not indexed) {
  settings.max_pack_objects = 5;
  CAF_CHECK(prove(source.pack({source.id("main")})) == fetch_class::oversize);
  CAF_CHECK(prove("PACK" + std::string("\0\0\0\2\xff\xff\xff\xff", 8))
            == fetch_class::oversize);
}

CAF_TEST(past the deadline nothing is waited for) {
  job_guard late{cancel, std::chrono::steady_clock::now()};
  index_pack proof{settings, repository.path(), quarantine, late};
  proof.write(source.pack({source.id("main")}));
  CAF_CHECK(proof.finish() == fetch_class::timeout);
  CAF_CHECK(!has_children());
}

CAF_TEST(children that wait for a slot are cancelled) {
  // As many unfinished proofs as there are slots, then one more.
  const auto big = pack_of_blob([] {
    std::string bytes;
    for (std::uint32_t n = 0, x = 1; n < (3U << 20U); ++n) {
      x = x * 1664525U + 1013904223U;
      bytes += static_cast<char>(x >> 24U);
    }
    return bytes;
  }());
  const auto half = std::string_view{big}.substr(0, big.size() / 2);
  std::vector<std::unique_ptr<index_pack>> running;
  const auto slots = std::max(1U, std::thread::hardware_concurrency());
  for (unsigned n = 0; n < slots; ++n) {
    running.push_back(std::make_unique<index_pack>(
      settings, repository.path(),
      fetch_quarantine::create(repository.path() / "objects"), guard));
    CAF_CHECK(running.back()->write(half));
  }
  std::atomic<bool> give_up{false};
  job_guard waiting{give_up, std::chrono::steady_clock::now() + 60s};
  index_pack one_more{settings, repository.path(), quarantine, waiting};
  std::thread canceller{[&] {
    std::this_thread::sleep_for(100ms);
    give_up = true;
  }};
  CAF_CHECK(!one_more.write(half));
  canceller.join();
  CAF_CHECK(one_more.finish() == fetch_class::internal);
  running.clear();
  CAF_CHECK(!has_children());
  // The slots are free again.
  CAF_CHECK(prove(big) == fetch_class::ok);
}

CAF_TEST(no descriptor and no child is left behind) {
  const auto pack = source.pack({source.id("main")});
  prove(pack);
  const auto before = open_descriptors();
  for (int n = 0; n < 10; ++n) {
    prove(pack);
    prove(pack.substr(0, 200));
  }
  CAF_CHECK_EQUAL(open_descriptors(), before);
  CAF_CHECK(!has_children());
}

CAF_TEST_FIXTURE_SCOPE_END()
