#include "app/io/intake/intake_link.hpp"
#include "app/io/intake/socket_server.hpp"
#include "app/io/intake/strfry_shim.hpp"
#include "app/io/intake/unix_socket.hpp"
#include "libsync/nostr/strfry_line.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/line_client.hpp"
#include "tests/support/temp_dir.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define CAF_SUITE strfry_shim
#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace std::chrono_literals;
using io::admission_reply;

namespace {

std::string request(const std::string& id, int kind) {
  return nostr::format_strfry_request(R"({"content":"","id":")" + id
                                        + R"(","kind":)" + std::to_string(kind)
                                        + "}",
                                      "IP4", "127.0.0.1", 1);
}

const std::string hold_text
  = "purgatory: won't be served until git data arrives";

std::string held(const std::string& id) {
  return nostr::format_strfry_answer(
    {id, nostr::strfry_action::shadow_reject, hold_text});
}

std::string accepted(const std::string& id) {
  return nostr::format_strfry_answer({id, nostr::strfry_action::accept, ""});
}

std::string rejected(const std::string& id, const std::string& message) {
  return nostr::format_strfry_answer(
    {id, nostr::strfry_action::reject, message});
}

std::array<io::unique_fd, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw std::runtime_error("no pipe");
  return {io::unique_fd{ends[0]}, io::unique_fd{ends[1]}};
}

/// A shim between two pipes, on a thread; `talk` is the relay's side.
class shim_thread {
public:
  explicit shim_thread(const io::shim_options& options) {
    auto [in, to_shim] = make_pipe();
    auto [from_shim, out] = make_pipe();
    talk.emplace(std::move(from_shim), std::move(to_shim));
    thread_
      = std::thread{[this, options, in = std::move(in), out = std::move(out)] {
          status = io::run_strfry_shim(options, in.get(), out.get());
        }};
  }
  shim_thread(const shim_thread&) = delete;
  shim_thread& operator=(const shim_thread&) = delete;
  ~shim_thread() { end(); }

  std::string ask(const std::string& line) {
    talk->write_line(line);
    return talk->read_line();
  }

  int end() {
    talk->close_writer();
    if (thread_.joinable())
      thread_.join();
    return status;
  }

  std::optional<test::line_client> talk;
  std::atomic<int> status{-1};

private:
  std::thread thread_;
};

/// A daemon that answers as the test says.
struct fake_daemon {
  using decision = std::function<void(const offer&, const admission_reply&)>;

  explicit fake_daemon(const std::filesystem::path& path,
                       decision decide = hold_all())
    : server{{.path = path},
             [this, decide = std::move(decide)](const offer& what,
                                                const admission_reply& reply) {
               {
                 const std::lock_guard lock{mutex};
                 seen.push_back(what.json);
               }
               decide(what, reply);
             }} {}

  static decision hold_all() {
    return [](const offer&, const admission_reply& reply) {
      reply({action::hold, hold_text});
    };
  }

  std::size_t count() {
    const std::lock_guard lock{mutex};
    return seen.size();
  }

  std::mutex mutex;
  std::vector<std::string> seen;
  io::socket_server server;
};

