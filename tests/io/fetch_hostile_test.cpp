#define CAF_SUITE fetch_hostile

#include "tests/io/hostile_fixture.hpp"

using namespace purgatory;
using namespace purgatory::test;

CAF_TEST_FIXTURE_SCOPE(fetch_hostile_tests, hostile_fixture)

CAF_TEST(a server that never answers is a timeout) {
  settings.timeouts.first_byte = 300ms;
  const auto start = std::chrono::steady_clock::now();
  CAF_CHECK_EQUAL(class_of(never_answers()), "timeout");
  CAF_CHECK_EQUAL(sends, 1);
  CAF_CHECK(std::chrono::steady_clock::now() - start < 2s);
}

CAF_TEST(headers at one byte per second are a timeout) {
  settings.timeouts.first_byte = 300ms;
  CAF_CHECK_EQUAL(class_of(one_byte_per_second()), "timeout");
}

CAF_TEST(a port where nobody listens is refused) {
  std::string url;
  {
    scripted_server gone{never_answers()};
    allow_port(gone.port());
    url = gone.url("demo.git");
  }
  const auto result = fetch(url, {wanted});
  CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"refused"});
  CAF_CHECK_EQUAL(sends, 0);
}

CAF_TEST(a name that does not exist is dns) {
  const auto result = fetch("http://absent.invalid/demo.git", {wanted});
  CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"dns"});
  CAF_CHECK_EQUAL(sends, 0);
}

CAF_TEST(a server without TLS on an https URL is tls) {
  settings.timeouts.tls = 300ms;
  scripted_server talks{[](scripted_connection& connection) {
    connection.send("HTTP/1.1 400 Bad Request\r\n\r\n");
    connection.pause(60s);
  }};
  scripted_server silent{never_answers()};
  for (auto* server : {&talks, &silent}) {
    allow_port(server->port());
    client.reset();
    const auto result
      = fetch("https" + server->url("demo.git").substr(4), {wanted});
    CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"tls"});
    CAF_CHECK_EQUAL(sends, 0);
  }
}

CAF_TEST(each status has its class) {
  CAF_CHECK_EQUAL(class_of(always(404)), "no_repo");
  CAF_CHECK_EQUAL(class_of(always(410)), "no_repo");
  CAF_CHECK_EQUAL(class_of(always(401)), "auth");
  CAF_CHECK_EQUAL(class_of(always(403)), "auth");
  CAF_CHECK_EQUAL(class_of(always(429)), "limited");
  CAF_CHECK_EQUAL(class_of(always(500)), "server");
  CAF_CHECK_EQUAL(class_of(always(503)), "server");
  CAF_CHECK_EQUAL(class_of(always(503, "", {"Retry-After: 60"})), "limited");
  CAF_CHECK_EQUAL(class_of(always(418)), "unsupported");
}

