#include "libsync/nostr/relay_message.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

namespace purgatory::nostr {

namespace {

using nlohmann::json;

constexpr std::size_t max_elements = 8;
constexpr std::size_t max_depth = 16;
constexpr std::string_view blanks = " \t\r\n";

using elements = std::vector<std::string_view>;

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Finds where the elements of an array begin and end, and bounds its depth.
/// Each element is parsed on its own afterwards, so that the event's text can
/// be passed on untouched.
class splitter {
public:
  explicit splitter(std::string_view inner) : inner_(inner) {}

  std::optional<elements> run() {
    for (std::size_t i = 0; i < inner_.size(); ++i)
      if (!step(i))
        return std::nullopt;
    if (in_string_ || depth_ != 0)
      return std::nullopt;
    take(inner_.size());
    if (found_.size() > max_elements)
      return std::nullopt;
    return std::move(found_);
  }

private:
  bool step(std::size_t i) {
    const char c = inner_[i];
    if (in_string_)
      return in_text(c);
    if (c == '"')
      in_string_ = true;
    else if (c == '[' || c == '{')
      return ++depth_ <= max_depth;
    else if (c == ']' || c == '}')
      return depth_-- > 0;
    else if (c == ',' && depth_ == 0)
      return take(i);
    return true;
  }

  bool in_text(char c) {
    if (escaped_)
      escaped_ = false;
    else if (c == '\\')
      escaped_ = true;
    else if (c == '"')
      in_string_ = false;
    return true;
  }

  bool take(std::size_t end) {
    found_.push_back(trim(inner_.substr(begin_, end - begin_)));
    begin_ = end + 1;
    return found_.size() <= max_elements;
  }

  std::string_view inner_;
  elements found_;
  std::size_t begin_ = 0;
  std::size_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

std::optional<elements> split_array(std::string_view text) {
  text = trim(text);
  if (text.size() < 2 || text.front() != '[' || text.back() != ']')
    return std::nullopt;
  return splitter{text.substr(1, text.size() - 2)}.run();
}

json parse(std::string_view text) {
  return json::parse(text, nullptr, false);
}

std::optional<std::string> text_at(const elements& parts, std::size_t i) {
  if (i >= parts.size())
    return std::nullopt;
  const auto value = parse(parts[i]);
  if (!value.is_string())
    return std::nullopt;
  return value.get<std::string>();
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

std::optional<std::string> text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string())
    return std::nullopt;
  return lower(found->get<std::string>());
}

std::optional<std::uint64_t> number_of(const json& object, const char* key,
                                       std::uint64_t max) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned())
    return std::nullopt;
  const auto value = found->get<std::uint64_t>();
  if (value > max)
    return std::nullopt;
  return value;
}

std::optional<relay_message> parse_event(const elements& parts) {
  auto subscription = text_at(parts, 1);
  if (!subscription || parts.size() < 3)
    return std::nullopt;
  const auto event = parse(parts[2]);
  if (!event.is_object())
    return std::nullopt;
  auto id = text_of(event, "id");
  auto author = text_of(event, "pubkey");
  const auto time
    = number_of(event, "created_at", std::numeric_limits<unix_seconds>::max());
  const auto kind
    = number_of(event, "kind", std::numeric_limits<std::uint32_t>::max());
  if (!id || !author || !time || !kind)
    return std::nullopt;
  return served_event{
    std::move(*subscription),         std::string{parts[2]},
    event_id{std::move(*id)},         pubkey{std::move(*author)},
    static_cast<unix_seconds>(*time), static_cast<std::uint32_t>(*kind)};
}

std::optional<relay_message> parse_ok(const elements& parts) {
  auto id = text_at(parts, 1);
  if (!id || parts.size() < 3)
    return std::nullopt;
  const auto accepted = parse(parts[2]);
  if (!accepted.is_boolean())
    return std::nullopt;
  // The fourth element is mandatory, but old relays leave it out.
  auto message = text_at(parts, 3);
  return ok_answer{event_id{lower(std::move(*id))}, accepted.get<bool>(),
                   std::move(message).value_or("")};
}

} // namespace

std::optional<relay_message> parse_relay_message(std::string_view text) {
  if (text.size() > max_relay_message_bytes)
    return std::nullopt;
  const auto parts = split_array(text);
  if (!parts)
    return std::nullopt;
  const auto type = text_at(*parts, 0);
  if (type == "EVENT")
    return parse_event(*parts);
  if (type == "OK")
    return parse_ok(*parts);
  auto first = text_at(*parts, 1);
  if (!type || !first)
    return std::nullopt;
  if (*type == "EOSE")
    return end_of_stored{std::move(*first)};
  if (*type == "CLOSED")
    return subscription_closed{std::move(*first),
                               text_at(*parts, 2).value_or("")};
  if (*type == "NOTICE")
    return notice{std::move(*first)};
  if (*type == "AUTH")
    return auth_challenge{std::move(*first)};
  return std::nullopt;
}

namespace {

template <class Tag>
json texts(const std::vector<strong_text<Tag>>& values) {
  auto result = json::array();
  for (const auto& value : values)
    result.push_back(value.value);
  return result;
}

json to_json_value(const filter& wanted) {
  auto result = json::object();
  if (!wanted.ids.empty())
    result["ids"] = texts(wanted.ids);
  if (!wanted.kinds.empty())
    result["kinds"] = wanted.kinds;
  if (!wanted.authors.empty())
    result["authors"] = texts(wanted.authors);
  if (wanted.d)
    result["#d"] = json::array({*wanted.d});
  if (wanted.limit)
    result["limit"] = *wanted.limit;
  return result;
}

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace

std::string event_message(std::string_view event_json) {
  std::string result = R"(["EVENT",)";
  result += event_json;
  result += ']';
  return result;
}

std::string request_message(std::string_view subscription,
                            const std::vector<filter>& filters) {
  auto result = json::array({"REQ", subscription});
  for (const auto& wanted : filters)
    result.push_back(to_json_value(wanted));
  return dump(result);
}

std::string close_message(std::string_view subscription) {
  return dump(json::array({"CLOSE", subscription}));
}

} // namespace purgatory::nostr
