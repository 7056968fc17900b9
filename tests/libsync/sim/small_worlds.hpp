#pragma once

#include "libsync/sim/world.hpp"

#include <string>
#include <utility>
#include <vector>

/// Worlds that can be computed by hand: no delay but that of the jobs, no
/// jitter, every job takes one second.
namespace purgatory::test {

inline sim::world exact_world() {
  sim::world result;
  result.length = std::chrono::hours{1};
  result.daemon.jitter = 0;
  result.daemon.journal_delay = sim::milliseconds{0};
  result.daemon.git_delay = sim::milliseconds{0};
  result.relay.latency = sim::milliseconds{0};
  return result;
}

inline sim::host_model exact_host() {
  sim::host_model result;
  result.latency_min = sim::milliseconds{1000};
  result.latency_mean = sim::milliseconds{1000};
  result.latency_max = sim::milliseconds{1000};
  return result;
}

/// An announcement and a state with one branch of `who`'s repository, offered
/// by another relay at `at`. Its object is called `<who>/main`.
inline void add_unit(sim::world& to, const std::string& who,
                     std::vector<std::string> urls,
                     sim::milliseconds at = sim::milliseconds{0}) {
  sim::announce said;
  said.name = who + ".announcement";
  said.author = who;
  said.repository = "repo-of-" + who;
  said.clone = std::move(urls);
  to.script.push_back({at, said});
  sim::push_state state;
  state.name = who + ".state";
  state.author = who;
  state.repository = said.repository;
  state.refs["refs/heads/main"] = who + "/main";
  to.script.push_back({at, state});
}

inline void hold(sim::world& to, const std::string& url,
                 std::vector<std::string> objects,
                 sim::milliseconds at = sim::milliseconds{0}) {
  to.contents.push_back({url, at, std::move(objects)});
}

/// `count` units, each with a repository of its own at a.example.
inline void add_units(sim::world& to, std::size_t count) {
  to.hosts["a.example"] = exact_host();
  for (std::size_t i = 0; i < count; ++i) {
    const auto who = "unit" + std::to_string(i);
    const auto url = "https://a.example/" + who + ".git";
    add_unit(to, who, {url});
    hold(to, url, {who + "/main"});
  }
}

} // namespace purgatory::test
