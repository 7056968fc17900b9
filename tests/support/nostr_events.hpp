#pragma once

#include "libsync/nostr/parse.hpp"

#include <string>
#include <vector>

namespace purgatory::test {

/// An event whose id is right; nobody has signed it.
inline nostr::event unsigned_event(std::uint32_t kind,
                                   std::vector<nostr::tag> tags,
                                   std::string content = {}) {
  nostr::event ev;
  ev.author.value = std::string(64, 'a');
  ev.created_at = 1760000000;
  ev.kind = kind;
  ev.tags = std::move(tags);
  ev.content = std::move(content);
  ev.sig = std::string(128, '0');
  ev.id = nostr::compute_id(ev);
  return ev;
}

} // namespace purgatory::test
