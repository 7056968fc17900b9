#pragma once

#include "app/io/git/fetch_settings.hpp"
#include "app/io/git/job_guard.hpp"
#include "libsync/types.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace purgatory::io {

/// Takes the body of one reply.
class http_body {
public:
  virtual ~http_body() = default;
  /// The next decoded bytes of a reply with status 200. False ends the
  /// transfer. May block; that time is not held against the server.
  virtual bool take(std::string_view bytes) = 0;
  /// What was waited for has begun to come: from here on the minimum rate
  /// counts.
  virtual bool has_begun() const = 0;
};

struct http_request {
  std::string url;
  std::vector<std::string> headers;
  /// POST with this body; nothing: GET.
  const std::string* body = nullptr;
};

/// How one request ended.
struct http_reply {
  /// `ok`: status 200 and the body at its end or refused by its taker.
  fetch_class outcome = fetch_class::internal;
  int status = 0;          ///< 0 when no header came.
  std::string redirect_to; ///< Absolute; only with a redirecting status.
  /// With `limited`: how long to stay away, if the server says so.
  std::optional<std::chrono::seconds> retry_after;
  std::string peer;        ///< Address of the server; empty behind a proxy.
  std::uint64_t bytes = 0; ///< Decoded, whatever became of them.
  bool sent = false;       ///< The request left.
  std::string detail;      ///< For people.
};

/// One thread's HTTP client on libcurl: keeps connections open between
/// requests, follows no redirect, knows no credentials, checks each address at
/// the moment of connecting (libgit2.md §2.3).
class curl_session {
public:
  /// `settings` must outlive the session.
  explicit curl_session(const fetch_settings& settings);
  ~curl_session();

  /// Runs one request. `before_send` is called when it is about to leave.
  http_reply perform(const http_request& request, http_body& body,
                     const job_guard& guard,
                     const std::function<void()>& before_send);

private:
  struct handles;
  const fetch_settings& settings_;
  std::unique_ptr<handles> handles_;
};

} // namespace purgatory::io
