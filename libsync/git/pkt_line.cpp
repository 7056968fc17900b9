#include "libsync/git/pkt_line.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace purgatory::git {

namespace {

constexpr std::size_t header_bytes = 4;

std::optional<std::size_t> parse_length(std::string_view header) {
  std::size_t length = 0;
  for (const char c : header) {
    std::size_t digit = 0;
    if (c >= '0' && c <= '9')
      digit = static_cast<std::size_t>(c - '0');
    else if (c >= 'a' && c <= 'f')
      digit = static_cast<std::size_t>(c - 'a') + 10;
    else if (c >= 'A' && c <= 'F')
      digit = static_cast<std::size_t>(c - 'A') + 10;
    else
      return std::nullopt;
    length = length * 16 + digit;
  }
  // 0 to 2 are the special packets, 4 is an empty payload.
  if (length == 3 || length > max_pkt_bytes)
    return std::nullopt;
  return length;
}

std::size_t whole_size(std::size_t length) {
  return std::max(length, header_bytes);
}

} // namespace

std::optional<pkt> pkt_reader::next(std::string_view& input) {
  if (handed_out_) {
    pending_.clear();
    handed_out_ = false;
  }
  if (malformed_)
    return std::nullopt;
  if (pending_.empty() && input.size() >= header_bytes) {
    const auto length = parse_length(input.substr(0, header_bytes));
    if (!length) {
      malformed_ = true;
      return std::nullopt;
    }
    if (input.size() >= whole_size(*length)) {
      const auto packet = input.substr(0, whole_size(*length));
      input.remove_prefix(packet.size());
      return take(packet);
    }
  }
  const auto fill_up_to = [&](std::size_t size) {
    const auto n = std::min(size - pending_.size(), input.size());
    pending_.append(input.substr(0, n));
    input.remove_prefix(n);
    return pending_.size() == size;
  };
  if (pending_.size() < header_bytes && !fill_up_to(header_bytes))
    return std::nullopt;
  const auto length
    = parse_length(std::string_view{pending_}.substr(0, header_bytes));
  if (!length) {
    malformed_ = true;
    return std::nullopt;
  }
  if (!fill_up_to(whole_size(*length)))
    return std::nullopt;
  handed_out_ = true;
  return take(pending_);
}

std::optional<pkt> pkt_reader::take(std::string_view packet) {
  const auto length = *parse_length(packet.substr(0, header_bytes));
  switch (length) {
  case 0:
    return pkt{pkt_kind::flush, {}};
  case 1:
    return pkt{pkt_kind::delimiter, {}};
  case 2:
    return pkt{pkt_kind::response_end, {}};
  default:
    return pkt{pkt_kind::data, packet.substr(header_bytes)};
  }
}

void append_pkt(std::string& out, std::string_view payload) {
  assert(payload.size() + header_bytes <= max_pkt_bytes);
  static constexpr std::string_view digits = "0123456789abcdef";
  const auto length = payload.size() + header_bytes;
  for (const unsigned shift : {12U, 8U, 4U, 0U})
    out += digits[(length >> shift) & 0xFU];
  out += payload;
}

void append_flush(std::string& out) {
  out += "0000";
}

void append_delimiter(std::string& out) {
  out += "0001";
}

std::string_view without_newline(std::string_view payload) {
  if (!payload.empty() && payload.back() == '\n')
    payload.remove_suffix(1);
  return payload;
}

} // namespace purgatory::git
