#include "app/io/git/discovery.hpp"

#include <algorithm>
#include <chrono>

namespace purgatory::io {

namespace {

constexpr std::string_view refs_path = "/info/refs";
constexpr std::string_view refs_query = "service=git-upload-pack";

/// Feeds the advertisement's reader.
class refs_body final : public http_body {
public:
  explicit refs_body(git::advertisement_reader& reader) : reader_(reader) {}
  bool take(std::string_view bytes) override {
    begun_ = true;
    return reader_.feed(bytes);
  }
  bool has_begun() const override { return begun_; }

private:
  git::advertisement_reader& reader_;
  bool begun_ = false;
};

fetch_class to_class(git::advertisement_kind kind) {
  switch (kind) {
  case git::advertisement_kind::refs:
  case git::advertisement_kind::version2:
    return fetch_class::ok;
  case git::advertisement_kind::error:
    return fetch_class::server;
  case git::advertisement_kind::oversize:
    return fetch_class::oversize;
  case git::advertisement_kind::malformed:
    return fetch_class::corrupt;
  case git::advertisement_kind::not_smart:
  case git::advertisement_kind::sha256:
  case git::advertisement_kind::no_sideband:
    return fetch_class::unsupported;
  case git::advertisement_kind::reading:
    break;
  }
  return fetch_class::internal;
}

/// The clone URL inside a redirected `info/refs` URL; nothing unless the
/// redirect leads to such a URL.
std::optional<git::clone_url> base_of(const std::string& location) {
  const auto question = location.find('?');
  if (question == std::string::npos)
    return std::nullopt;
  auto path = std::string_view{location}.substr(0, question);
  auto query = std::string_view{location}.substr(question + 1);
  if (!path.ends_with(refs_path) || !query.starts_with(refs_query))
    return std::nullopt;
  path.remove_suffix(refs_path.size());
  query.remove_prefix(refs_query.size());
  std::string base{path};
  if (query.starts_with('&'))
    base += '?' + std::string{query.substr(1)};
  else if (!query.empty())
    return std::nullopt;
  auto parsed = git::parse_clone_url(base);
  if (auto* url = std::get_if<git::clone_url>(&parsed))
    return std::move(*url);
  return std::nullopt;
}

enum class hop : std::uint8_t { follow, leave, refuse };

hop judge_redirect(const git::clone_url& from,
                   const std::optional<git::clone_url>& to,
                   const fetch_settings& settings) {
  if (!to || !is_allowed(*to, settings))
    return hop::refuse;
  if (from.scheme == "https" && to->scheme != "https")
    return hop::refuse;
  // Limits count per host: another one needs a lease of its own.
  return to->host == from.host ? hop::follow : hop::leave;
}

} // namespace

bool is_allowed(const git::clone_url& url, const fetch_settings& settings) {
  return (url.scheme == "http" || url.scheme == "https")
         && settings.allowed_ports.contains(url.port)
         && !settings.deny_hosts.contains(url.host);
}

std::string service_url(const git::clone_url& base, std::string_view path,
                        std::string_view query) {
  const std::string_view text = base.text.value;
  const auto question = std::min(text.find('?'), text.size());
  auto place = text.substr(0, question);
  while (place.ends_with('/'))
    place.remove_suffix(1);
  auto result = std::string{place} + std::string{path};
  char separator = '?';
  const auto append = [&](std::string_view part) {
    if (part.empty())
      return;
    result += separator;
    result += part;
    separator = '&';
  };
  append(query);
  if (question < text.size())
    append(text.substr(question + 1));
  return result;
}

discovery discover(curl_session& http, const fetch_settings& settings,
                   const git::clone_url& url, const job_guard& guard,
                   const std::function<void()>& before_send) {
  discovery found;
  found.base = url;
  if (!is_allowed(url, settings)) {
    found.outcome = fetch_class::policy;
    found.detail = "scheme, port or host not allowed";
    return found;
  }
  const job_guard limited{
    guard.cancel, std::min(guard.deadline, std::chrono::steady_clock::now()
                                             + settings.discovery_timeout)};
  for (int hops = 0;; ++hops) {
    found.refs = git::advertisement_reader{settings.advertisement};
    refs_body body{found.refs};
    const auto reply
      = http.perform({service_url(found.base, refs_path, refs_query), {}}, body,
                     limited, before_send);
    found.bytes += reply.bytes;
    found.wire_requests += reply.sent ? 1 : 0;
    found.outcome = reply.outcome;
    found.detail = reply.detail;
    found.retry_after = reply.retry_after;
    if (!reply.peer.empty())
      found.peer = reply.peer;
    if (reply.redirect_to.empty() || reply.outcome != fetch_class::policy)
      break;
    auto next = base_of(reply.redirect_to);
    const auto verdict = judge_redirect(found.base, next, settings);
    if (verdict == hop::refuse || hops >= settings.max_redirects) {
      found.detail = "redirect refused";
      return found;
    }
    if (verdict == hop::leave) {
      found.outcome = fetch_class::redirected;
      found.redirect = next->text;
      return found;
    }
    found.base = std::move(*next);
  }
  if (found.outcome != fetch_class::ok)
    return found;
  found.refs.finish();
  found.outcome = to_class(found.refs.kind());
  if (found.outcome != fetch_class::ok)
    found.detail = "no usable list of refs: " + found.refs.error_text();
  return found;
}

} // namespace purgatory::io
