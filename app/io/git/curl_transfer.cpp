#include "app/io/git/curl_transfer.hpp"

#include "libsync/git/address_policy.hpp"

#include <curl/curl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

namespace purgatory::io {

namespace {

using std::chrono::steady_clock;

// Header lines have a limit in libcurl, their number has not.
constexpr std::size_t max_header_bytes = std::size_t{256} * 1024;
// Error pages are of no interest, but reading a short one keeps the
// connection usable.
constexpr std::uint64_t max_error_page = std::uint64_t{64} * 1024;

constexpr std::string_view retry_after_name = "retry-after:";
// A date has at most 33 bytes. What is longer is no date, or a number beyond
// any limit even without its end.
constexpr std::size_t max_retry_after_bytes = 64;

/// What follows `name` in a header line; nothing for other lines. Names are
/// lower case here and any case in the line.
std::optional<std::string> value_of(std::string_view name,
                                    std::string_view line) {
  const auto same = [](char ours, char theirs) {
    const bool is_upper = theirs >= 'A' && theirs <= 'Z';
    return ours == (is_upper ? static_cast<char>(theirs - 'A' + 'a') : theirs);
  };
  if (line.size() < name.size()
      || !std::equal(name.begin(), name.end(), line.begin(), same))
    return std::nullopt;
  line.remove_prefix(name.size());
  line = line.substr(0, line.find_first_of("\r\n"));
  return std::string{line.substr(0, max_retry_after_bytes)};
}

bool is_public(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    std::array<std::uint8_t, 4> v4{};
    std::memcpy(v4.data(),
                &reinterpret_cast<const sockaddr_in&>(address).sin_addr,
                v4.size());
    return git::is_public_address(v4);
  }
  if (address.sa_family == AF_INET6) {
    std::array<std::uint8_t, 16> v6{};
    std::memcpy(v6.data(),
                &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr,
                v6.size());
    return git::is_public_address(v6);
  }
  return false;
}

curl_socket_t on_open_socket(void* self, curlsocktype, curl_sockaddr* address) {
  return static_cast<curl_transfer*>(self)->open_socket(
    address->family, address->socktype, address->protocol, &address->addr);
}

/// Called when the TCP connection stands and TLS begins.
CURLcode on_before_tls(CURL*, void*, void* self) {
  static_cast<curl_transfer*>(self)->about_to_secure();
  return CURLE_OK;
}

int on_before_send(void* self, char*, char*, int, int) {
  static_cast<curl_transfer*>(self)->about_to_send();
  return CURL_PREREQFUNC_OK;
}

std::size_t on_header(char* data, std::size_t, std::size_t size, void* self) {
  return static_cast<curl_transfer*>(self)->take_header({data, size}) ? size
                                                                      : 0;
}

std::size_t on_body(char* data, std::size_t, std::size_t size, void* self) {
  return static_cast<curl_transfer*>(self)->take_body({data, size}) ? size : 0;
}

} // namespace

curl_transfer::curl_transfer(const fetch_settings& settings, http_body& body,
                             const std::function<void()>& before_send,
                             time_point deadline)
  : settings_(settings), body_(body), before_send_(before_send),
    watch_(settings.timeouts, steady_clock::now(), deadline) {}

void curl_transfer::attach(void* easy) {
  easy_ = easy;
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &on_open_socket);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, this);
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, &on_before_tls);
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, this);
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, &on_before_send);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, this);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
}

git::transfer_phase curl_transfer::phase() const {
  if (sent_)
    return body_.has_begun() ? git::transfer_phase::receiving
                             : git::transfer_phase::waiting;
  if (securing_)
    return git::transfer_phase::securing;
  return socket_opened_ ? git::transfer_phase::connecting
                        : git::transfer_phase::resolving;
}

int curl_transfer::status() const {
  long code = 0;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &code);
  return static_cast<int>(code);
}

std::optional<fetch_class> curl_transfer::check(time_point now) {
  watch_.observe(phase(), bytes_, now);
  return watch_.verdict(now);
}

/// Sees the real address of every connection, whatever name, redirect or
/// second DNS answer led to it. Behind a proxy it would only see the proxy.
int curl_transfer::open_socket(int family, int type, int protocol,
                               const void* address) {
  if (!settings_.allow_private && settings_.proxy.empty()
      && !is_public(*static_cast<const sockaddr*>(address))) {
    address_refused_ = true;
    return CURL_SOCKET_BAD;
  }
  socket_opened_ = true;
  return ::socket(family, type | SOCK_CLOEXEC, protocol);
}

void curl_transfer::about_to_secure() {
  securing_ = true;
}

void curl_transfer::about_to_send() {
  // libcurl sends again by itself when a kept connection turns out dead.
  if (!sent_)
    before_send_();
  sent_ = true;
}

bool curl_transfer::take_header(std::string_view line) {
  header_bytes_ += line.size();
  if (header_bytes_ > max_header_bytes)
    failure_ = fetch_class::oversize;
  if (line.starts_with("HTTP/")) {
    in_header_ = true; // The one before was not the last answer.
    retry_after_.reset();
  } else if (line.find_first_not_of("\r\n") == std::string_view::npos) {
    in_header_ = false;
  } else if (in_header_ && !retry_after_) {
    retry_after_ = value_of(retry_after_name, line);
  }
  return !failure_;
}

bool curl_transfer::take_body(std::string_view bytes) {
  bytes_ += bytes.size();
  if (status() != 200)
    return bytes_ <= max_error_page;
  const auto before = steady_clock::now();
  try {
    stopped_by_body_ = !body_.take(bytes);
  } catch (const std::exception&) {
    failure_ = fetch_class::internal; // Memory: nothing may cross libcurl.
  }
  watch_.excuse(steady_clock::now() - before);
  return !stopped_by_body_ && !failure_;
}

} // namespace purgatory::io
