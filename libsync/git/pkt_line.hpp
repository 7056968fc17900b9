#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// git's framing: four hex digits of length, then the payload
/// (gitprotocol-common, gitprotocol-v2).
namespace purgatory::git {

/// The largest packet, length digits included.
inline constexpr std::size_t max_pkt_bytes = 65'520;

enum class pkt_kind : std::uint8_t {
  data,         ///< Carries a payload, which may be empty.
  flush,        ///< `0000`
  delimiter,    ///< `0001`, v2 only.
  response_end, ///< `0002`, v2 only.
};

struct pkt {
  pkt_kind kind = pkt_kind::data;
  std::string_view payload; ///< Valid until the reader is used again.
};

/// Cuts a stream that arrives in arbitrary chunks into packets. Holds at most
/// one packet, and copies only those that lie across two chunks.
class pkt_reader {
public:
  /// The next packet; what was used is removed from the front of `input`.
  /// Nothing when `input` ends before the packet does (its bytes are kept) or
  /// when the stream is malformed, from then on for ever.
  std::optional<pkt> next(std::string_view& input);

  /// A length was no hex, 3, or over `max_pkt_bytes`.
  bool malformed() const { return malformed_; }
  /// No packet is half read.
  bool at_boundary() const { return !malformed_ && pending_.empty(); }

private:
  std::optional<pkt> take(std::string_view packet);

  std::string pending_; ///< The front of a packet, or one just handed out.
  bool handed_out_ = false;
  bool malformed_ = false;
};

/// Appends one data packet. `payload` has at most 65516 bytes.
void append_pkt(std::string& out, std::string_view payload);
void append_flush(std::string& out);
void append_delimiter(std::string& out);

/// A text packet without the newline that may end it.
std::string_view without_newline(std::string_view payload);

} // namespace purgatory::git
