#pragma once

#include "app/io/git/bare_repository.hpp"
#include "libsync/git/alignment.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

namespace purgatory::io {

/// Carries out `changes`, in the order of their three groups (deletes that
/// make room, creates and updates, other deletes):
/// - locks every ref, with the lock files that git itself uses. A create that
///   waits for room can only be locked once the delete before it is done;
/// - compares each with its `before` under the locks, and does nothing at all
///   unless all agree;
/// - saves tips that would be lost under `refs/purgatory/kept/<unix>/<oid>`;
/// - commits. Files can't change all at once: a reader may see some of the
///   changes before the others.
/// Throws libgit2_error: GIT_ELOCKED when somebody holds a lock, GIT_EMODIFIED
/// when a value is not as it was read. Targets have to exist.
void move_refs(bare_repository& repo,
               const std::vector<git::ref_change>& changes);

/// Runs `step` again while it fails because of a lock, at most ten times over
/// about half a second. Git holds a lock for milliseconds; jitter keeps two
/// writers from meeting again.
template <class Step>
void retry_while_locked(Step step) {
  constexpr int last_try = 10;
  static thread_local std::minstd_rand random{std::random_device{}()};
  for (int round = 1;; ++round) {
    try {
      return step();
    } catch (const libgit2_error& problem) {
      if (problem.code() != GIT_ELOCKED || round == last_try)
        throw;
    }
    std::uniform_int_distribution<int> wait_ms{1, std::min(100, 4 << round)};
    std::this_thread::sleep_for(std::chrono::milliseconds{wait_ms(random)});
  }
}

/// True for an error that means: somebody else is at work on these refs, so
/// read again.
bool is_conflict(const libgit2_error& problem);

} // namespace purgatory::io
