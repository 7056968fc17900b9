#pragma once

#include "app/io/crypto/schnorr.hpp"
#include "libsync/nostr/parse.hpp"

#include <ctime>
#include <string>
#include <utility>
#include <vector>

namespace purgatory::test {

/// An event as a client of today would sign it.
inline nostr::event signed_event(const io::schnorr_key& key, std::uint32_t kind,
                                 std::vector<nostr::tag> tags,
                                 std::string content = {},
                                 unix_seconds created_at = std::time(nullptr)) {
  nostr::event result;
  result.author = key.public_key();
  result.created_at = created_at;
  result.kind = kind;
  result.tags = std::move(tags);
  result.content = std::move(content);
  result.id = nostr::compute_id(result);
  result.sig = key.sign(result.id);
  return result;
}

} // namespace purgatory::test
