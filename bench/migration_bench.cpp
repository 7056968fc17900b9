// A relay moves to a new home (rules §13.3, §14): T5 and T6, and the same at
// another size with PURGATORY_BENCH_REPOSITORIES and PURGATORY_BENCH_HOSTS.

#include "libsync/sim/generate.hpp"
#include "libsync/sim/run.hpp"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

namespace {

using namespace purgatory;
using namespace purgatory::sim;

bool all_met = true;

void put(const char* id, const char* what, double value, const char* target,
         bool met) {
  all_met = all_met && met;
  std::printf("%-4s %-60s %12.4f  (target %s: %s)\n", id, what, value, target,
              met ? "met" : "MISSED");
}

std::size_t number(const char* name, std::size_t usual) {
  const char* wanted = std::getenv(name);
  return wanted != nullptr ? std::stoul(wanted) : usual;
}

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

} // namespace

int main() {
  migration_options options;
  options.repositories = number("PURGATORY_BENCH_REPOSITORIES", 1858);
  options.hosts = number("PURGATORY_BENCH_HOSTS", 11);
  const auto before = std::clock();
  const auto found = run(generate_migration(options));
  const auto seconds
    = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  std::fputs(to_text(found).c_str(), stdout);
  std::printf("\n%zu repositories, %zu hosts: %.1f CPU seconds, %.0f starts "
              "per CPU-second\n",
              options.repositories, options.hosts, seconds,
              static_cast<double>(found.starts) / seconds);
  const auto count = [](auto value) { return static_cast<double>(value); };
  const auto share = ratio(count(found.reached), count(found.reachable));
  put("T5", "reachable states released, without a manual step", share, "1",
      share >= 1);
  const auto makespan
    = ratio(std::chrono::duration<double>(found.makespan).count(),
            std::chrono::duration<double>(found.bound).count());
  put("T5", "makespan from availability by its bound", makespan, "<= 1.10",
      makespan <= 1.10);
  const auto waste
    = ratio(count(found.starts_useless), count(found.starts_reachable));
  put("T6", "starts that brought neither object nor news", waste, "<= 0.05",
      waste <= 0.05);
  const auto starts
    = ratio(count(found.starts_reachable), count(found.starts_clairvoyant));
  put("T6", "starts by those of a clairvoyant scheduler", starts, "<= 1.10",
      starts <= 1.10);
  put("T6", "most starts at a URL of who has no data",
      count(found.starts_absent), "<= 18", found.starts_absent <= 18);
  put("", "violations", count(found.violation_count), "0",
      found.violation_count == 0);
  return all_met ? 0 : 1;
}
