#include "libsync/nostr/strfry_line.hpp"

#include "libsync/nostr/json_members.hpp"
#include "libsync/nostr/json_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <utility>
#include <vector>

namespace purgatory::nostr {

namespace {

/// Collects the texts of the wanted members of an object.
class member_texts {
public:
  explicit member_texts(std::initializer_list<const char*> names) {
    for (const auto* name : names)
      found_.push_back({name, std::nullopt});
  }

  /// False when `object` is no whole object or has a wanted member twice.
  bool read(std::string_view object) {
    return visit_members(
      object, [this](const std::string& key, std::string_view value) {
        const auto wanted
          = std::find_if(found_.begin(), found_.end(),
                         [&](const auto& entry) { return entry.first == key; });
        if (wanted == found_.end())
          return true;
        if (wanted->second)
          return false;
        wanted->second = value;
        return true;
      });
  }

  /// The member's JSON text; empty if absent.
  std::string_view text(std::string_view name) const {
    for (const auto& [key, value] : found_)
      if (key == name)
        return value.value_or(std::string_view{});
    return {};
  }

private:
  std::vector<std::pair<std::string_view, std::optional<std::string_view>>>
    found_;
};

std::optional<std::uint32_t> parse_kind(std::string_view text) {
  std::uint32_t kind = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, kind);
  if (error != std::errc{} || stop != end)
    return std::nullopt;
  return kind;
}

/// A string member that may be absent. False when it is something else.
bool read_optional(const member_texts& members, std::string_view name,
                   std::string& target) {
  const auto text = members.text(name);
  if (text.empty())
    return true;
  auto parsed = parse_json_string(text);
  if (parsed)
    target = std::move(*parsed);
  return parsed.has_value();
}

/// `text` cut to at most `max_bytes` of JSON string, at a character.
std::string fitting_json(std::string_view text, std::size_t max_bytes) {
  std::string json;
  append_json_string(json, text);
  while (json.size() > max_bytes) {
    // One byte of text takes at most six of JSON, so this never cuts too much.
    auto keep
      = text.size() - std::min(text.size(), (json.size() - max_bytes + 5) / 6);
    while (keep > 0
           && (static_cast<unsigned char>(text[keep]) & 0xC0U) == 0x80U)
      --keep;
    text = text.substr(0, keep);
    json.clear();
    append_json_string(json, text);
  }
  return json;
}

constexpr std::array<const char*, 3> action_names
  = {"accept", "reject", "shadowReject"};

} // namespace

std::variant<strfry_request, strfry_failure>
parse_strfry_request(std::string_view line) {
  member_texts outer{"event", "type", "sourceType", "sourceInfo"};
  const bool is_whole = outer.read(line);
  const auto event = outer.text("event");
  member_texts inner{"id", "kind"};
  const bool is_event = inner.read(event);

  strfry_request request;
  request.raw_id = parse_json_string(inner.text("id")).value_or("");
  request.kind = parse_kind(inner.text("kind"));
  const auto failed = [&](const char* reason) {
    return strfry_failure{reason, std::move(request.raw_id), request.kind};
  };
  if (!is_whole)
    return failed("line is not one JSON object without duplicate members");
  if (event.empty())
    return failed("line has no event");
  if (!is_event)
    return failed("event is not a JSON object without duplicate members");
  if (!read_optional(outer, "type", request.type) || request.type.empty())
    return failed("line has no type");
  if (!read_optional(outer, "sourceType", request.source_type)
      || !read_optional(outer, "sourceInfo", request.source_info))
    return failed("source is not a string");
  request.event_json = event;
  return request;
}

std::string format_strfry_request(std::string_view event_json,
                                  std::string_view source_type,
                                  std::string_view source_info,
                                  unix_seconds received_at) {
  std::string line = "{\"event\":";
  line += event_json;
  // In JSON a raw line break stands between tokens only.
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::replace(line.begin(), line.end(), '\r', ' ');
  line += ",\"receivedAt\":" + std::to_string(received_at);
  line += ",\"sourceInfo\":";
  append_json_string(line, source_info);
  line += ",\"sourceType\":";
  append_json_string(line, source_type);
  line += ",\"type\":\"new\"}";
  return line;
}

const char* to_string(strfry_action action) {
  return action_names.at(static_cast<std::size_t>(action));
}

std::string format_strfry_answer(const strfry_answer& answer) {
  constexpr std::size_t max_id_bytes = 4096;
  std::string id;
  append_json_string(id, answer.raw_id);
  if (id.size() > max_id_bytes)
    id = "\"\"";
  std::string line = "{\"action\":\"";
  line += to_string(answer.action);
  line += "\",\"id\":" + id;
  if (!answer.message.empty()) {
    line += ",\"msg\":";
    const auto taken = line.size() + 2; // the closing brace and a line end
    line += fitting_json(answer.message, max_strfry_answer_bytes - taken);
  }
  line += '}';
  return line;
}

std::optional<strfry_answer> parse_strfry_answer(std::string_view line) {
  member_texts members{"id", "action", "msg"};
  if (!members.read(line))
    return std::nullopt;
  const auto id = parse_json_string(members.text("id"));
  const auto action = parse_json_string(members.text("action"));
  strfry_answer answer;
  if (!id || !action || !read_optional(members, "msg", answer.message))
    return std::nullopt;
  const auto found
    = std::find(action_names.begin(), action_names.end(), *action);
  if (found == action_names.end())
    return std::nullopt;
  answer.raw_id = *id;
  answer.action = static_cast<strfry_action>(found - action_names.begin());
  return answer;
}

} // namespace purgatory::nostr
