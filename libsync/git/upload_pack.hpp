#pragma once

#include "libsync/git/pkt_line.hpp"
#include "libsync/types.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// One exchange of `git-upload-pack` over stateless HTTP: a request of wants,
/// haves and `done`, and a reply with the pack (gitprotocol-pack,
/// gitprotocol-v2; libgit2.md §1.3). Full history only: never depth or filter.
namespace purgatory::git {

enum class upload_pack_version : std::uint8_t { v0, v2 };

inline constexpr std::size_t max_wants = 2000;
inline constexpr std::size_t max_haves = 512;

/// The body of one POST. `wants` is not empty; what is over `max_wants` and
/// `max_haves` is left out. `agent` is one word of printable ASCII.
std::string upload_pack_request(upload_pack_version version,
                                std::span<const oid> wants,
                                std::span<const oid> haves,
                                std::string_view agent);

enum class reply_state : std::uint8_t {
  reading,     ///< Not at its end yet.
  complete,    ///< The pack is complete as far as the framing tells.
  not_our_ref, ///< The server lacks one want: `missing()`.
  error,       ///< Another ERR packet, or a fatal one on band 3.
  not_v2,      ///< A v2 request met a server that does not speak v2.
  shallow,     ///< History would be cut off; we never asked for that.
  malformed,   ///< Not what the protocol allows, or ended too early.
  oversize,    ///< Over the limit of bytes around the pack.
  stopped,     ///< The sink refused the pack's bytes.
};

/// Reads a reply that arrives in chunks and hands on the bytes of the pack.
class upload_pack_reader {
public:
  /// Returns false to stop the transfer.
  using pack_sink = std::function<bool(std::string_view)>;

  /// Bytes allowed around the pack: acknowledgements and progress.
  static constexpr std::size_t max_control_bytes = std::size_t{4} * 1024 * 1024;

  upload_pack_reader(upload_pack_version version, pack_sink sink)
    : version_(version), sink_(std::move(sink)) {}

  /// Takes the next bytes. False once nothing more is wanted.
  bool feed(std::string_view chunk);
  /// The stream has ended.
  void finish();

  reply_state state() const { return state_; }
  /// The OID named by a `not_our_ref` reply. The caller checks that it was
  /// asked for.
  const std::optional<oid>& missing() const { return missing_; }
  /// Bytes of pack handed on.
  std::uint64_t pack_bytes() const { return pack_bytes_; }
  /// What the server said with `error` or `not_our_ref`, at most 256 bytes;
  /// for people.
  const std::string& error_text() const { return error_text_; }

private:
  void on_pkt(const pkt& packet);
  void on_section(std::string_view line);
  void on_acknowledgement(std::string_view line);
  void on_sideband(std::string_view payload);
  void on_error(std::string_view text);

  upload_pack_version version_;
  pack_sink sink_;
  pkt_reader packets_;
  reply_state state_ = reply_state::reading;
  bool in_pack_ = false;
  std::size_t packet_count_ = 0;
  std::size_t control_bytes_ = 0;
  std::uint64_t pack_bytes_ = 0;
  std::optional<oid> missing_;
  std::string error_text_;
};

} // namespace purgatory::git
