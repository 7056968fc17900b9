#include "app/io/intake/socket_server.hpp"
#include "app/io/intake/submit.hpp"
#include "app/io/intake/unix_socket.hpp"
#include "libsync/nostr/strfry_line.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/line_client.hpp"
#include "tests/support/temp_dir.hpp"

#include <sys/socket.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define CAF_SUITE intake_socket
#include <caf/test/dsl.hpp>

using namespace purgatory;
using io::admission_reply;
using io::socket_server;

namespace {

std::string event_of(const std::string& id, const std::string& content = "") {
  return R"({"content":")" + content + R"(","id":")" + id
         + R"(","kind":30618})";
}

std::string request(const std::string& id, const char* source = "IP4") {
  return nostr::format_strfry_request(event_of(id), source, "", 1);
}

std::string answer(const std::string& id, nostr::strfry_action what,
                   const std::string& message) {
  return nostr::format_strfry_answer({id, what, message});
}

std::string id_of(const std::string& answer_line) {
  const auto parsed = nostr::parse_strfry_answer(answer_line);
  return parsed ? parsed->raw_id : "no answer: " + answer_line;
}

const admission hold{action::hold, "purgatory: won't be served until git data "
                                   "arrives"};

/// Keeps what was offered; answers at once, or later from the test.
struct desk {
  struct item {
    offer what;
    admission_reply reply;
  };

  io::admission_handler handler() {
    return [this](offer what, admission_reply reply) {
      const std::lock_guard lock{mutex};
      ++count;
      if (at_once)
        reply(*at_once);
      else
        items.push_back({std::move(what), std::move(reply)});
      last = items.empty() ? what : items.back().what;
    };
  }

  std::size_t size() {
    const std::lock_guard lock{mutex};
    return items.size();
  }

  std::vector<item> take() {
    const std::lock_guard lock{mutex};
    return std::exchange(items, {});
  }

  std::mutex mutex;
  std::vector<item> items;
  std::size_t count = 0;
  offer last;
  std::optional<admission> at_once;
};

struct fixture {
  socket_server serve(io::socket_options options = {}) {
    options.path = path;
    return socket_server{options, at.handler()};
  }

  test::line_client connect() {
    auto socket = io::connect_unix(path);
    if (!socket)
      throw std::runtime_error("can not connect");
    return test::line_client{std::move(socket)};
  }

