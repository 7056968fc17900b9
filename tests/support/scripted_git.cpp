#include "tests/support/scripted_git.hpp"

#include "libsync/git/pkt_line.hpp"

#include <algorithm>

namespace purgatory::test {

namespace {

constexpr std::chrono::seconds forever{600};

void append_pack(std::string& body, const std::string& pack) {
  constexpr std::size_t band_bytes = 60'000;
  for (std::size_t at = 0; at < pack.size(); at += band_bytes)
    git::append_pkt(body, '\1' + pack.substr(at, band_bytes));
  git::append_flush(body);
}

} // namespace

scripted_server::script never_answers() {
  return [](scripted_connection& client) {
    scripted_request request;
    while (client.read(request))
      client.pause(forever);
  };
}

scripted_server::script one_byte_per_second() {
  return [](scripted_connection& client) {
    scripted_request request;
    if (!client.read(request))
      return;
    const std::string line = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";
    for (const char c : line) {
      if (client.stopping() || !client.send({&c, 1}))
        return;
      client.pause(std::chrono::seconds{1});
    }
  };
}

scripted_server::script always(int status, std::string body,
                               std::vector<std::string> headers) {
  return [=](scripted_connection& client) {
    scripted_request request;
    while (client.read(request) && client.answer(status, body, headers)) {
    }
  };
}

scripted_server::script html_page() {
  return always(200, "<!doctype html><title>hello</title>",
                {"Content-Type: text/html"});
}

scripted_server::script redirects_to(std::string location) {
  return always(302, "moved", {"Location: " + std::move(location)});
}

scripted_server::script endless_refs() {
  return [](scripted_connection& client) {
    scripted_request request;
    if (!client.read(request)
        || !client.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"))
      return;
    auto body = refs_body({std::string(40, 'a')});
    body.resize(body.size() - 4); // The flush that would end it.
    while (!client.stopping() && client.send(body)) {
      body.clear();
      for (int n = 0; n < 1000; ++n)
        git::append_pkt(body, std::string(40, 'b') + " refs/heads/x\n");
    }
  };
}

scripted_server::script cuts_connections() {
  return [](scripted_connection& client) {
    scripted_request request;
    client.read(request);
  };
}

scripted_server::script speaks_git(fake_git what) {
  return [=](scripted_connection& client) {
    scripted_request request;
    while (client.read(request)) {
      const bool post = request.method == "POST";
      const auto body = post ? what.reply(request) : refs_body(what.tips);
      if (post && what.missing_bytes > 0) {
        client.send("HTTP/1.1 200 OK\r\nContent-Length: "
                    + std::to_string(body.size() + what.missing_bytes)
                    + "\r\n\r\n" + body);
        return;
      }
      if (!client.answer(200, body))
        return;
    }
  };
}

std::string refs_body(const std::vector<std::string>& tips) {
  std::string body;
  git::append_pkt(body, "# service=git-upload-pack\n");
  git::append_flush(body);
  std::string capabilities = " HEAD";
  capabilities += '\0';
  capabilities += "multi_ack_detailed side-band-64k thin-pack no-progress "
                  "ofs-delta object-format=sha1 agent=git/2.39.5";
  for (const auto& tip : tips) {
    git::append_pkt(
      body,
      tip + (capabilities.empty() ? " refs/heads/main" : capabilities) + "\n");
    capabilities.clear();
  }
  git::append_flush(body);
  return body;
}

std::string v0_reply(const std::string& pack) {
  std::string body;
  git::append_pkt(body, "NAK\n");
  append_pack(body, pack);
  return body;
}

std::string v2_reply(const std::string& pack) {
  std::string body;
  git::append_pkt(body, "packfile\n");
  append_pack(body, pack);
  return body;
}

std::string error_reply(const std::string& text) {
  std::string body;
  git::append_pkt(body, "ERR " + text + "\n");
  return body;
}

} // namespace purgatory::test
