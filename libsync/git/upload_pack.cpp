#include "libsync/git/upload_pack.hpp"

#include <algorithm>

namespace purgatory::git {

namespace {

constexpr std::size_t max_error_text = 256;
constexpr std::size_t oid_digits = 40;

template <class Each>
void first_of(std::span<const oid> ids, std::size_t most, Each each) {
  for (const auto& id : ids.first(std::min(ids.size(), most)))
    each(id.value);
}

std::string v0_request(std::span<const oid> wants, std::span<const oid> haves,
                       std::string_view agent) {
  std::string body;
  std::string capabilities = " multi_ack_detailed side-band-64k thin-pack "
                             "no-progress ofs-delta agent=";
  capabilities += agent;
  first_of(wants, max_wants, [&](const std::string& id) {
    append_pkt(body, "want " + id + capabilities + "\n");
    capabilities.clear(); // Only the first line carries them.
  });
  append_flush(body);
  first_of(haves, max_haves, [&](const std::string& id) {
    append_pkt(body, "have " + id + "\n");
  });
  append_pkt(body, "done\n");
  return body;
}

std::string v2_request(std::span<const oid> wants, std::span<const oid> haves,
                       std::string_view agent) {
  std::string body;
  append_pkt(body, "command=fetch");
  append_pkt(body, "agent=" + std::string{agent});
  append_pkt(body, "object-format=sha1");
  append_delimiter(body);
  append_pkt(body, "thin-pack");
  append_pkt(body, "no-progress");
  append_pkt(body, "ofs-delta");
  first_of(wants, max_wants, [&](const std::string& id) {
    append_pkt(body, "want " + id + "\n");
  });
  first_of(haves, max_haves, [&](const std::string& id) {
    append_pkt(body, "have " + id + "\n");
  });
  append_pkt(body, "done\n");
  append_flush(body);
  return body;
}

std::optional<oid> oid_at_front(std::string_view text) {
  const auto digits = text.substr(0, oid_digits);
  if (digits.size() != oid_digits
      || digits.find_first_not_of("0123456789abcdef") != std::string_view::npos)
    return std::nullopt;
  return oid{std::string{digits}};
}

/// The object that an ERR packet says is not there. Two forms exist: git's
/// `upload-pack: not our ref <oid>` and JGit's `want <oid> not valid`.
std::optional<oid> named_missing(std::string_view text) {
  constexpr std::string_view git_form = "not our ref ";
  if (const auto at = text.find(git_form); at != std::string_view::npos)
    return oid_at_front(text.substr(at + git_form.size()));
  constexpr std::string_view jgit_form = "want ";
  if (text.starts_with(jgit_form) && text.ends_with(" not valid"))
    return oid_at_front(text.substr(jgit_form.size()));
  return std::nullopt;
}

} // namespace

std::string upload_pack_request(upload_pack_version version,
                                std::span<const oid> wants,
                                std::span<const oid> haves,
                                std::string_view agent) {
  return version == upload_pack_version::v0 ? v0_request(wants, haves, agent)
                                            : v2_request(wants, haves, agent);
}

bool upload_pack_reader::feed(std::string_view chunk) {
  while (state_ == reply_state::reading && !chunk.empty()) {
    const auto packet = packets_.next(chunk);
    if (packet)
      on_pkt(*packet);
    else if (packets_.malformed())
      state_ = version_ == upload_pack_version::v2 && packet_count_ == 0
                 ? reply_state::not_v2
                 : reply_state::malformed;
  }
  // Bytes after the end belong to no packet of this reply.
  if (state_ == reply_state::complete && !chunk.empty())
    state_ = reply_state::malformed;
  return state_ == reply_state::reading || state_ == reply_state::complete;
}

void upload_pack_reader::finish() {
  if (state_ != reply_state::reading)
    return;
  // A v0 server meets `command=fetch` with silence or a few bytes.
  const bool never_began
    = version_ == upload_pack_version::v2 && packet_count_ == 0;
  state_ = never_began ? reply_state::not_v2 : reply_state::malformed;
}

void upload_pack_reader::on_pkt(const pkt& packet) {
  ++packet_count_;
  if (packet.kind == pkt_kind::data && packet.payload.starts_with("ERR ")) {
    on_error(packet.payload.substr(4));
    return;
  }
  if (in_pack_) {
    if (packet.kind == pkt_kind::data)
      on_sideband(packet.payload);
    else
      state_ = packet.kind == pkt_kind::flush ? reply_state::complete
                                              : reply_state::malformed;
    return;
  }
  control_bytes_ += packet.payload.size() + 4;
  if (control_bytes_ > max_control_bytes) {
    state_ = reply_state::oversize;
    return;
  }
  if (packet.kind != pkt_kind::data) {
    state_ = version_ == upload_pack_version::v2 && packet_count_ == 1
               ? reply_state::not_v2
               : reply_state::malformed;
    return;
  }
  if (version_ == upload_pack_version::v2)
    on_section(without_newline(packet.payload));
  else
    on_acknowledgement(packet.payload);
}

/// After `done` a v2 server sends the pack section alone.
void upload_pack_reader::on_section(std::string_view line) {
  if (line == "packfile")
    in_pack_ = true;
  else if (line == "shallow-info")
    state_ = reply_state::shallow;
  else
    state_ = packet_count_ == 1 && line != "acknowledgments"
               ? reply_state::not_v2
               : reply_state::malformed;
}

void upload_pack_reader::on_acknowledgement(std::string_view line) {
  if (line.starts_with("ACK ") || without_newline(line) == "NAK")
    return;
  if (line.starts_with("shallow ") || line.starts_with("unshallow ")) {
    state_ = reply_state::shallow;
    return;
  }
  // The pack begins with the first packet of a band.
  in_pack_ = true;
  control_bytes_ -= line.size() + 4; // Counted again as what it is.
  on_sideband(line);
}

void upload_pack_reader::on_sideband(std::string_view payload) {
  const char band = payload.empty() ? '\0' : payload.front();
  const auto bytes = payload.substr(payload.empty() ? 0 : 1);
  if (band == '\1') {
    // An empty one keeps the connection alive.
    control_bytes_ += bytes.empty() ? 5 : 0;
    if (!bytes.empty() && !sink_(bytes)) {
      state_ = reply_state::stopped;
      return;
    }
    pack_bytes_ += bytes.size();
  } else if (band == '\2') {
    control_bytes_ += payload.size() + 4;
  } else if (band == '\3') {
    on_error(bytes);
    return;
  } else {
    state_ = reply_state::malformed;
    return;
  }
  if (control_bytes_ > max_control_bytes)
    state_ = reply_state::oversize;
}

void upload_pack_reader::on_error(std::string_view text) {
  error_text_ = without_newline(text.substr(0, max_error_text));
  missing_ = named_missing(without_newline(text));
  state_ = missing_ ? reply_state::not_our_ref : reply_state::error;
}

} // namespace purgatory::git
