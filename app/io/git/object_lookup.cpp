#include "app/io/git/object_lookup.hpp"

#include <git2.h>

#include <array>
#include <stdexcept>
#include <unordered_set>

namespace purgatory::io {

namespace {

template <auto Free>
struct freed_by {
  template <class T>
  void operator()(T* value) const {
    Free(value);
  }
};

template <class T, auto Free>
using handle = std::unique_ptr<T, freed_by<Free>>;

using odb_handle = handle<git_odb, git_odb_free>;
using repository_handle = handle<git_repository, git_repository_free>;
using iterator_handle
  = handle<git_reference_iterator, git_reference_iterator_free>;
using reference_handle = handle<git_reference, git_reference_free>;

constexpr auto no_refresh = GIT_ODB_LOOKUP_NO_REFRESH;

} // namespace

struct object_lookup::handles {
  // Counted: pairs with the shutdown in the destructor.
  handles() {
    if (git_libgit2_init() < 0)
      throw std::runtime_error("libgit2 does not start");
    git_odb* made = nullptr;
    if (git_odb_new(&made) == 0)
      odb.reset(made);
  }
  handles(const handles&) = delete;
  handles& operator=(const handles&) = delete;
  ~handles() {
    odb.reset();
    git_libgit2_shutdown();
  }

  odb_handle odb;
};

object_lookup::object_lookup(std::filesystem::path repository)
  : repository_(std::move(repository)), handles_(std::make_unique<handles>()) {
  add(repository_ / "objects");
}

object_lookup::~object_lookup() = default;

void object_lookup::add(const std::filesystem::path& objects) {
  if (handles_->odb)
    git_odb_add_disk_alternate(handles_->odb.get(), objects.c_str());
}

void object_lookup::refresh() {
  if (handles_->odb)
    git_odb_refresh(handles_->odb.get());
}

bool object_lookup::has(const oid& id) const {
  git_oid raw;
  if (!handles_->odb || id.value.size() != GIT_OID_HEXSZ
      || git_oid_fromstr(&raw, id.value.c_str()) != 0)
    return false;
  return git_odb_exists_ext(handles_->odb.get(), &raw, no_refresh) != 0;
}

std::vector<oid> object_lookup::ref_targets(std::size_t most) const {
  git_repository* opened = nullptr;
  if (git_repository_open_ext(
        &opened, repository_.c_str(),
        GIT_REPOSITORY_OPEN_NO_SEARCH | GIT_REPOSITORY_OPEN_BARE, nullptr)
      != 0)
    return {};
  const repository_handle owned{opened};
  git_reference_iterator* started = nullptr;
  if (git_reference_iterator_new(&started, opened) != 0)
    return {};
  const iterator_handle iterator{started};
  std::vector<oid> targets;
  std::unordered_set<oid> seen;
  git_reference* next = nullptr;
  while (targets.size() < most && git_reference_next(&next, started) == 0) {
    const reference_handle reference{next};
    const git_oid* target = git_reference_target(next);
    if (target == nullptr) // Symbolic: its own target is listed as well.
      continue;
    std::array<char, GIT_OID_HEXSZ + 1> text{};
    git_oid_tostr(text.data(), text.size(), target);
    if (auto [at, fresh] = seen.emplace(std::string{text.data()}); fresh)
      targets.push_back(*at);
  }
  return targets;
}

} // namespace purgatory::io
