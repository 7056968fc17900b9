#pragma once

// Include after CAF_SUITE is defined: the checks are part of the suite.
#include "tests/io/fetch_fixture.hpp"
#include "tests/support/scripted_git.hpp"

#include <caf/test/dsl.hpp>

#include <chrono>
#include <thread>

namespace purgatory::test {

using namespace std::chrono_literals;

/// A well-formed id that no repository of these tests has.
inline const std::string wanted(40, 'a');

/// A source of packs beside the target, and one check for all: the outcome's
/// class, an untouched repository, nothing left behind.
struct hostile_fixture : fetch_fixture {
  git_repo source = git_repo::with_commits(files / "source.git", 20);

  hostile_fixture() {
    settings.discovery_timeout = 10s;
    settings.job_timeout = 20s;
  }

  fetch_outcome fetch_from(scripted_server& server,
                           const std::string& want = wanted) {
    allow_port(server.port());
    client.reset(); // Made anew with what the test has set.
    return fetch(server.url("demo.git"), {want});
  }

  std::string class_of(scripted_server& server,
                       const std::string& want = wanted) {
    const auto before = repository.inventory();
    const auto result = fetch_from(server, want);
    CAF_CHECK(result.got.empty());
    CAF_CHECK(result.pack == nullptr);
    CAF_CHECK(repository.inventory() == before);
    CAF_CHECK_EQUAL(quarantines(), 0u);
    return to_string(result.outcome);
  }

  std::string class_of(scripted_server::script script) {
    scripted_server server{std::move(script)};
    return class_of(server);
  }

  /// Cancels a job once `moment` has come; it must end within 500 ms.
  template <class Moment>
  void check_cancel(scripted_server& server, Moment moment,
                    const std::string& want = wanted) {
    const auto before = repository.inventory();
    std::chrono::steady_clock::time_point cancelled;
    std::thread canceller{[&] {
      while (!moment())
        std::this_thread::sleep_for(1ms);
      cancelled = std::chrono::steady_clock::now();
      cancel = true;
    }};
    const auto result = fetch_from(server, want);
    const auto end = std::chrono::steady_clock::now();
    canceller.join();
    CAF_CHECK_EQUAL(to_string(result.outcome), std::string{"internal"});
    CAF_CHECK(result.got.empty());
    CAF_CHECK(result.pack == nullptr);
    CAF_CHECK(end - cancelled < 500ms);
    CAF_CHECK(repository.inventory() == before);
  }

  /// A server whose only tip is `want`, with this answer to every POST.
  std::string class_of_reply(const std::string& want, const std::string& reply,
                             std::size_t missing_bytes = 0) {
    scripted_server server{
      speaks_git({{want}, [=](const auto&) { return reply; }, missing_bytes})};
    return class_of(server, want);
  }
};

} // namespace purgatory::test
