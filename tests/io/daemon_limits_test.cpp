// What a git server sees of the limits, by its own clock.
#include "tests/support/daemon_process.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/git_server.hpp"
#include "tests/support/repo_events.hpp"
#include "tests/support/scripted_git.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#define CAF_SUITE daemon_limits
#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::test;
using namespace std::chrono_literals;

namespace {

constexpr int many = 20;

/// How long nothing may happen before we believe that nothing will.
constexpr auto silence = 2500ms;

/// Takes 300 ms to say that it has nothing; counts who waits meanwhile.
class slow_server {
public:
  int started() const { return started_; }
  int most() const { return most_; }
  const scripted_server& server() const { return server_; }

private:
  void serve(scripted_connection& client) {
    scripted_request request;
    while (client.read(request)) {
      ++started_;
      const auto now = ++running_;
      auto seen = most_.load();
      while (now > seen && !most_.compare_exchange_weak(seen, now)) {
      }
      client.pause(300ms);
      --running_;
      if (!client.answer(404, "nothing"))
        return;
    }
  }

  std::atomic<int> started_{0};
  std::atomic<int> running_{0};
  std::atomic<int> most_{0};
  scripted_server server_{
    [this](scripted_connection& client) { serve(client); }};
};

bool is_start(const logged_request& request) {
  return request.method == "GET"
         && request.target.find("/info/refs") != std::string::npos;
}

std::size_t starts(const git_server& server) {
  const auto all = server.requests();
  return static_cast<std::size_t>(
    std::count_if(all.begin(), all.end(), is_start));
}

std::string name_of(int number) {
  return "repo" + std::to_string(number);
}

/// Announcements and states of `count` repositories below `url`.
std::vector<nostr::event> repositories(person& owner, int count,
                                       const std::string& url,
                                       const std::string& tip) {
  std::vector<nostr::event> result;
  for (int n = 0; n < count; ++n) {
    result.push_back(owner.announces(name_of(n), {url + name_of(n)}));
    result.push_back(owner.states(name_of(n), {{"refs/heads/main", tip}}));
  }
  return result;
}

const std::string missing(40, 'd');

} // namespace

CAF_TEST(five repositories of one host are hunted at once and no more) {
  const slow_server slow;
  daemon_process daemon{{slow.server().port()}};
  person owner;
  daemon.offer(repositories(owner, 12, slow.server().url(""), missing));
  CAF_CHECK(eventually([&] { return slow.started() == 12; }));
  CAF_CHECK_EQUAL(slow.most(), 5);
}

CAF_TEST(lower limits hold for twenty repositories of one host) {
  const slow_server slow;
  daemon_process daemon{
    {slow.server().port()},
    {"--sync-domain-concurrent=2", "--sync-domain-rate-limit=10"}};
  person owner;
  daemon.offer(repositories(owner, many, slow.server().url(""), missing));
  CAF_CHECK(eventually([&] { return slow.started() >= 10; }));
  std::this_thread::sleep_for(silence);
  CAF_CHECK_EQUAL(slow.started(), 10);
  CAF_CHECK_EQUAL(slow.most(), 2);
}

CAF_TEST(a real server sees ten starts and the ten repositories are released) {
  const git_server server;
  const auto first = git_repo::with_commits(server.root() / name_of(0), 20);
  for (int n = 1; n < many; ++n)
    std::filesystem::copy(first.path(), server.root() / name_of(n),
                          std::filesystem::copy_options::recursive);
  daemon_process daemon{
    {server.port()},
    {"--sync-domain-concurrent=2", "--sync-domain-rate-limit=10"}};
  person owner;
  daemon.offer(
    repositories(owner, many, server.url(""), first.id("refs/heads/main")));
  CAF_CHECK(eventually([&] { return daemon.released().size() >= 20; }));
  std::this_thread::sleep_for(silence);
  CAF_CHECK_EQUAL(starts(server), 10u);
  CAF_CHECK_EQUAL(daemon.released().size(), 20u);
  // A job lasts from its first request to the end of its last one.
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> jobs;
  for (const auto& request : server.requests()) {
    const auto repository
      = request.target.substr(0, request.target.find('/', 1));
    auto& [from, until]
      = jobs.try_emplace(repository, request.started_us, 0).first->second;
    from = std::min(from, request.started_us);
    until = std::max(until, request.ended_us);
  }
  CAF_CHECK_EQUAL(jobs.size(), 10u);
  for (const auto& [name, job] : jobs) {
    const auto at = job.first;
    const auto running
      = std::count_if(jobs.begin(), jobs.end(), [at](const auto& other) {
          return other.second.first <= at && at < other.second.second;
        });
    CAF_CHECK(running <= 2);
  }
}

CAF_TEST(ten events of one repository in a moment are one job) {
  const git_server server;
  const auto repo = git_repo::init(server.root() / "demo.git");
  person owner;
  std::vector<nostr::event> events;
  events.push_back(owner.announces("demo", {server.url("demo.git")}));
  for (int n = 0; n < 9; ++n) {
    const auto branch = "refs/heads/b" + std::to_string(n);
    const auto tip = repo.commit("file", std::to_string(n));
    repo.set_ref(branch, tip);
    events.push_back(owner.states("demo", {{branch, tip}}));
  }
  daemon_process daemon{{server.port()}, {"--sync-immediate-delay-ms=500"}};
  for (const auto& answer : daemon.offer(events))
    CAF_CHECK_EQUAL(answer, held);
  CAF_CHECK(daemon.releases({events.front(), events.back()}));
  CAF_CHECK(daemon.logs({"Sync complete"}));
  CAF_CHECK_EQUAL(starts(server), 1u);
  CAF_CHECK_EQUAL(daemon.logged({"Fetch started"}).size(), 1u);
  // What is older than what was released will not be.
  CAF_CHECK_EQUAL(daemon.released().size(), 2u);
}
