// The engine's figures that concern starts alone (design.md §11), from light
// worlds of the simulator: T1, T2, T11, T12, T14.

#include "libsync/sim/light_world.hpp"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

namespace {

using namespace purgatory;
using namespace purgatory::sim;

bool all_met = true;

void put(const char* id, const std::string& what, double value,
         const char* target, bool met) {
  all_met = all_met && met;
  std::printf("%-6s %-56s %14.4f  (target %s: %s)\n", id, what.c_str(), value,
              target, met ? "met" : "MISSED");
}

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

std::uint64_t starts_wanted() {
  const char* wanted = std::getenv("PURGATORY_BENCH_STARTS");
  return wanted != nullptr ? std::stoull(wanted) : 10'000'000;
}

void limits_hold() {
  light_options options;
  options.hosts = 50;
  options.starts = starts_wanted();
  options.changes = true;
  const auto before = cpu_seconds();
  const auto found = run_light(options);
  const auto rate
    = static_cast<double>(found.starts) / (cpu_seconds() - before);
  put("T1",
      "violations in " + std::to_string(found.starts)
        + " starts, limits changing, throttles dying",
      static_cast<double>(found.violations), "0", found.violations == 0);
  put("T12", "starts per CPU-second, every window checked", rate, "200,000",
      rate >= 200'000);
}

void budget_is_used() {
  light_options options;
  options.starts = 200'000;
  const auto found = run_light(options);
  put("T2", "use of 30 a minute at 10 hosts with backlog", found.utilisation,
      ">= 0.99", found.utilisation >= 0.99);
  options.limits.per_minute = 0;
  const auto slots = run_light(options);
  put("T2", "use of 5 slots without minute window", slots.utilisation,
      ">= 0.99", slots.utilisation >= 0.99);
}

void turns_are_fair() {
  light_options options;
  options.hosts = 1;
  options.owners = 500;
  options.units_per_owner = 1;
  options.starts = 50'000;
  const auto found = run_light(options);
  put("T11", "Jain index over 500 units of equal owners", found.jain, ">= 0.99",
      found.jain >= 0.99);
}

void hidden_limits_are_found() {
  for (const std::uint32_t limit : {6U, 12U, 24U})
    for (const bool tells : {false, true}) {
      light_options options;
      options.hosts = 1;
      options.owners = 40;
      options.units_per_owner = 1;
      options.limits.per_minute = 60;
      options.starts = 10'000'000;
      options.length = std::chrono::hours{6};
      options.hidden = light_limit{limit, tells, std::chrono::hours{5}};
      const auto found = run_light(options);
      const auto name = "hidden limit of " + std::to_string(limit)
                        + (tells ? ", 429 with Retry-After" : ", bare 429");
      put("T14", name + ": share of 429", found.limited, "<= 0.03",
          found.limited <= 0.03);
      put("T14", name + ": goodput", found.goodput, ">= 0.80",
          found.goodput >= 0.8);
      const auto recovery
        = found.recovery
            ? std::chrono::duration<double>(*found.recovery).count()
            : 1e9;
      put("T14", name + ": seconds until twice as much is used", recovery,
          "<= 60", recovery <= 60);
    }
}

} // namespace

int main() {
  limits_hold();
  budget_is_used();
  turns_are_fair();
  hidden_limits_are_found();
  return all_met ? 0 : 1;
}
