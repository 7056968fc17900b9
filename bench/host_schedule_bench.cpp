#include "bench/subject_names.hpp"
#include "libsync/engine/host_schedule.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

using namespace purgatory;
using namespace purgatory::bench;
using namespace std::chrono_literals;

namespace {

/// One cycle: grant, start, sent, completed, asked again, with windows of
/// minute, hour and day and, if `paced`, a learned rate.
void host_cycle(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const bool paced = state.range(1) != 0;
  time_point now{1h};
  engine::host_schedule host{{1}, {5, 30, 1'800, 43'200}};
  if (paced)
    host.restore({{}, 29}, now);
  for (std::size_t i = 0; i < count; ++i)
    ask(host, name_of(i));

  std::int64_t cycles = 0;
  while (state.KeepRunning()) {
    auto grants = host.pump(now);
    while (grants.empty()) {
      now = *host.wake_at(now);
      grants = host.pump(now);
    }
    for (const auto& granted : grants) {
      host.start(granted.lease);
      host.started(granted.lease, now);
      host.completed(granted.lease, engine::host_signal::good, {}, now);
      ask(host, granted.who);
      benchmark::DoNotOptimize(host.wake_at(now));
    }
    benchmark::DoNotOptimize(host.take_news());
    cycles += static_cast<std::int64_t>(grants.size());
  }
  if (host.waiting() != count)
    state.SkipWithError("a place was lost");
  state.SetItemsProcessed(cycles);
}

BENCHMARK(host_cycle)
  ->ArgNames({"waiting", "paced"})
  ->Args({1'000, 0})
  ->Args({1'000, 1})
  ->Args({100'000, 0})
  ->Args({100'000, 1});

} // namespace

BENCHMARK_MAIN();
