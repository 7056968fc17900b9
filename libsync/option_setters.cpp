#include "libsync/option_setters.hpp"

#include "libsync/git/clone_url.hpp"

#include <algorithm>

namespace purgatory::setters {

namespace {

using std::chrono::milliseconds;
using problem = std::optional<std::string>;

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F;
}

bool is_printable_ascii(char c) {
  return c > ' ' && c < '\x7F';
}

} // namespace

std::string needs(std::string_view what, std::string_view text) {
  std::string shown{text};
  std::replace_if(shown.begin(), shown.end(), is_control, '?');
  return "needs " + std::string{what} + ", not \"" + shown + "\"";
}

option_setter size(std::uint64_t config::*member, std::uint64_t min,
                   std::uint64_t max) {
  return [=](config& target, std::string_view text) -> problem {
    const auto value = parse_size(text);
    if (!value || *value < min || *value > max)
      return needs("a size from " + size_text(min) + " to " + size_text(max)
                     + " such as 512MiB",
                   text);
    target.*member = *value;
    return std::nullopt;
  };
}

option_setter duration(milliseconds config::*member, milliseconds min,
                       milliseconds max) {
  return [=](config& target, std::string_view text) -> problem {
    const auto value = parse_duration(text);
    if (!value || *value < min || *value > max)
      return needs("a duration from " + to_text(min) + " to " + to_text(max)
                     + " such as 500ms, 20s, 30min, 4h",
                   text);
    target.*member = *value;
    return std::nullopt;
  };
}

option_setter count_of(milliseconds unit, milliseconds config::*member,
                       std::uint64_t min, std::uint64_t max) {
  return [=](config& target, std::string_view text) -> problem {
    const auto value = parse_whole(text);
    if (!value || *value < min || *value > max)
      return needs("a whole number from " + std::to_string(min) + " to "
                     + std::to_string(max),
                   text);
    target.*member = unit * static_cast<std::int64_t>(*value);
    return std::nullopt;
  };
}

option_setter fraction(double config::*member, double max) {
  return [=](config& target, std::string_view text) -> problem {
    const auto value = parse_fraction(text);
    if (!value || *value > max)
      return needs("a fraction from 0 to " + std::to_string(max).substr(0, 3)
                     + " such as 0.1",
                   text);
    target.*member = *value;
    return std::nullopt;
  };
}

option_setter toggle(bool config::*member) {
  return [=](config& target, std::string_view text) -> problem {
    const auto value = parse_switch(text);
    if (!value)
      return needs("true or false", text);
    target.*member = *value;
    return std::nullopt;
  };
}

option_setter path(std::string config::*member) {
  return [=](config& target, std::string_view text) -> problem {
    if (text.empty() || std::any_of(text.begin(), text.end(), is_control))
      return needs("a path", text);
    target.*member = text;
    return std::nullopt;
  };
}

option_setter url(std::string config::*member,
                  std::vector<std::string> prefixes) {
  return [=](config& target, std::string_view text) -> problem {
    const auto fits = [text](const std::string& prefix) {
      return text.size() > prefix.size()
             && text.substr(0, prefix.size()) == prefix
             && text[prefix.size()] != '/';
    };
    const bool is_known
      = std::any_of(prefixes.begin(), prefixes.end(), fits)
        && std::all_of(text.begin(), text.end(), is_printable_ascii);
    if (!text.empty() && !is_known) {
      std::string starts;
      for (const auto& prefix : prefixes)
        starts += (starts.empty() ? "" : " or ") + prefix;
      return needs("nothing or a URL that starts with " + starts, text);
    }
    target.*member = text;
    return std::nullopt;
  };
}

option_setter origins(std::vector<std::string> config::*member) {
  return [=](config& target, std::string_view text) -> problem {
    std::vector<std::string> found;
    for (const auto& part : split_list(text)) {
      const auto origin = git::parse_origin(part);
      if (!origin)
        return needs("hosts with or without a port, with commas between them",
                     part);
      found.push_back(*origin);
    }
    target.*member = std::move(found);
    return std::nullopt;
  };
}

option_setter ports(std::vector<std::uint16_t> config::*member) {
  return [=](config& target, std::string_view text) -> problem {
    std::vector<std::uint16_t> found;
    for (const auto& part : split_list(text)) {
      const auto port = parse_whole(part);
      if (!port || *port < 1 || *port > 65'535)
        return needs("ports from 1 to 65535 with commas between them", part);
      found.push_back(static_cast<std::uint16_t>(*port));
    }
    if (found.empty())
      return needs("at least one port", text);
    target.*member = std::move(found);
    return std::nullopt;
  };
}

} // namespace purgatory::setters
