// What a sleeping identifier costs (T3, T4) in a real supervisor: resident
// memory for each, and CPU per second, with 10,000 and with 1,000,000 of them.
#include "actors/supervisor.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>
#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

using namespace purgatory;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t few = 10'000;
constexpr std::size_t many = 1'000'000;
constexpr std::size_t name_length = 64; ///< Longer than nearly all real ones.
constexpr double most_bytes = 256;
constexpr double most_cpu = 1e-3; ///< Seconds per second.
constexpr auto watched = 5s;

double cpu_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double resident_bytes() {
  ::malloc_trim(0);
  std::ifstream statm{"/proc/self/statm"};
  double pages = 0;
  double resident = 0;
  statm >> pages >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

/// Names come in an order that is not theirs, due times over a week.
pending_identifiers sleepers_of(std::size_t count) {
  pending_identifiers all;
  for (std::size_t i = 0; i < count; ++i) {
    const auto mixed = (i * 7919) % count;
    auto text = "repository-" + std::to_string(mixed);
    text.append(name_length - text.size(), 'x');
    const auto due = static_cast<live_seconds>(3600 + (i * 104'729) % 604'800);
    all.repos.push_back({identifier{std::move(text)}, true, due});
  }
  return all;
}

journal_actor::behavior_type book_of(std::size_t count) {
  return {
    [](const record_batch&) { return recorded{}; },
    [](const load_identifier& m) {
      return identifier_image{m.repo, {}, {}};
    },
    [=](const list_pending&) { return sleepers_of(count); },
    [](const list_hosts&) { return known_hosts{}; },
    [](const find_interested&) { return interested{}; },
    [](const find_event&) { return found_event{}; },
    [](const commit_batch&) {},
    [](const close_journal&) { return journal_closed{}; },
  };
}

struct cost {
  double bytes_each = 0;
  double cpu_of_start = 0;
  double cpu_per_second = 0;
};

cost measure(std::size_t count) {
  caf::actor_system_config cfg;
  cfg.set("scheduler.policy", caf::atom("sharing"));
  cfg.set("scheduler.max-threads", std::size_t{2});
  caf::actor_system sys{cfg};
  const auto book
    = sys.spawn([=](journal_actor::pointer) { return book_of(count); });
  supervisor_options options;
  options.live.start = std::chrono::steady_clock::now();
  const auto part = sys.spawn(supervisor, supervisor_factories{},
                              fetch_pool_actor{}, book, options);
  cost result;
  {
    caf::scoped_actor self{sys};
    const auto before = resident_bytes();
    const auto start = cpu_seconds();
    std::size_t found = 0;
    self->request(part, caf::infinite, list_pending{})
      .receive([&](const pending_identifiers& m) { found = m.repos.size(); },
               [](caf::error&) { std::puts("error: nobody sleeps"); });
    result.cpu_of_start = cpu_seconds() - start;
    std::this_thread::sleep_for(200ms); // The message is gone by then.
    result.bytes_each
      = (resident_bytes() - before) / static_cast<double>(found);
    const auto idle = cpu_seconds();
    std::this_thread::sleep_for(watched);
    result.cpu_per_second
      = (cpu_seconds() - idle) / std::chrono::duration<double>(watched).count();
  }
  caf::anon_send_exit(part, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(book, caf::exit_reason::user_shutdown);
  return result;
}

bool line(const char* id, const char* what, double value, double target,
          const char* unit) {
  const bool met = value <= target;
  std::printf("%-4s %-48s %12.6g %s (target <= %g: %s)\n", id, what, value,
              unit, target, met ? "met" : "MISSED");
  return met;
}

} // namespace

int main() {
  const auto small = measure(few);
  const auto big = measure(many);
  bool good = line("T4", "resident bytes of each of 1,000,000 sleepers",
                   big.bytes_each, most_bytes, "B");
  good &= line("T3", "CPU per second of 1,000,000 sleepers", big.cpu_per_second,
               most_cpu, "s");
  good &= line("T3", "CPU per second of 10,000 sleepers", small.cpu_per_second,
               most_cpu, "s");
  std::printf("%-4s %-48s %12.6g us\n", "-", "putting one to bed at the start",
              big.cpu_of_start / many * 1e6);
  return good ? 0 : 1;
}
