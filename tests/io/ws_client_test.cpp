#include "app/io/git/unique_fd.hpp"
#include "app/io/relay/ws_client.hpp"
#include "app/io/relay/ws_url.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/relay_process.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define CAF_SUITE ws_client
#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace std::chrono_literals;

namespace {

/// Keeps what a socket reports.
struct record {
  relay_socket_events events() {
    return {[this] { add("opened"); },
            [this](std::string text) { add("text " + text); },
            [this](std::string reason) { add("closed " + reason); }};
  }
  void add(std::string what) {
    const std::lock_guard lock{mutex};
    seen.push_back(std::move(what));
  }
  std::size_t size() {
    const std::lock_guard lock{mutex};
    return seen.size();
  }
  std::string at(std::size_t i) {
    const std::lock_guard lock{mutex};
    return i < seen.size() ? seen[i] : "";
  }
  bool wait_for(std::size_t count) {
    return test::eventually([&] { return size() >= count; });
  }
  std::mutex mutex;
  std::vector<std::string> seen;
};

/// Accepts connections in the kernel and never says a word.
struct mute_server {
  mute_server() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* where = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket.get(), where, size) != 0
        || ::getsockname(socket.get(), where, &size) != 0
        || ::listen(socket.get(), 8) != 0)
      throw std::runtime_error("no free port");
    port = ntohs(address.sin_port);
  }
  std::string url() const { return "ws://127.0.0.1:" + std::to_string(port); }
  io::unique_fd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  int port = 0;
};

/// No resolver has to be asked: a label has at most 63 characters.
const std::string unresolvable = std::string(64, 'x') + ".invalid";

std::string why_closed(const std::string& url, io::ws_limits limits = {}) {
  record seen;
  const auto socket = io::make_ws_factory(limits)(url, seen.events());
  if (!seen.wait_for(1))
    return "nothing";
  return seen.at(0);
}

} // namespace

CAF_TEST(URLs are read as RFC 6455 writes them) {
  const auto text = [](const char* url) -> std::string {
    const auto target = io::parse_ws_url(url);
    return target ? target->host + " " + std::to_string(target->port) + " "
                      + target->path + " " + target->header
                  : "none";
  };
  CAF_CHECK_EQUAL(text("ws://a"), "a 80 / a");
  CAF_CHECK_EQUAL(text("WS://a.b:7000/x?y"), "a.b 7000 /x?y a.b:7000");
  CAF_CHECK_EQUAL(text("ws://a?y"), "a 80 /?y a");
  CAF_CHECK_EQUAL(text("ws://[::1]:7/"), "::1 7 / [::1]:7");
  for (const auto* bad :
       {"", "ws:", "ws://", "ws:///x", "wss://a", "http://a", "ws://a:0",
        "ws://a:", "ws://a:65536", "ws://a:x", "ws://u@a", "ws://a/ b",
        "ws://a/#f", "ws://[::1", "ws://[::1]x", "ws://a:1:2", "ws://a/\n"})
    CAF_CHECK_EQUAL(text(bad), "none");
}

CAF_TEST(messages go out and come in on a real connection) {
  const test::relay_process relay{{"scripted-relay.mjs", "slow"}};
  record seen;
  const auto socket = io::make_ws_factory()(relay.url(), seen.events());
  CAF_REQUIRE(seen.wait_for(1));
  CAF_CHECK_EQUAL(seen.at(0), "opened");
  socket->permit(10);
  socket->send(R"(["REQ","a",{}])");
  socket->send(R"(["REQ","b",{}])");
  CAF_REQUIRE(seen.wait_for(3));
  CAF_CHECK_EQUAL(seen.at(1), R"(text ["EOSE","a"])");
  CAF_CHECK_EQUAL(seen.at(2), R"(text ["EOSE","b"])");
}

CAF_TEST(a name is resolved and a bad one reported) {
  test::relay_process relay{{"scripted-relay.mjs", "slow"}};
  const auto port = relay.url().substr(relay.url().rfind(':'));
  CAF_CHECK_EQUAL(why_closed("ws://localhost" + port), "opened");
  CAF_CHECK_EQUAL(why_closed("ws://" + unresolvable), "closed no such host");
}

CAF_TEST(no more messages are read than permitted) {
  const test::relay_process relay{{"scripted-relay.mjs", "slow"}};
  record seen;
  const auto socket = io::make_ws_factory()(relay.url(), seen.events());
  CAF_REQUIRE(seen.wait_for(1));
  socket->permit(2);
  for (int i = 0; i < 6; ++i)
    socket->send(R"(["REQ","a",{}])");
  CAF_REQUIRE(seen.wait_for(3));
  std::this_thread::sleep_for(100ms); // more would have come by now
  CAF_CHECK_EQUAL(seen.size(), 3u);
  socket->permit(1);
  CAF_CHECK(seen.wait_for(4));
  socket->permit(3);
  CAF_CHECK(seen.wait_for(7));
}

CAF_TEST(every way to fail is reported once) {
  CAF_CHECK_EQUAL(why_closed("wss://127.0.0.1"), "closed not a ws:// URL");
  std::string free_url;
  {
    const mute_server gone;
    free_url = gone.url();
  }
  CAF_CHECK_EQUAL(why_closed(free_url), "closed connect: Connection refused");
  const mute_server mute;
  io::ws_limits limits;
  limits.handshake = 100ms;
  CAF_CHECK_EQUAL(why_closed(mute.url(), limits).substr(0, 17),
                  "closed handshake:");
}

CAF_TEST(a relay that goes away is reported) {
  test::relay_process relay{{"scripted-relay.mjs", "slow"}};
  record seen;
  const auto socket = io::make_ws_factory()(relay.url(), seen.events());
  CAF_REQUIRE(seen.wait_for(1));
  socket->permit(1);
  relay.kill();
  CAF_REQUIRE(seen.wait_for(2));
  CAF_CHECK_EQUAL(seen.at(1).substr(0, 12), "closed read:");
  socket->send("x");
  socket->permit(1);
  std::this_thread::sleep_for(50ms); // a second report would come now
  CAF_CHECK_EQUAL(seen.size(), 2u);
}

CAF_TEST(a message over the limit ends the connection) {
  const test::relay_process relay{{"scripted-relay.mjs", "huge"}};
  record seen;
  const auto socket = io::make_ws_factory()(relay.url(), seen.events());
  CAF_REQUIRE(seen.wait_for(1));
  socket->permit(5);
  socket->send(R"(["EVENT",{"id":"a"}])");
  CAF_REQUIRE(seen.wait_for(2));
  CAF_CHECK_EQUAL(seen.at(1).substr(0, 12), "closed read:");
}

CAF_TEST(destroying is quick in every state and reports nothing) {
  const mute_server mute;
  test::relay_process relay{{"scripted-relay.mjs", "slow"}};
  for (const auto& url : {mute.url(), relay.url(), "ws://" + unresolvable}) {
    record seen;
    auto socket = io::make_ws_factory()(url, seen.events());
    if (url == relay.url())
      CAF_REQUIRE(seen.wait_for(1));
    const auto before = std::chrono::steady_clock::now();
    socket.reset();
    CAF_CHECK(std::chrono::steady_clock::now() - before < 2s);
    const auto count = seen.size();
    std::this_thread::sleep_for(20ms);
    CAF_CHECK_EQUAL(seen.size(), count);
  }
}
