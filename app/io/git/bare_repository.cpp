#include "app/io/git/bare_repository.hpp"

namespace purgatory::io {

namespace {

oid value_of(const git_reference* ref) {
  if (git_reference_type(ref) == GIT_REFERENCE_SYMBOLIC)
    return oid{"ref: " + std::string{git_reference_symbolic_target(ref)}};
  return oid{git_oid_tostr_s(git_reference_target(ref))};
}

object_kind to_kind(git_object_t type) {
  switch (type) {
  case GIT_OBJECT_COMMIT:
    return object_kind::commit;
  case GIT_OBJECT_TREE:
    return object_kind::tree;
  case GIT_OBJECT_BLOB:
    return object_kind::blob;
  case GIT_OBJECT_TAG:
    return object_kind::tag;
  default:
    return object_kind::absent;
  }
}

git_oid known_oid(const oid& id) {
  const auto binary = to_git_oid(id);
  if (!binary)
    throw libgit2_error{GIT_EINVALID, "no object id: " + id.value};
  return *binary;
}

/// Reads only the header; `odb` was refreshed just before, so that a miss
/// does not rescan the packs (libgit2.md §4).
object_kind read_kind(git_odb* odb, const oid& id) {
  const auto binary = to_git_oid(id);
  if (!binary || !git_odb_exists_ext(odb, &*binary, GIT_ODB_LOOKUP_NO_REFRESH))
    return object_kind::absent;
  std::size_t bytes = 0;
  git_object_t type = GIT_OBJECT_INVALID;
  check(git_odb_read_header(&bytes, &type, odb, &*binary));
  return to_kind(type);
}

} // namespace

std::optional<git_oid> to_git_oid(const oid& id) {
  git_oid binary{};
  if (id.value.size() != GIT_OID_HEXSZ
      || git_oid_fromstr(&binary, id.value.c_str()) != 0)
    return std::nullopt;
  return binary;
}

bare_repository::bare_repository(const std::filesystem::path& path)
  : repo_(acquire<repository_handle>([&](git_repository** out) {
      return git_repository_open_bare(out, path.c_str());
    })) {}

std::vector<object_kind>
bare_repository::kinds(const std::vector<oid>& ids) const {
  const auto odb = acquire<odb_handle>(
    [&](git_odb** out) { return git_repository_odb(out, get()); });
  check(git_odb_refresh(odb.get()));
  std::vector<object_kind> result;
  result.reserve(ids.size());
  for (const auto& id : ids)
    result.push_back(read_kind(odb.get(), id));
  return result;
}

object_kind bare_repository::kind(const oid& id) const {
  return kinds({id}).front();
}

bool bare_repository::descends_from(const oid& tip, const oid& base) const {
  const auto newer = known_oid(tip);
  const auto older = known_oid(base);
  if (git_oid_equal(&newer, &older))
    return true;
  const auto answer = git_graph_descendant_of(get(), &newer, &older);
  check(answer);
  return answer == 1;
}

void bare_repository::collect(const char* pattern, ref_map& into) const {
  const auto refs
    = acquire<ref_iterator_handle>([&](git_reference_iterator** out) {
        return git_reference_iterator_glob_new(out, get(), pattern);
      });
  git_reference* raw = nullptr;
  auto code = git_reference_next(&raw, refs.get());
  for (; code == 0; code = git_reference_next(&raw, refs.get())) {
    const reference_handle ref{raw};
    into.insert_or_assign(git_reference_name(raw), value_of(raw));
  }
  if (code != GIT_ITEROVER)
    check(code);
}

bare_repository::ref_map bare_repository::branches_and_tags() const {
  ref_map refs;
  collect("refs/heads/*", refs);
  collect("refs/tags/*", refs);
  return refs;
}

std::optional<oid> bare_repository::ref(const std::string& name) const {
  git_reference* raw = nullptr;
  const auto code = git_reference_lookup(&raw, get(), name.c_str());
  if (code == GIT_ENOTFOUND)
    return std::nullopt;
  check(code);
  const reference_handle found{raw};
  return value_of(raw);
}

std::optional<std::string> bare_repository::head() const {
  static const std::string marker = "ref: ";
  const auto value = ref("HEAD");
  if (!value || !value->value.starts_with(marker))
    return std::nullopt;
  return value->value.substr(marker.size());
}

void bare_repository::set_head(const std::string& branch) {
  acquire<reference_handle>([&](git_reference** out) {
    return git_reference_symbolic_create(out, get(), "HEAD", branch.c_str(), 1,
                                         nullptr);
  });
}

void bare_repository::set_ref(const std::string& name, const oid& value) {
  const auto binary = known_oid(value);
  acquire<reference_handle>([&](git_reference** out) {
    return git_reference_create(out, get(), name.c_str(), &binary, 1, nullptr);
  });
}

void bare_repository::remove_ref(const std::string& name) {
  if (ref(name))
    check(git_reference_remove(get(), name.c_str()));
}

std::filesystem::path bare_repository::path() const {
  return git_repository_path(get());
}

} // namespace purgatory::io
