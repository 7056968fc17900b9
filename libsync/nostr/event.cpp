#include "libsync/nostr/event.hpp"

#include "libsync/nostr/json_text.hpp"

namespace purgatory::nostr {

bool is_held_kind(std::uint32_t kind) {
  return kind == kind_announcement || kind == kind_state
         || kind == kind_pull_request || kind == kind_pull_request_update;
}

bool is_newer(const event& left, const event& right) {
  if (left.created_at != right.created_at)
    return left.created_at > right.created_at;
  return left.id < right.id;
}

std::string_view first_value(const event& ev, std::string_view name) {
  for (const auto& entry : ev.tags)
    if (!entry.empty() && entry[0] == name)
      return entry.size() > 1 ? std::string_view{entry[1]} : std::string_view{};
  return {};
}

std::string to_json(const event& ev) {
  std::string out;
  out.reserve(ev.content.size() + 64 * ev.tags.size() + 400);
  out += "{\"id\":";
  append_json_string(out, ev.id.value);
  out += ",\"pubkey\":";
  append_json_string(out, ev.author.value);
  out += ",\"created_at\":" + std::to_string(ev.created_at);
  out += ",\"kind\":" + std::to_string(ev.kind) + ",\"tags\":";
  append_json_tags(out, ev.tags);
  out += ",\"content\":";
  append_json_string(out, ev.content);
  out += ",\"sig\":";
  append_json_string(out, ev.sig);
  out += '}';
  return out;
}

} // namespace purgatory::nostr
