// The relay's write policy plugin: the real binary between pipes, and the real
// daemon behind it.
#include "libsync/nostr/strfry_line.hpp"
#include "tests/support/daemon_process.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/git_server.hpp"
#include "tests/support/repo_events.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#define CAF_SUITE daemon_shim
#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::test;
using namespace std::chrono_literals;

namespace {

using lines = std::vector<std::string>;

std::string request(const nostr::event& ev,
                    const std::string& source = "Sync") {
  return nostr::format_strfry_request(nostr::to_json(ev), source, "127.0.0.1",
                                      1'760'000'000);
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return text;
}

/// `text` with the id of `ev` in upper case.
std::string with_upper_id(std::string text, const nostr::event& ev) {
  return text.replace(text.find(ev.id.value), 64, upper(ev.id.value));
}

std::string accepted(const std::string& id) {
  return R"({"action":"accept","id":")" + id + R"("})";
}

std::string answered(const std::string& id, const std::string& action,
                     const std::string& message) {
  return R"({"action":")" + action + R"(","id":")" + id + R"(","msg":")"
         + message + R"("})";
}

constexpr const char* hold_text
  = "purgatory: won't be served until git data arrives";

struct fixture {
  /// What a relay gets for these lines; the plugin must end with its input.
  lines ask(const std::filesystem::path& socket, const lines& requests) {
    std::string input;
    for (const auto& line : requests)
      input += line + "\n";
    const auto end
      = run({{daemon_binary(), "strfry-plugin", "--socket=" + socket.string(),
              "--shim-deadline=10s"},
             std::nullopt,
             {},
             input},
            30s);
    CAF_CHECK_EQUAL(end.status, 0);
    lines result;
    std::istringstream output{end.output};
    for (std::string line; std::getline(output, line);)
      result.push_back(line);
    return result;
  }

  person owner;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(daemon_shim_tests, fixture)

CAF_TEST(a held event gets the fixed text and is accepted after its data came) {
  const git_server server;
  const auto repo = git_repo::init(server.root() / "demo.git");
  const auto tip = repo.commit("README", "hello");
  repo.set_ref("refs/heads/main", tip);
  daemon_process daemon{{server.port()}};
  const auto announcement = owner.announces("demo", {server.url("demo.git")});
  const auto state = owner.states("demo", {{"refs/heads/main", tip}});
  const auto note = owner.sign(1, {});
  const auto answers = ask(
    daemon.socket(), {request(announcement),
                      with_upper_id(request(state), state), request(note)});
  const lines expected{
    answered(announcement.id.value, "shadowReject", hold_text),
    answered(upper(state.id.value), "shadowReject", hold_text),
    accepted(note.id.value)};
  CAF_CHECK_EQUAL(answers, expected);
  CAF_REQUIRE(daemon.releases({announcement, state}));
  const auto later
    = ask(daemon.socket(),
          {request(announcement), with_upper_id(request(state), state)});
  const lines now{accepted(announcement.id.value),
                  accepted(upper(state.id.value))};
  CAF_CHECK_EQUAL(later, now);
}

CAF_TEST(a client of the relay waits for the long debounce) {
  const git_server server;
  const auto repo = git_repo::with_commits(server.root() / "demo.git", 1);
  daemon_process daemon{{server.port()}, {"--sync-default-delay-secs=2"}};
  const auto announcement = owner.announces("demo", {server.url("demo.git")});
  const auto state
    = owner.states("demo", {{"refs/heads/main", repo.id("refs/heads/main")}});
  const auto before = std::chrono::steady_clock::now();
  ask(daemon.socket(), {request(announcement, "IP4"), request(state, "IP6")});
  CAF_CHECK(daemon.releases({announcement, state}));
  CAF_CHECK(std::chrono::steady_clock::now() - before >= 2s);
}

CAF_TEST(without a daemon held kinds are refused and all others accepted) {
  const temp_dir empty;
  const auto state = owner.states("demo", {});
  const auto pr = owner.proposes(owner.key(), "demo", std::string(40, 'a'), {});
  const auto note = owner.sign(1, {});
  const auto deletion = owner.takes_back(state);
  const auto answers
    = ask(empty / "nobody.sock",
          {request(state), request(note), request(pr), request(deletion)});
  const auto* unavailable = "error: purgatory unavailable";
  const lines expected{
    answered(state.id.value, "reject", unavailable), accepted(note.id.value),
    answered(pr.id.value, "reject", unavailable), accepted(deletion.id.value)};
  CAF_CHECK_EQUAL(answers, expected);
}

CAF_TEST(a deletion through the plugin takes back what is held) {
  daemon_process daemon{{}};
  const auto announcement = owner.announces("demo", {});
  const auto deletion = owner.takes_back(announcement);
  const auto answers
    = ask(daemon.socket(), {request(announcement), request(deletion)});
  const lines expected{
    answered(announcement.id.value, "shadowReject", hold_text),
    accepted(deletion.id.value)};
  CAF_CHECK_EQUAL(answers, expected);
  // The relay does not wait for what the daemon makes of a deletion.
  CAF_CHECK(eventually([&] {
    return daemon.offer(announcement)
           == "reject blocked: deleted by its author";
  }));
}

CAF_TEST(broken lines and events are answered and disturb nobody) {
  daemon_process daemon{{}};
  const auto announcement = owner.announces("demo", {});
  auto forged = owner.announces("forged", {});
  forged.sig.front() = forged.sig.front() == '0' ? '1' : '0';
  auto renamed = request(owner.announces("renamed", {}));
  renamed.replace(renamed.find("renamed"), 7, "another");
  const auto answers = ask(
    daemon.socket(), {"", "nonsense", "{}", "[1,2",
                      R"({"type":"new","event":7})", std::string(400'000, 'x'),
                      request(forged), renamed, request(announcement)});
  CAF_REQUIRE_EQUAL(answers.size(), 9u);
  for (std::size_t n = 0; n < 8; ++n) {
    CAF_MESSAGE(answers[n]);
    CAF_CHECK(answers[n].find(R"("action":"reject")") != std::string::npos);
  }
  CAF_CHECK(answers[6].find("invalid: ") != std::string::npos);
  CAF_CHECK(answers[7].find("invalid: ") != std::string::npos);
  CAF_CHECK_EQUAL(answers[8],
                  answered(announcement.id.value, "shadowReject", hold_text));
  CAF_CHECK_EQUAL(daemon.logged({"[PARSE_FAIL]"}).size(), 2u);
}

CAF_TEST_FIXTURE_SCOPE_END()
