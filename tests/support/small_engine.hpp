#pragma once

#include "tests/support/sim_world.hpp"

#include <array>
#include <random>
#include <string>
#include <vector>

/// What the random schedules have in common: three hosts with small limits and
/// repositories that lie at all of them.
namespace purgatory::test {

inline const std::array<std::string, 3> host_names
  = {"a.example", "b.example", "c.example"};

inline constexpr engine::start_limits small_limits{2, 6, 0, 0};

/// Short waits, so that a schedule is short, too.
inline git::plan_settings quick_plan() {
  git::plan_settings s;
  s.jitter = 0;
  s.direct_delay = std::chrono::seconds(3);
  return s;
}

inline sim_host& add_small_host(sim_world& world, const std::string& name,
                                std::mt19937_64& rng) {
  auto& h = world.hosts[host_key{name}];
  h.concurrent = small_limits.concurrent;
  h.per_minute = small_limits.per_minute;
  h.latency = std::chrono::milliseconds(100 + rng() % 4000);
  return h;
}

/// The announcement of repository `n`, with a URL at each host.
inline nostr::event announced_everywhere(std::uint64_t n) {
  std::vector<std::string> urls;
  for (const auto& name : host_names)
    urls.push_back("https://" + name + "/r" + std::to_string(n) + ".git");
  return announcement(1 + n, key(n), "r" + std::to_string(n), urls);
}

} // namespace purgatory::test