struct fixture {
  test::temp_dir dir;
  io::shim_options options{.socket = dir / "purgatoryd.sock"};
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(strfry_shim_tests, fixture)

CAF_TEST(the four kinds are decided by the daemon) {
  fake_daemon daemon{options.socket};
  shim_thread shim{options};
  for (const int kind : {30617, 30618, 1618, 1619})
    CAF_CHECK_EQUAL(shim.ask(request("AbC", kind)), held("AbC"));
  CAF_CHECK_EQUAL(daemon.count(), 4u);
  CAF_CHECK_EQUAL(shim.end(), 0);
}

CAF_TEST(a hold is told in exactly these bytes) {
  fake_daemon daemon{options.socket};
  shim_thread shim{options};
  CAF_CHECK_EQUAL(
    shim.ask(request("Aa", 30618)),
    R"({"action":"shadowReject","id":"Aa",)"
    R"("msg":"purgatory: won't be served until git data arrives"})");
}

CAF_TEST(other kinds do not reach the daemon) {
  fake_daemon daemon{options.socket};
  shim_thread shim{options};
  for (const int kind : {0, 1, 7, 1617, 1621, 30000, 99999})
    CAF_CHECK_EQUAL(shim.ask(request("a", kind)), accepted("a"));
  CAF_CHECK_EQUAL(shim.ask(request("b", 30618)), held("b"));
  CAF_CHECK_EQUAL(daemon.count(), 1u);
}

CAF_TEST(deletions are accepted at once and the daemon gets a copy) {
  std::vector<admission_reply> kept;
  fake_daemon daemon{
    options.socket,
    [&](const offer&, const admission_reply& reply) { kept.push_back(reply); }};
  shim_thread shim{options};
  CAF_CHECK_EQUAL(shim.ask(request("a", 5)), accepted("a"));
  CAF_CHECK_EQUAL(shim.ask(request("b", 62)), accepted("b"));
  CAF_CHECK(test::eventually([&] { return daemon.count() == 2; }));
}

CAF_TEST(answers to copies are not taken for others) {
  fake_daemon daemon{options.socket,
                     [](const offer& what, const admission_reply& reply) {
                       what.json.find("\"kind\":5}") != std::string::npos
                         ? reply({action::reject, "invalid: copy"})
                         : reply({action::hold, hold_text});
                     }};
  shim_thread shim{options};
  for (int i = 0; i < 500; ++i) {
    const auto id = std::to_string(i);
    CAF_REQUIRE_EQUAL(shim.ask(request(id, 5)), accepted(id));
    if (i % 3 == 0)
      CAF_REQUIRE_EQUAL(shim.ask(request(id, 30618)), held(id));
  }
}

CAF_TEST(without a daemon held kinds are refused and others accepted) {
  shim_thread shim{options};
  CAF_CHECK_EQUAL(shim.ask(request("a", 30618)),
                  rejected("a", "error: purgatory unavailable"));
  CAF_CHECK_EQUAL(shim.ask(request("b", 1)), accepted("b"));
  CAF_CHECK_EQUAL(shim.ask(request("c", 5)), accepted("c"));
  fake_daemon daemon{options.socket};
  CAF_CHECK_EQUAL(shim.ask(request("d", 30618)), held("d"));
  CAF_CHECK_EQUAL(shim.end(), 0);
}

CAF_TEST(failing open accepts all without a daemon) {
  options.fail_open = true;
  shim_thread shim{options};
  CAF_CHECK_EQUAL(shim.ask(request("a", 30618)), accepted("a"));
}

CAF_TEST(a daemon that hangs is overrun and its late answer discarded) {
  options.deadline = 100ms;
  std::mutex mutex;
  std::vector<admission_reply> hanging;
  fake_daemon daemon{options.socket,
                     [&](const offer& what, const admission_reply& reply) {
                       const std::lock_guard lock{mutex};
                       what.json.find("slow") != std::string::npos
                         ? hanging.push_back(reply)
                         : reply({action::hold, hold_text});
                     }};
  shim_thread shim{options};
  for (int i = 0; i < 3; ++i) {
    const auto slow = "slow" + std::to_string(i);
    CAF_CHECK_EQUAL(shim.ask(request(slow, 1618)),
                    rejected(slow, "error: purgatory busy, try again"));
    const std::lock_guard lock{mutex};
    hanging.at(0)({action::accept, "late"});
    hanging.clear();
  }
  CAF_CHECK_EQUAL(shim.ask(request("b", 1618)), held("b"));
}

CAF_TEST(a restarted daemon is found again by the next line) {
  shim_thread shim{options};
  for (int i = 0; i < 5; ++i) {
    fake_daemon daemon{options.socket};
    CAF_CHECK_EQUAL(shim.ask(request("a", 30617)), held("a"));
  }
}

CAF_TEST(every line is answered even a broken one) {
  fake_daemon daemon{options.socket};
  options.max_line_bytes = 1000;
  shim_thread shim{options};
  const auto start = [&](const std::string& line) {
    const auto got = nostr::parse_strfry_answer(shim.ask(line));
    CAF_REQUIRE(got.has_value());
    CAF_CHECK(got->action == nostr::strfry_action::reject);
    CAF_CHECK_EQUAL(got->message.substr(0, 7), "error: ");
    return got->raw_id;
  };
  CAF_CHECK_EQUAL(start("{"), "");
  CAF_CHECK_EQUAL(start(""), "");
  CAF_CHECK_EQUAL(start("[1]"), "");
  CAF_CHECK_EQUAL(start(R"({"event":{"id":"Q","kind":1}})"), "Q");
  CAF_CHECK_EQUAL(start(R"({"event":{"id":"R","kind":1)"), "R");
  CAF_CHECK_EQUAL(start(R"({"event":{"id":"S","kind":1,"content":")"
                        + std::string(200'000, 'x') + "\"},\"type\":\"new\"}"),
                  "S");
  CAF_CHECK_EQUAL(shim.ask(request("b", 1)), accepted("b"));
  CAF_CHECK_EQUAL(daemon.count(), 0u);
}

CAF_TEST(a held event too large for the daemon is refused here) {
  fake_daemon daemon{options.socket};
  shim_thread shim{options};
  const auto big
    = nostr::format_strfry_request(R"({"content":")" + std::string(400'000, 'x')
                                     + R"(","id":"a","kind":30618})",
                                   "IP4", "", 1);
  CAF_CHECK_EQUAL(shim.ask(big), rejected("a", "invalid: event is too large"));
  const auto ordinary = nostr::format_strfry_request(
    R"({"content":")" + std::string(400'000, 'x') + R"(","id":"b","kind":1})",
    "IP4", "", 1);
  CAF_CHECK_EQUAL(shim.ask(ordinary), accepted("b"));
  CAF_CHECK_EQUAL(daemon.count(), 0u);
}

