#include "bench/subject_names.hpp"
#include "libsync/engine/sliding_window.hpp"
#include "libsync/engine/slot_queue.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

using namespace purgatory;
using namespace purgatory::bench;
using namespace std::chrono_literals;

namespace {

/// One cycle: grant, start, sent, completed, asked again. The queue is served
/// in turn, so each cycle meets the subject that waited longest.
void grant_complete_cycle(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  engine::slot_queue slots{
    1, 5, std::make_unique<engine::sliding_window>(30, 60s + 200ms)};
  for (std::size_t i = 0; i < count; ++i)
    ask(slots, name_of(i));

  time_point now{1h};
  std::int64_t cycles = 0;
  while (state.KeepRunningBatch(5)) {
    // Thirty starts a minute, five at once: ten seconds for each five.
    now += 10s + 200ms;
    const auto grants = slots.pump(now);
    for (const auto& granted : grants) {
      slots.start(granted.lease);
      slots.started(granted.lease, now);
      slots.completed(granted.lease);
      ask(slots, granted.who);
      benchmark::DoNotOptimize(slots.wake_at(now));
    }
    cycles += static_cast<std::int64_t>(grants.size());
  }
  if (slots.waiting() != count || cycles < state.iterations())
    state.SkipWithError("the queue did not grant all that it could");
  state.SetItemsProcessed(cycles);
}

BENCHMARK(grant_complete_cycle)->ArgName("waiting")->Arg(1'000)->Arg(100'000);

} // namespace

BENCHMARK_MAIN();
