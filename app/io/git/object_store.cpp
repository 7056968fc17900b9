#include "app/io/git/object_store.hpp"

#include "app/io/git/object_copy.hpp"
#include "app/io/git/promotion.hpp"
#include "app/io/git/ref_alignment.hpp"
#include "app/io/git/ref_transaction.hpp"
#include "app/io/git/repository_setup.hpp"
#include "app/io/git/tenant_path.hpp"

namespace purgatory::io {

namespace {

namespace fs = std::filesystem;

store_report no_repository(const tenant& repository) {
  return {store_result::missing, {}, "no repository " + to_string(repository)};
}

/// Runs one step; what it throws becomes a report.
template <class Step>
store_report reported(Step step) {
  try {
    return step();
  } catch (const libgit2_error& problem) {
    const auto result
      = is_conflict(problem) ? store_result::conflict : store_result::failed;
    return {result, {}, problem.what()};
  } catch (const fs::filesystem_error& problem) {
    return {store_result::failed, {}, problem.what()};
  }
}

std::size_t remove_quarantines(const fs::path& objects) {
  std::size_t removed = 0;
  for (const auto& entry : fs::directory_iterator{objects})
    if (entry.path().filename().string().starts_with("tmp_fetch-")) {
      fs::remove_all(entry.path());
      ++removed;
    }
  return removed;
}

/// A directory, and not a link to one.
bool is_real_directory(const fs::path& path) {
  return fs::is_directory(fs::symlink_status(path));
}

class libgit2_object_store final : public object_store {
public:
  explicit libgit2_object_store(fs::path root) : root_(std::move(root)) {
    init_libgit2();
  }

  store_report create(const tenant& repository) override {
    return reported([&] {
      const auto path = tenant_path(root_, repository);
      if (!path)
        return store_report{
          store_result::failed, {}, "no name for a repository"};
      set_up_repository(*path);
      return store_report{store_result::done, {}, ""};
    });
  }

  std::vector<object_kind> kinds(const tenant& repository,
                                 const std::vector<oid>& ids) override {
    const auto path = existing(repository);
    if (!path)
      return std::vector<object_kind>(ids.size(), object_kind::absent);
    return bare_repository{*path}.kinds(ids);
  }

  store_report promote(const tenant& repository, const quarantine& pack,
                       const std::vector<oid>& wants) override {
    return in_repository(repository, [&](const fs::path& path) {
      move_objects(pack.directory(), path / "objects");
      bare_repository repo{path};
      return anchor(repo, wants);
    });
  }

  store_report copy(const tenant& repository, const tenant& from,
                    const std::vector<oid>& ids) override {
    const auto source = existing(from);
    if (!source)
      return no_repository(from);
    if (const auto made = create(repository); made.result != store_result::done)
      return made;
    return in_repository(repository, [&](const fs::path& path) {
      return copy_objects(*source, path, ids);
    });
  }

  store_report align(const tenant& repository,
                     const git::desired_refs& wanted) override {
    return in_repository(repository, [&](const fs::path& path) {
      bare_repository repo{path};
      return align_refs(repo, wanted);
    });
  }

  store_report set_pr_ref(const tenant& repository, const event_id& pr,
                          const oid& tip) override {
    return in_repository(repository, [&](const fs::path& path) {
      bare_repository repo{path};
      return align_pr_ref(repo, pr, tip);
    });
  }

  std::size_t remove_stale_quarantines() override {
    std::size_t removed = 0;
    if (!fs::is_directory(root_))
      return removed;
    for (const auto& owner : fs::directory_iterator{root_}) {
      if (!is_real_directory(owner.path()))
        continue;
      remove_unfinished_setups(owner.path());
      for (const auto& repository : fs::directory_iterator{owner.path()}) {
        const auto objects = repository.path() / "objects";
        if (is_real_directory(repository.path()) && is_real_directory(objects))
          removed += remove_quarantines(objects);
      }
    }
    return removed;
  }

private:
  std::optional<fs::path> existing(const tenant& repository) const {
    if (!tenant_exists(root_, repository))
      return std::nullopt;
    return tenant_path(root_, repository);
  }

  template <class Step>
  store_report in_repository(const tenant& repository, Step step) const {
    const auto path = existing(repository);
    if (!path)
      return no_repository(repository);
    return reported([&] { return step(*path); });
  }

  fs::path root_;
};

} // namespace

std::unique_ptr<object_store> make_object_store(std::string git_root) {
  return std::make_unique<libgit2_object_store>(std::move(git_root));
}

} // namespace purgatory::io