  test::temp_dir dir;
  std::filesystem::path path = dir / "purgatoryd.sock";
  desk at;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(intake_socket_tests, fixture)

CAF_TEST(a hold is a shadow reject with its text and the id verbatim) {
  at.at_once = hold;
  const auto server = serve();
  auto client = connect();
  client.write_line(request("ABCdef"));
  CAF_CHECK_EQUAL(client.read_line(),
                  R"({"action":"shadowReject","id":"ABCdef","msg":)"
                  R"("purgatory: won't be served until git data arrives"})");
}

CAF_TEST(the event is passed on as sent with its provenance) {
  const auto server = serve();
  auto client = connect();
  const std::vector<std::pair<const char*, provenance>> cases
    = {{"IP4", provenance::direct},    {"IP6", provenance::direct},
       {"Import", provenance::import}, {"Stream", provenance::sync},
       {"Sync", provenance::sync},     {"Stored", provenance::sync},
       {"", provenance::sync}};
  for (const auto& [source, from] : cases) {
    client.write_line(request("a", source));
    CAF_REQUIRE(test::eventually([&] { return at.size() == 1; }));
    auto items = at.take();
    CAF_CHECK_EQUAL(items[0].what.json, event_of("a"));
    CAF_CHECK(items[0].what.from == from);
    items[0].reply({action::accept, ""});
    CAF_CHECK_EQUAL(client.read_line(), R"({"action":"accept","id":"a"})");
  }
}

CAF_TEST(answers keep the order of the requests of a client) {
  const auto server = serve();
  auto client = connect();
  auto other = connect();
  for (const auto* id : {"a", "b", "c"})
    client.write_line(request(id));
  CAF_REQUIRE(test::eventually([&] { return at.size() == 3; }));
  auto items = at.take();
  items[2].reply(hold);
  items[1].reply({action::reject, "invalid: x"});
  other.write_line(request("d"));
  CAF_REQUIRE(test::eventually([&] { return at.size() == 1; }));
  at.take()[0].reply({action::accept, ""});
  CAF_CHECK_EQUAL(other.read_line(), R"({"action":"accept","id":"d"})");
  items[0].reply({action::accept, ""});
  CAF_CHECK_EQUAL(client.read_line(), R"({"action":"accept","id":"a"})");
  CAF_CHECK_EQUAL(client.read_line(),
                  R"({"action":"reject","id":"b","msg":"invalid: x"})");
  CAF_CHECK_EQUAL(
    client.read_line(),
    answer("c", nostr::strfry_action::shadow_reject, hold.message));
}

CAF_TEST(a request that nobody answers is refused as unavailable) {
  const auto server = serve();
  auto client = connect();
  client.write_line(request("a"));
  CAF_REQUIRE(test::eventually([&] { return at.size() == 1; }));
  at.take();
  CAF_CHECK_EQUAL(
    client.read_line(),
    R"({"action":"reject","id":"a","msg":"error: purgatory unavailable"})");
}

CAF_TEST(a second answer to one request is ignored) {
  const auto server = serve();
  auto client = connect();
  client.write_line(request("a"));
  CAF_REQUIRE(test::eventually([&] { return at.size() == 1; }));
  auto items = at.take();
  items[0].reply({action::accept, ""});
  items[0].reply({action::reject, "twice"});
  client.write_line("nonsense");
  CAF_CHECK_EQUAL(client.read_line(), R"({"action":"accept","id":"a"})");
  CAF_CHECK(client.read_line().find("twice") == std::string::npos);
}

CAF_TEST(every line is answered even a broken one) {
  at.at_once = hold;
  const auto server = serve();
  auto client = connect();
  const std::vector<std::pair<std::string, std::string>> cases = {
    {"", ""},
    {"nonsense", ""},
    {"{}", ""},
    {R"({"event":{"id":"x7"}})", "x7"},
    {R"({"event":{"id":"x8","id":"x8"},"type":"new"})", "x8"},
    {R"({"event":{"id":"x9"},"type":"old"})", "x9"},
    {R"({"event":{"id":"AA)", ""},
  };
  for (const auto& [line, id] : cases) {
    client.write_line(line);
    const auto got = nostr::parse_strfry_answer(client.read_line());
    CAF_REQUIRE(got.has_value());
    CAF_CHECK_EQUAL(got->raw_id, id);
    CAF_CHECK(got->action == nostr::strfry_action::reject);
    CAF_CHECK_EQUAL(got->message.substr(0, 7), "error: ");
  }
  CAF_CHECK_EQUAL(at.count, 0u);
}

CAF_TEST(a line over the limit is answered and ends its connection alone) {
  at.at_once = hold;
  io::socket_options options;
  options.max_event_bytes = 1000;
  const auto server = serve(options);
  auto other = connect();
  auto client = connect();
  client.write_line(request("a"));
  const auto limit = 1000 + io::line_overhead_bytes;
  auto fits = nostr::format_strfry_request(event_of("b"), "IP4", "", 1);
  fits.insert(fits.size() - 1, std::string(limit - fits.size(), ' '));
  client.write_line(fits);
  client.write(R"({"event":{"id":"c","kind":1,"content":")"
               + std::string(limit, 'x'));
  CAF_CHECK_EQUAL(id_of(client.read_line()), "a");
  CAF_CHECK_EQUAL(id_of(client.read_line()), "b");
  CAF_CHECK_EQUAL(
    client.read_line(),
    R"({"action":"reject","id":"c","msg":"error: line too long"})");
  CAF_CHECK(!client.try_read_line().has_value());
  other.write_line(request("d"));
  CAF_CHECK_EQUAL(id_of(other.read_line()), "d");
}

CAF_TEST(a client that stops writing still gets its answers) {
  const auto server = serve();
  auto client = connect();
  client.write(request("a") + "\n" + request("b"));
  ::shutdown(client.descriptor(), SHUT_WR);
  CAF_REQUIRE(test::eventually([&] { return at.size() == 2; }));
  for (auto& item : at.take())
    item.reply({action::accept, ""});
  CAF_CHECK_EQUAL(client.read_line(), R"({"action":"accept","id":"a"})");
  CAF_CHECK_EQUAL(client.read_line(), R"({"action":"accept","id":"b"})");
  CAF_CHECK(!client.try_read_line().has_value());
}

CAF_TEST(beyond the limits lines wait and none is lost) {
  io::socket_options options;
  options.max_outstanding = 5;
  options.max_outstanding_per_client = 3;
  const auto server = serve(options);
  std::vector<test::line_client> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(connect());
    for (int n = 0; n < 20; ++n)
      clients.back().write_line(request(std::to_string(n)));
  }
  CAF_REQUIRE(test::eventually([&] { return at.size() == 5; }));
  std::size_t answered = 0;
  while (answered < 60) {
    CAF_REQUIRE(test::eventually([&] { return at.size() >= 1; }));
    CAF_CHECK(at.size() <= 5);
    for (auto& item : at.take()) {
      item.reply(hold);
      ++answered;
    }
  }
  for (auto& client : clients)
    for (int n = 0; n < 20; ++n)
      CAF_CHECK_EQUAL(id_of(client.read_line()), std::to_string(n));
}

