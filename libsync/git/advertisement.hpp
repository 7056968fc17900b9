#pragma once

#include "libsync/git/pkt_line.hpp"
#include "libsync/types.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace purgatory::git {

/// What a server's answer to `/info/refs?service=git-upload-pack` turned out
/// to be (gitprotocol-http, gitprotocol-pack).
enum class advertisement_kind : std::uint8_t {
  reading,     ///< Not at its end yet.
  refs,        ///< A v0 or v1 list of refs, complete; may be empty.
  version2,    ///< The server speaks v2 unasked: capabilities, no refs.
  error,       ///< An ERR packet.
  not_smart,   ///< HTML, dumb HTTP or anything else without git's framing.
  sha256,      ///< Another object format than SHA-1.
  no_sideband, ///< A list without `side-band-64k`: too old to be asked.
  malformed,   ///< Framed by git, but no list that the protocol allows.
  oversize,    ///< Over a limit on bytes or refs.
};

struct advertisement_limits {
  std::size_t max_bytes = std::size_t{32} * 1024 * 1024;
  std::size_t max_refs = 200'000; ///< Peeled entries count.
};

/// Reads an advertisement that arrives in chunks. Only OIDs and capabilities
/// are kept: a server's ref names never become names of ours.
class advertisement_reader {
public:
  explicit advertisement_reader(advertisement_limits limits = {})
    : limits_(limits) {}

  /// Takes the next bytes. False once it can't become a usable list any more.
  bool feed(std::string_view chunk);
  /// The stream has ended.
  void finish();

  advertisement_kind kind() const { return kind_; }
  /// Whether objects can be asked for: `refs` or `version2`.
  bool is_usable() const;
  /// OIDs of refs and of what annotated tags peel to, in order, each once.
  const std::vector<oid>& tips() const { return tips_; }
  bool is_tip(const oid& id) const { return seen_.contains(id); }
  /// `name` or `name=value`, as sent. Of v2: the advertised lines.
  bool has_capability(std::string_view name) const;
  /// The remote's own history is cut off somewhere.
  bool shallow() const { return shallow_; }
  /// The text of an ERR packet, at most 256 bytes; for people.
  const std::string& error_text() const { return error_text_; }

private:
  enum class step : std::uint8_t { service, after_service, refs };

  void on_pkt(const pkt& packet);
  void on_service(const pkt& packet);
  void on_ref(std::string_view line);
  void on_first_ref(std::string_view capabilities);
  bool add_tip(std::string_view id, std::string_view name);
  void end(advertisement_kind kind);

  advertisement_limits limits_;
  pkt_reader packets_;
  std::size_t bytes_ = 0;
  std::size_t lines_ = 0;
  step step_ = step::service;
  advertisement_kind kind_ = advertisement_kind::reading;
  bool first_ref_ = true;
  bool shallow_ = false;
  std::vector<oid> tips_;
  std::unordered_set<oid> seen_;
  std::set<std::string, std::less<>> capabilities_;
  std::string error_text_;
};

} // namespace purgatory::git
