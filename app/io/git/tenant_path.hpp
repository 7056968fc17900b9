#pragma once

#include "app/io/git/unique_fd.hpp"
#include "libsync/types.hpp"

#include <filesystem>
#include <optional>

/// Where a tenant's bare repository lies: `<git_root>/<npub>/<d>.git`, names
/// verbatim (rules §2.1). The one place that turns an event's name into a path.
namespace purgatory::io {

/// True when `<d>.git` is a plain file name below its parent: `d` is not empty,
/// not `.` or `..`, without `/`, `\` and NUL, at most 251 bytes.
bool is_plain_name(const identifier& repo);

/// The repository's directory, whether or not it exists. Nothing when the key
/// is no 64-digit hex key or the name is not plain.
std::optional<std::filesystem::path>
tenant_path(const std::filesystem::path& git_root, const tenant& repository);

/// Opens the repository's directory (O_PATH) without following a symbolic
/// link below `git_root`. Not open when it does not exist, a component is a
/// link or no directory, or `tenant_path` refuses the names.
unique_fd open_tenant(const std::filesystem::path& git_root,
                      const tenant& repository);

/// True when the tenant's directory exists and no component below `git_root`
/// is a symbolic link.
bool tenant_exists(const std::filesystem::path& git_root,
                   const tenant& repository);

} // namespace purgatory::io
