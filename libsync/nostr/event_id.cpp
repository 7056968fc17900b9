#include "libsync/hex.hpp"
#include "libsync/nostr/json_text.hpp"
#include "libsync/nostr/parse.hpp"
#include "libsync/ports.hpp"

#include <openssl/sha.h>

#include <array>

namespace purgatory::nostr {

std::string id_preimage(const event& ev, bool escape_del) {
  const auto del = escape_del ? del_form::escaped : del_form::verbatim;
  std::string out;
  out.reserve(ev.content.size() + 64 * ev.tags.size() + 200);
  out += "[0,";
  append_json_string(out, ev.author.value);
  out += ',' + std::to_string(ev.created_at);
  out += ',' + std::to_string(ev.kind) + ',';
  append_json_tags(out, ev.tags, del);
  out += ',';
  append_json_string(out, ev.content, del);
  out += ']';
  return out;
}

event_id compute_id(const event& ev, bool escape_del) {
  const auto preimage = id_preimage(ev, escape_del);
  std::array<std::uint8_t, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(preimage.data()),
         preimage.size(), digest.data());
  return event_id{to_hex(digest)};
}

bool has_valid_signature(const event& ev, const signature_verifier& verifier) {
  return verifier.verify(ev.author, ev.id, ev.sig);
}

} // namespace purgatory::nostr
