#include "app/io/git/git_environment.hpp"

namespace purgatory::io {

namespace {

/// One entry of GIT_ALTERNATE_OBJECT_DIRECTORIES. An identifier may hold
/// colons, which would split the list, and quotes; git takes C quoting.
std::string quoted(const std::string& path) {
  std::string result = "\"";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      result += '\\';
      for (const unsigned shift : {6U, 3U, 0U})
        result += static_cast<char>('0' + (byte >> shift & 7U));
    } else
      result += c;
  }
  return result + '"';
}

} // namespace

std::vector<std::string>
git_environment(const std::filesystem::path& repository,
                const std::filesystem::path& objects,
                const std::vector<std::filesystem::path>& alternates) {
  std::string list;
  for (const auto& each : alternates)
    list += (list.empty() ? "" : ":") + quoted(each.string());
  return {"GIT_DIR=" + repository.string(),
          "GIT_OBJECT_DIRECTORY=" + objects.string(),
          "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + list,
          "GIT_CONFIG_NOSYSTEM=1",
          "GIT_CONFIG_GLOBAL=/dev/null",
          "HOME=/nonexistent",
          "LC_ALL=C"};
}

} // namespace purgatory::io
