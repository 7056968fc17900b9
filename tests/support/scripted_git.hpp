#pragma once

#include "tests/support/scripted_server.hpp"

#include <functional>
#include <string>
#include <vector>

/// Ready-made scripts: servers that fail in one particular way, and a server
/// that speaks git as far as a test wants it to.
namespace purgatory::test {

/// Takes requests and never says a word.
scripted_server::script never_answers();
/// Sends a status line at one byte per second.
scripted_server::script one_byte_per_second();
/// Answers every request in the same way.
scripted_server::script always(int status, std::string body = {},
                               std::vector<std::string> headers = {});
/// 200 with a page for people.
scripted_server::script html_page();
/// Answers every request with 302 and this Location, relative or absolute.
scripted_server::script redirects_to(std::string location);
/// A list of refs without end.
scripted_server::script endless_refs();
/// Closes every connection after reading one request.
scripted_server::script cuts_connections();

/// A server with an advertisement of these tips, and `reply` as the body of
/// every answer to a POST.
struct fake_git {
  std::vector<std::string> tips;
  std::function<std::string(const scripted_request&)> reply;
  /// Promise this many bytes more than are sent, then close.
  std::size_t missing_bytes = 0;
};
scripted_server::script speaks_git(fake_git what);

/// The `info/refs` body for these tips, capabilities of git 2.39.
std::string refs_body(const std::vector<std::string>& tips);
/// A v0 reply that carries these bytes as its pack.
std::string v0_reply(const std::string& pack);
/// A v2 reply that carries these bytes as its pack.
std::string v2_reply(const std::string& pack);
/// An ERR packet.
std::string error_reply(const std::string& text);

} // namespace purgatory::test
