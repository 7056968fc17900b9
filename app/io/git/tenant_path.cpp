#include "app/io/git/tenant_path.hpp"

#include "libsync/nostr/npub.hpp"

#include <fcntl.h>

#include <algorithm>
#include <string>

namespace purgatory::io {

namespace {

// 255 bytes is the file name limit of Linux file systems; `.git` takes four.
constexpr std::size_t max_name_bytes = 251;

bool is_hex_key(const pubkey& key) {
  return key.value.size() == 64
         && key.value.find_first_not_of("0123456789abcdef")
              == std::string::npos;
}

unique_fd open_below(int parent, const std::string& name) {
  return unique_fd{::openat(parent, name.c_str(),
                            O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
}

} // namespace

bool is_plain_name(const identifier& repo) {
  const auto& name = repo.value;
  if (name.empty() || name == "." || name == ".."
      || name.size() > max_name_bytes)
    return false;
  return std::none_of(name.begin(), name.end(), [](char c) {
    return c == '/' || c == '\\' || c == '\0';
  });
}

std::optional<std::filesystem::path>
tenant_path(const std::filesystem::path& git_root, const tenant& repository) {
  if (!is_hex_key(repository.owner) || !is_plain_name(repository.repo))
    return std::nullopt;
  return git_root / nostr::to_npub(repository.owner)
         / (repository.repo.value + ".git");
}

unique_fd open_tenant(const std::filesystem::path& git_root,
                      const tenant& repository) {
  if (!tenant_path(git_root, repository))
    return {};
  // The root is the operator's choice and may be a link; what lies below is
  // named by events.
  const unique_fd root{
    ::open(git_root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!root)
    return {};
  const auto owner = open_below(root.get(), nostr::to_npub(repository.owner));
  if (!owner)
    return {};
  return open_below(owner.get(), repository.repo.value + ".git");
}

bool tenant_exists(const std::filesystem::path& git_root,
                   const tenant& repository) {
  return static_cast<bool>(open_tenant(git_root, repository));
}

} // namespace purgatory::io
