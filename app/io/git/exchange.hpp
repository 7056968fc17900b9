#pragma once

#include "app/io/git/curl_session.hpp"
#include "app/io/git/index_pack.hpp"
#include "libsync/git/clone_url.hpp"
#include "libsync/git/upload_pack.hpp"
#include "libsync/ports.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace purgatory::io {

/// What one POST to `git-upload-pack` needs.
struct exchange_order {
  const git::clone_url& base;
  git::upload_pack_version version;
  std::span<const oid> wants;
  std::span<const oid> haves;
  std::filesystem::path repository;
  std::shared_ptr<fetch_quarantine> into;
};

/// How it went.
struct exchange_result {
  /// ok: a proven pack lies in the quarantine. not_here: `missing` is set.
  fetch_class outcome = fetch_class::internal;
  std::optional<oid> missing; ///< One want that the server does not have.
  /// A v2 request was not understood, or not answered in v2: v0 may help.
  bool ask_v0 = false;
  /// …and the reply's form shows that the host does not speak v2 at all.
  bool v0_only = false;
  std::uint64_t bytes = 0;
  bool sent = false;
  std::optional<std::chrono::seconds> retry_after; ///< With `limited`.
  std::string peer; ///< Address talked to; may be empty.
  std::string detail;
};

/// `watch` hears of each request and each pack, not only the first ones.
exchange_result exchange(curl_session& http, const fetch_settings& settings,
                         const exchange_order& order, const job_guard& guard,
                         const fetch_watch& watch);

} // namespace purgatory::io
