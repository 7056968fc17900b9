#pragma once

#include "app/io/git/curl_session.hpp"
#include "libsync/git/transfer_watch.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace purgatory::io {

/// One request under way: what libcurl's callbacks see and note. Lives on the
/// stack of `curl_session::perform`.
class curl_transfer {
public:
  curl_transfer(const fetch_settings& settings, http_body& body,
                const std::function<void()>& before_send, time_point deadline);

  /// Installs the callbacks in a CURL handle.
  void attach(void* easy);

  git::transfer_phase phase() const;
  int status() const;

  /// Tells the watch where things stand; the class of a broken limit.
  std::optional<fetch_class> check(time_point now);

  bool sent() const { return sent_; }
  std::uint64_t bytes() const { return bytes_; }
  /// The first Retry-After field of the last answer; nothing without one.
  const std::optional<std::string>& retry_after() const { return retry_after_; }
  bool stopped_by_body() const { return stopped_by_body_; }
  /// Every address that the name led to was refused by us.
  bool only_refused_addresses() const {
    return address_refused_ && !socket_opened_;
  }
  /// A failure found inside a callback; wins over libcurl's code.
  const std::optional<fetch_class>& failure() const { return failure_; }

  // -- called by libcurl ----------------------------------------------------

  /// The socket for an address, or -1 when we do not connect there.
  int open_socket(int family, int type, int protocol, const void* address);
  void about_to_secure();
  void about_to_send();
  bool take_header(std::string_view line);
  bool take_body(std::string_view bytes);

private:
  const fetch_settings& settings_;
  http_body& body_;
  const std::function<void()>& before_send_;
  git::transfer_watch watch_;
  void* easy_ = nullptr;
  bool socket_opened_ = false;
  bool address_refused_ = false;
  bool securing_ = false;
  bool sent_ = false;
  bool stopped_by_body_ = false;
  std::uint64_t bytes_ = 0;
  std::size_t header_bytes_ = 0;
  bool in_header_ = false; ///< Not in what follows a body.
  std::optional<std::string> retry_after_;
  std::optional<fetch_class> failure_;
};

} // namespace purgatory::io
