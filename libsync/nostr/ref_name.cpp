#include "libsync/nostr/git_events.hpp"

#include <algorithm>

namespace purgatory::nostr {

namespace {

bool is_forbidden(char byte) {
  constexpr std::string_view forbidden = " ~^:?*[\\\x7f";
  return static_cast<unsigned char>(byte) < 0x20
         || forbidden.find(byte) != std::string_view::npos;
}

bool is_valid_component(std::string_view component) {
  return !component.empty() && component.front() != '.'
         && !component.ends_with(".lock");
}

} // namespace

bool is_valid_ref_name(std::string_view name) {
  if (name.find('/') == std::string_view::npos || name.ends_with('.'))
    return false;
  if (std::any_of(name.begin(), name.end(), is_forbidden))
    return false;
  if (name.find("..") != std::string_view::npos
      || name.find("@{") != std::string_view::npos)
    return false;
  for (std::size_t begin = 0; begin <= name.size();) {
    const auto end = std::min(name.find('/', begin), name.size());
    if (!is_valid_component(name.substr(begin, end - begin)))
      return false;
    begin = end + 1;
  }
  return true;
}

} // namespace purgatory::nostr
