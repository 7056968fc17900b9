#include "libsync/nostr/json_members.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace purgatory::nostr {

namespace {

constexpr std::string_view space = " \t\r\n";

/// A position in a JSON text.
class cursor {
public:
  explicit cursor(std::string_view text) : rest_(text) {}

  /// Takes `expected` after any space.
  bool take(char expected) {
    skip_space();
    if (!rest_.starts_with(expected))
      return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool at_end() {
    skip_space();
    return rest_.empty();
  }

  /// Takes one value; empty when there is no whole one. What is still there
  /// of a broken value stays, see `rest`.
  std::string_view take_value() {
    skip_space();
    const auto size = value_size();
    const auto value = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return value;
  }

  std::string_view rest() const { return rest_; }

private:
  void skip_space() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(space), rest_.size()));
  }

  /// Length of the string that starts at `begin`, quotes included; 0 when it
  /// does not end.
  std::size_t string_size(std::size_t begin) const {
    for (auto i = begin + 1; i < rest_.size(); ++i) {
      if (rest_[i] == '"')
        return i + 1 - begin;
      if (rest_[i] == '\\')
        ++i;
    }
    return 0;
  }

  std::size_t value_size() const {
    if (rest_.starts_with('"'))
      return string_size(0);
    if (rest_.starts_with('{') || rest_.starts_with('['))
      return nested_size();
    const auto end = rest_.find_first_of(" \t\r\n,:{}[]\"");
    return std::min(end, rest_.size());
  }

  std::size_t nested_size() const {
    std::size_t depth = 0;
    for (std::size_t i = 0; i < rest_.size();) {
      const auto byte = rest_[i];
      if (byte == '"') {
        const auto size = string_size(i);
        if (size == 0)
          return 0;
        i += size;
        continue;
      }
      ++i;
      if (byte == '{' || byte == '[')
        ++depth;
      else if ((byte == '}' || byte == ']') && --depth == 0)
        return i;
    }
    return 0;
  }

  std::string_view rest_;
};

} // namespace

bool visit_members(std::string_view text,
                   const std::function<bool(const std::string& key,
                                            std::string_view value)>& visit) {
  cursor at{text};
  if (!at.take('{'))
    return false;
  if (at.take('}'))
    return at.at_end();
  do {
    const auto key = parse_json_string(at.take_value());
    if (!key || !at.take(':'))
      return false;
    const auto value = at.take_value();
    if (value.empty()) {
      visit(*key, at.rest());
      return false;
    }
    if (!visit(*key, value))
      return false;
  } while (at.take(','));
  return at.take('}') && at.at_end();
}

std::optional<std::string> parse_json_string(std::string_view text) {
  // The check keeps the parser from building anything but a string.
  if (!text.starts_with('"'))
    return std::nullopt;
  const auto parsed
    = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  if (!parsed.is_string())
    return std::nullopt;
  return parsed.get<std::string>();
}

} // namespace purgatory::nostr
