#pragma once

#include "libsync/engine/slot_queue.hpp"

#include <string>

/// Who waits in a benchmark.
namespace purgatory::bench {

inline constexpr std::size_t key_length = 64;

/// A name as long as a real one: an owner's 64-digit key and an identifier.
inline engine::subject name_of(std::size_t number) {
  const auto owner = std::to_string(1'000'000 + number / 10);
  return engine::subject{owner + std::string(key_length - owner.size(), 'a')
                         + "/repository-" + std::to_string(number)};
}

/// `who` waits for a turn as one that was tried before.
template <class Queue>
void ask(Queue& queue, const engine::subject& who) {
  const engine::subject_owner owner{who.value.substr(0, key_length)};
  queue.enqueue(who, owner, lane::retry);
}

} // namespace purgatory::bench
