#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace purgatory::io {

/// The whole environment of a git child: it works on `repository`, writes its
/// objects into `objects` and also reads those in `alternates`. Nothing of ours
/// and no configuration but the repository's own reaches it.
std::vector<std::string>
git_environment(const std::filesystem::path& repository,
                const std::filesystem::path& objects,
                const std::vector<std::filesystem::path>& alternates);

} // namespace purgatory::io
