#pragma once

#include "app/io/git/curl_session.hpp"
#include "libsync/git/advertisement.hpp"
#include "libsync/git/clone_url.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace purgatory::io {

/// The first step of a job: the refs of a remote by v0 `info/refs`, following
/// redirects on the same host (libgit2.md §1.3).
struct discovery {
  fetch_class outcome = fetch_class::internal; ///< ok: the rest is meaningful.
  git::clone_url base; ///< Where to POST; differs from the URL after redirects.
  git::advertisement_reader refs;
  std::optional<remote_url> redirect; ///< With `redirected`.
  std::uint64_t bytes = 0;
  std::uint32_t wire_requests = 0;
  std::optional<std::chrono::seconds> retry_after; ///< With `limited`.
  std::string peer; ///< Address last talked to; may be empty.
  std::string detail;
};

/// Whether we may ask there at all: scheme, port and host against `settings`.
/// The address is checked when the connection is made.
bool is_allowed(const git::clone_url& url, const fetch_settings& settings);

/// The URL of a service path below a clone URL, in front of its query.
std::string service_url(const git::clone_url& base, std::string_view path,
                        std::string_view query);

discovery discover(curl_session& http, const fetch_settings& settings,
                   const git::clone_url& url, const job_guard& guard,
                   const std::function<void()>& before_send);

} // namespace purgatory::io