CAF_TEST(a server says how long to stay away) {
  const auto ask = [this](int status, std::vector<std::string> headers) {
    scripted_server server{always(status, "", std::move(headers))};
    return fetch_from(server);
  };
  const auto wait = [&](int status, const std::string& value) {
    return ask(status, {"RETRY-after:" + value}).retry_after;
  };
  CAF_CHECK(wait(429, " 120") == 120s);
  CAF_CHECK(wait(503, "7 ") == 7s);
  CAF_CHECK(wait(503, "0") == 0s);
  CAF_CHECK(wait(429, std::string(10'000, '9')) == 24h);
  CAF_CHECK(wait(429, std::string(10'000, 'x')) == std::nullopt);
  CAF_CHECK(wait(429, "99999999999999999999") == 24h);
  CAF_CHECK(wait(429, "Fri, 31 Dec 9999 23:59:59 GMT") == 24h);
  CAF_CHECK(wait(429, "Sun, 06 Nov 1994 08:49:37 GMT") == 0s);
  CAF_CHECK(wait(429, "soon") == std::nullopt);
  CAF_CHECK(!ask(429, {}).retry_after);
  // Only a limit has one, and a 503 is a limit only if it says how long.
  CAF_CHECK(!wait(500, "60"));
  const auto vague = ask(503, {"Retry-After: soon"});
  CAF_CHECK_EQUAL(to_string(vague.outcome), std::string{"server"});
  CAF_CHECK(!vague.retry_after);
  // The first field counts.
  CAF_CHECK(ask(429, {"Retry-After: 3", "Retry-After: 9"}).retry_after == 3s);
}

CAF_TEST(only the last answer says how long to stay away) {
  scripted_server server{[](scripted_connection& connection) {
    scripted_request request;
    connection.read(request);
    connection.send("HTTP/1.1 102 Processing\r\nRetry-After: 60\r\n\r\n");
    connection.send("HTTP/1.1 429 No\r\nTransfer-Encoding: chunked\r\n\r\n"
                    "0\r\nRetry-After: 61\r\n\r\n");
  }};
  const auto result = fetch_from(server);
  CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"limited"});
  CAF_CHECK(!result.retry_after);
}

CAF_TEST(the address of a server is known once a request was sent) {
  scripted_server server{always(404)};
  CAF_CHECK_EQUAL(fetch_from(server).peer, server.address());
  scripted_server talks{[](scripted_connection& connection) {
    connection.send("HTTP/1.1 400 Bad Request\r\n\r\n");
  }};
  allow_port(talks.port());
  CAF_CHECK_EQUAL(
    fetch("https" + talks.url("demo.git").substr(4), {wanted}).peer, "");
  CAF_CHECK_EQUAL(fetch("http://absent.invalid/demo.git", {wanted}).peer, "");
}

CAF_TEST(the address of a proxy says nothing about the server) {
  scripted_server proxy{always(404)};
  settings.proxy
    = "http://" + proxy.address() + ":" + std::to_string(proxy.port());
  const auto result = fetch("http://git.example/demo.git", {wanted});
  CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"no_repo"});
  CAF_CHECK_EQUAL(result.peer, "");
}

CAF_TEST(text of a page never decides) {
  CAF_CHECK_EQUAL(
    class_of(always(500, "404 not found: certificate dns ssl rate limit")),
    "server");
}

CAF_TEST(pages and dumb servers are unsupported) {
  CAF_CHECK_EQUAL(class_of(html_page()), "unsupported");
  CAF_CHECK_EQUAL(class_of(always(200, wanted + "\trefs/heads/main\n")),
                  "unsupported");
  CAF_CHECK_EQUAL(class_of(always(200)), "unsupported");
}

CAF_TEST(a connection cut before the answer blames the server) {
  CAF_CHECK_EQUAL(class_of(cuts_connections()), "server");
}

CAF_TEST(redirects on the same host are followed up to the limit) {
  scripted_server loop{
    redirects_to("/next.git/info/refs?service=git-upload-pack")};
  CAF_CHECK_EQUAL(class_of(loop), "policy");
  CAF_CHECK_EQUAL(loop.connections(), 1);
  const auto result = fetch_from(loop);
  CAF_CHECK_EQUAL(result.wire_requests, 4u);
}

CAF_TEST(what is at the end of a redirect is fetched from there) {
  const auto main = source.id("main");
  const auto reply = v0_reply(source.pack({main}));
  scripted_server server{[&](scripted_connection& connection) {
    scripted_request request;
    while (connection.read(request)) {
      if (request.target.starts_with("/demo.git/info/refs"))
        connection.answer(
          301, "", {"Location: /moved.git/info/refs?service=git-upload-pack"});
      else if (request.target.starts_with("/moved.git/info/refs"))
        connection.answer(200, refs_body({main}));
      else
        connection.answer(
          request.target == "/moved.git/git-upload-pack" ? 200 : 404, reply);
    }
  }};
  const auto result = fetch_from(server, main);
  CAF_CHECK_EQUAL(describe(result), "ok (HTTP 200)");
  CAF_CHECK_EQUAL(result.wire_requests, 3u);
}

CAF_TEST(a redirect to another host ends the job and names it) {
  scripted_server other{always(404)};
  allow_port(other.port());
  scripted_server server{
    redirects_to(other.url("demo.git/info/refs?service=git-upload-pack"))};
  const auto result = fetch_from(server);
  CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"redirected"});
  CAF_REQUIRE(result.redirect.has_value());
  CAF_CHECK_EQUAL(result.redirect->value, other.url("demo.git"));
  CAF_CHECK_EQUAL(other.connections(), 0);
}

CAF_TEST(a redirect to a port or scheme that we do not ask is refused) {
  CAF_CHECK_EQUAL(class_of(redirects_to("http://127.0.0.1:22/demo.git/info/"
                                        "refs?service=git-upload-pack")),
                  "policy");
  CAF_CHECK_EQUAL(class_of(redirects_to("file:///etc/info/"
                                        "refs?service=git-upload-pack")),
                  "policy");
  CAF_CHECK_EQUAL(class_of(redirects_to("/somewhere/else")), "policy");
}

CAF_TEST(refs without end are cut off) {
  settings.advertisement.max_refs = 5000;
  CAF_CHECK_EQUAL(class_of(endless_refs()), "oversize");
}

CAF_TEST(a sha256 remote is unsupported) {
  std::string body = refs_body({wanted});
  body.replace(body.find("=sha1"), 5, "=sha2");
  CAF_CHECK_EQUAL(class_of(always(200, body)), "unsupported");
}

CAF_TEST(a job that waits for an answer is cancelled at once) {
  settings.timeouts.first_byte = 60s;
  scripted_server server{never_answers()};
  check_cancel(server, [&] { return server.connections() > 0; });
}

CAF_TEST_FIXTURE_SCOPE_END()
