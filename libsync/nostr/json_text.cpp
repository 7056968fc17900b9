#include "libsync/nostr/json_text.hpp"

#include "libsync/hex.hpp"

#include <array>
#include <cstdint>

namespace purgatory::nostr {

namespace {

void append_escape(std::string& out, char byte) {
  switch (byte) {
  case '"':
    out += "\\\"";
    return;
  case '\\':
    out += "\\\\";
    return;
  case '\n':
    out += "\\n";
    return;
  case '\r':
    out += "\\r";
    return;
  case '\t':
    out += "\\t";
    return;
  case '\b':
    out += "\\b";
    return;
  case '\f':
    out += "\\f";
    return;
  default:
    const std::array bytes{static_cast<std::uint8_t>(byte)};
    out += "\\u00" + to_hex(bytes);
  }
}

} // namespace

void append_json_string(std::string& out, std::string_view text, del_form del) {
  const auto needs_escape = [del](char byte) {
    return byte == '"' || byte == '\\' || static_cast<std::uint8_t>(byte) < 0x20
           || (byte == '\x7f' && del == del_form::escaped);
  };
  out += '"';
  std::size_t plain = 0; // start of the stretch not yet copied
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!needs_escape(text[i]))
      continue;
    out += text.substr(plain, i - plain);
    append_escape(out, text[i]);
    plain = i + 1;
  }
  out += text.substr(plain);
  out += '"';
}

void append_json_tags(std::string& out, const std::vector<tag>& tags,
                      del_form del) {
  out += '[';
  for (const auto& entry : tags) {
    if (out.back() != '[')
      out += ',';
    out += '[';
    for (const auto& element : entry) {
      if (out.back() != '[')
        out += ',';
      append_json_string(out, element, del);
    }
    out += ']';
  }
  out += ']';
}

} // namespace purgatory::nostr
