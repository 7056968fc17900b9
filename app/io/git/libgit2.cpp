#include "app/io/git/libgit2.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <mutex>

namespace purgatory::io {

namespace {

/// Packs are checked by a limited child before they get here; these bounds are
/// the second line (libgit2.md §6).
constexpr std::size_t max_objects_in_pack = 5'000'000;
[[maybe_unused]] constexpr std::size_t max_object_bytes = std::size_t{256}
                                                          << 20U;

/// Two full ref transactions (10,000 refs, rules §2.1) and then some.
constexpr rlim_t wanted_open_files = 32'768;

void raise_open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return;
  const auto target = std::min(wanted_open_files, limit.rlim_max);
  if (limit.rlim_cur >= target)
    return;
  limit.rlim_cur = target;
  // If it fails, a very large transaction will, with its own error text.
  static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));
}

void set_options() {
  for (const auto level :
       {GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM,
        GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL})
    check(git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, level, ""));
  check(git_libgit2_opts(GIT_OPT_SET_TEMPLATE_PATH, ""));
  check(git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1));
  check(git_libgit2_opts(GIT_OPT_SET_PACK_MAX_OBJECTS, max_objects_in_pack));
  // Repositories may belong to the git server's user; we open derived paths
  // below our own root only.
  check(git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0));
#ifdef HAVE_GIT_PACK_MAX_OBJECT_SIZE
  check(git_libgit2_opts(GIT_OPT_SET_PACK_MAX_OBJECT_SIZE, max_object_bytes));
#endif
}

} // namespace

void init_libgit2() {
  static std::once_flag once;
  std::call_once(once, [] {
    check(git_libgit2_init());
    set_options();
    raise_open_files();
  });
}

void check(int code) {
  if (code >= 0)
    return;
  const auto* error = git_error_last();
  throw libgit2_error{code, error != nullptr && error->message != nullptr
                              ? error->message
                              : "libgit2 error " + std::to_string(code)};
}

} // namespace purgatory::io
