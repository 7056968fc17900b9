#pragma once

#include <chrono>
#include <thread>

namespace purgatory::test {

/// Waits until `holds()`, at most `deadline`. For real processes and threads
/// only: tests with a clock of their own have no use for it.
template <class Condition>
bool eventually(Condition holds,
                std::chrono::milliseconds deadline = std::chrono::seconds{20}) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (!holds()) {
    if (std::chrono::steady_clock::now() >= end)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  return true;
}

} // namespace purgatory::test
