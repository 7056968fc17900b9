#include "app/io/git/object_copy.hpp"

#include "app/io/git/bare_repository.hpp"
#include "app/io/git/git_child.hpp"
#include "app/io/git/git_environment.hpp"
#include "app/io/git/promotion.hpp"
#include "app/io/git/quarantine.hpp"
#include "app/io/git/ref_alignment.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <string>

namespace purgatory::io {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30U;
constexpr child_limits limits{8 * gibibyte, 8 * gibibyte, 600};
constexpr auto patience = std::chrono::minutes{15};

/// Branches and tags named to the child as what need not be copied.
constexpr std::size_t max_excluded = 1000;

std::string revisions(const bare_repository& to, const std::vector<oid>& ids) {
  std::string result;
  for (const auto& id : ids)
    result += id.value + '\n';
  std::size_t excluded = 0;
  for (const auto& [name, value] : to.branches_and_tags())
    if (to_git_oid(value) && excluded++ < max_excluded)
      result += '^' + value.value + '\n';
  return result;
}

store_report failed(std::string why) {
  return {store_result::failed, {}, std::move(why)};
}

} // namespace

store_report copy_objects(const fs::path& from, const fs::path& to,
                          const std::vector<oid>& ids) {
  const auto kinds = bare_repository{from}.kinds(ids);
  if (std::find(kinds.begin(), kinds.end(), object_kind::absent) != kinds.end())
    return {store_result::missing, {}, "an object is not in the source"};
  bare_repository target{to};
  const auto into = fetch_quarantine::create(to / "objects");
  if (!into)
    return failed("no quarantine in " + to.string());
  const fs::path quarantine = into->directory();
  fs::create_directories(quarantine / "pack");
  const auto child = git_child::start(
    {"-c", "pack.threads=1", "-c", "core.packedGitLimit=256m", "pack-objects",
     "--revs", "-q", (quarantine / "pack" / "pack").string()},
    git_environment(to, quarantine, {to / "objects", from / "objects"}),
    limits);
  if (!child)
    return failed("git does not start");
  const std::atomic<bool> never{false};
  const job_guard guard{never, std::chrono::steady_clock::now() + patience};
  child->write(revisions(target, ids), guard);
  const int status = child->finish(guard);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return failed("git pack-objects: " + child->errors());
  move_objects(quarantine, to / "objects");
  return anchor(target, ids);
}

} // namespace purgatory::io
