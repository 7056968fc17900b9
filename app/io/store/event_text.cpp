#include "app/io/store/event_text.hpp"

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace purgatory {

namespace {

using nlohmann::json;

json or_null(const std::optional<oid>& value) {
  return value ? json(value->value) : json();
}

} // namespace

std::string encode_event(const nostr::event& ev) {
  const json fields = {
    {"id", ev.id.value},     {"pubkey", ev.author.value},
    {"kind", ev.kind},       {"created_at", ev.created_at},
    {"tags", json(ev.tags)}, {"content", ev.content},
    {"sig", ev.sig},
  };
  return fields.dump();
}

nostr::event decode_event(std::string_view text) {
  try {
    const auto fields = json::parse(text);
    nostr::event ev;
    ev.id = event_id{fields.at("id").get<std::string>()};
    ev.author = pubkey{fields.at("pubkey").get<std::string>()};
    ev.kind = fields.at("kind").get<std::uint32_t>();
    ev.created_at = fields.at("created_at").get<unix_seconds>();
    ev.tags = fields.at("tags").get<std::vector<nostr::tag>>();
    ev.content = fields.at("content").get<std::string>();
    ev.sig = fields.at("sig").get<std::string>();
    return ev;
  } catch (const json::exception& problem) {
    throw std::runtime_error{std::string{"stored event: "} + problem.what()};
  }
}

std::string encode_changes(const std::vector<git::ref_change>& changes) {
  auto list = json::array();
  for (const auto& change : changes)
    list.push_back(
      {change.name, or_null(change.before), or_null(change.after)});
  return list.dump();
}

} // namespace purgatory