CAF_TEST(ten thousand pipelined lines are answered in order) {
  at.at_once = hold;
  const auto server = serve();
  auto client = connect();
  std::thread writer{[&] {
    for (int n = 0; n < 10'000; ++n)
      client.write_line(request(std::to_string(n)));
  }};
  int right = 0;
  for (int n = 0; n < 10'000; ++n)
    right += id_of(client.read_line()) == std::to_string(n);
  writer.join();
  CAF_CHECK_EQUAL(right, 10'000);
}

CAF_TEST(a client that never reads does not grow our memory) {
  at.at_once = admission{action::reject, std::string(4000, 'x')};
  const auto server = serve();
  auto client = connect();
  // Non-blocking: ends when neither kernel nor server take more.
  std::size_t sent = 0;
  const auto line = request("a") + "\n";
  const auto full = [&] {
    for (;;) {
      const auto got
        = ::send(client.descriptor(), line.data(), line.size(), MSG_NOSIGNAL);
      if (got <= 0)
        return;
      sent += 1;
    }
  };
  std::size_t before = 1;
  for (int quiet = 0; quiet < 50 && sent < 100'000;) {
    before = sent;
    full();
    quiet = sent == before ? quiet + 1 : 0;
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  CAF_CHECK(sent < 20'000);
}

CAF_TEST(the socket is ours alone) {
  const auto server = serve();
  struct stat found {};
  CAF_REQUIRE(::stat(path.c_str(), &found) == 0);
  CAF_CHECK(S_ISSOCK(found.st_mode));
  CAF_CHECK_EQUAL(found.st_mode & 07777, mode_t{0600});
}

CAF_TEST(a stale socket is replaced and a living one is not ) {
  { const auto abandoned = io::listen_unix(path); }
  CAF_REQUIRE(std::filesystem::exists(path));
  at.at_once = hold;
  const auto server = serve();
  try {
    const auto second = serve();
    CAF_ERROR("two servers on one socket");
  } catch (const std::runtime_error& problem) {
    const std::string text = problem.what();
    CAF_CHECK(text.find("another process listens") != std::string::npos);
  }
  auto client = connect();
  client.write_line(request("a"));
  CAF_CHECK(client.try_read_line().has_value());
}

CAF_TEST(a file that is no socket is left alone) {
  std::ofstream{path} << "precious";
  try {
    const auto server = serve();
    CAF_ERROR("replaced a file");
  } catch (const std::runtime_error&) {
    CAF_CHECK(std::filesystem::file_size(path) == 8);
  }
}

CAF_TEST(stop closes all and answers that come later go nowhere) {
  auto server = serve();
  auto client = connect();
  client.write_line(request("a"));
  CAF_REQUIRE(test::eventually([&] { return at.size() == 1; }));
  server.stop();
  CAF_CHECK(!client.try_read_line().has_value());
  CAF_CHECK(!std::filesystem::exists(path));
  at.take()[0].reply(hold);
  server.stop();
}

CAF_TEST(submit prints a line per event and says if one was rejected) {
  std::atomic<bool> is_import{true};
  const auto handler = [&](const offer& what, const admission_reply& reply) {
    is_import = is_import && what.from == provenance::import;
    reply(what.json.find("bad") == std::string::npos
            ? hold
            : admission{action::reject, "invalid: bad"});
  };
  const socket_server server{{.path = path}, handler};
  std::ostringstream out;
  std::ostringstream errors;
  std::istringstream good{event_of("a") + "\n\n  \r\n" + event_of("b")};
  CAF_CHECK(io::run_submit({.socket = path}, good, out, errors)
            == io::submit_result::kept);
  CAF_CHECK_EQUAL(out.str(),
                  "a hold " + hold.message + "\nb hold " + hold.message + "\n");
  out.str("");
  std::istringstream mixed{
    event_of("a") + "\n" + event_of("c", "bad") + "\n" + "nonsense\n"
    + event_of("d", std::string(400'000, 'x')) + "\n" + event_of("e") + "\n"};
  CAF_CHECK(io::run_submit({.socket = path}, mixed, out, errors)
            == io::submit_result::rejected);
  CAF_CHECK_EQUAL(out.str(),
                  "a hold " + hold.message
                    + "\nc reject invalid: bad\n"
                      "- reject error: event is not a JSON object without "
                      "duplicate members\n"
                      "d reject invalid: event is too large\n"
                      "e hold "
                    + hold.message + "\n");
  CAF_CHECK_EQUAL(errors.str(), "");
  CAF_CHECK(is_import.load());
}

CAF_TEST(submit of many events loses none) {
  at.at_once = hold;
  const auto server = serve();
  std::string text;
  std::string expected;
  for (int n = 0; n < 3'000; ++n) {
    text += event_of(std::to_string(n)) + "\n";
    expected += std::to_string(n) + " hold " + hold.message + "\n";
  }
  std::istringstream in{text};
  std::ostringstream out;
  CAF_CHECK(io::run_submit({.socket = path}, in, out, out)
            == io::submit_result::kept);
  CAF_CHECK(out.str() == expected);
}

CAF_TEST(submit without a daemon or with one that dies says so) {
  std::istringstream in{event_of("a")};
  std::ostringstream out;
  std::ostringstream errors;
  CAF_CHECK(io::run_submit({.socket = path}, in, out, errors)
            == io::submit_result::unreachable);
  CAF_CHECK(errors.str().find(path.string()) != std::string::npos);
  auto server = serve();
  std::thread killer{[&] {
    test::eventually([&] { return at.size() == 1; });
    server.stop();
  }};
  std::istringstream again{event_of("a")};
  CAF_CHECK(io::run_submit({.socket = path}, again, out, errors)
            == io::submit_result::unreachable);
  killer.join();
  CAF_CHECK_EQUAL(out.str(), "");
}

CAF_TEST_FIXTURE_SCOPE_END()