CAF_TEST(an event whose kind can not be read is left to the daemon) {
  fake_daemon daemon{options.socket,
                     [](const offer&, const admission_reply& reply) {
                       reply({action::reject, "invalid: kind"});
                     }};
  shim_thread shim{options};
  CAF_CHECK_EQUAL(
    shim.ask(R"({"event":{"id":"a","kind":"30618"},"type":"new"})"),
    rejected("a", "invalid: kind"));
}

CAF_TEST(ten thousand pipelined lines through two shims keep their order) {
  fake_daemon daemon{options.socket};
  options.deadline = 20s;
  constexpr int lines = 10'000;
  const auto run = [&](int& right) {
    shim_thread shim{options};
    std::thread writer{[&] {
      for (int i = 0; i < lines; ++i)
        shim.talk->write_line(
          request(std::to_string(i), i % 4 == 0 ? 30618 : 1));
      shim.talk->close_writer();
    }};
    for (int i = 0; i < lines; ++i) {
      const auto id = std::to_string(i);
      right += shim.talk->read_line() == (i % 4 == 0 ? held(id) : accepted(id));
    }
    const bool has_ended = !shim.talk->try_read_line();
    writer.join();
    right += has_ended ? 1 : 0;
  };
  int first = 0;
  int second = 0;
  std::thread other{[&] { run(second); }};
  run(first);
  other.join();
  CAF_CHECK_EQUAL(first, lines + 1);
  CAF_CHECK_EQUAL(second, lines + 1);
  CAF_CHECK_EQUAL(daemon.count(), 5'000u);
}

CAF_TEST(the shim ends with its input and answers what it has read) {
  fake_daemon daemon{options.socket};
  shim_thread shim{options};
  shim.talk->write(request("a", 30618) + "\n" + request("b", 1));
  shim.talk->close_writer();
  CAF_CHECK_EQUAL(shim.talk->read_line(), held("a"));
  CAF_CHECK_EQUAL(shim.talk->read_line(), accepted("b"));
  CAF_CHECK_EQUAL(shim.end(), 0);
}

CAF_TEST(a daemon killed in the middle of a request is noticed at once) {
  options.deadline = 15s;
  // A real process, so that the kernel does what a kill -9 does.
  auto [asked, tell] = make_pipe();
  const auto child = ::fork();
  if (child == 0) {
    std::vector<admission_reply> kept;
    const io::socket_server server{
      {.path = options.socket},
      [&, to = tell.get()](const offer&, const admission_reply& reply) {
        kept.push_back(reply);
        static_cast<void>(::write(to, "x", 1) == 1);
      }};
    ::pause();
    std::_Exit(0);
  }
  CAF_REQUIRE(child > 0);
  CAF_REQUIRE(test::eventually(
    [&] { return static_cast<bool>(io::connect_unix(options.socket)); }));
  shim_thread shim{options};
  shim.talk->write_line(request("a", 30618));
  char byte = 0;
  CAF_REQUIRE(::read(asked.get(), &byte, 1) == 1);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  const auto before = std::chrono::steady_clock::now();
  CAF_CHECK_EQUAL(shim.talk->read_line(),
                  rejected("a", "error: purgatory unavailable"));
  CAF_CHECK(std::chrono::steady_clock::now() - before < 10s);
  fake_daemon next{options.socket};
  CAF_CHECK_EQUAL(shim.ask(request("a", 30618)), held("a"));
}

CAF_TEST_FIXTURE_SCOPE_END()
