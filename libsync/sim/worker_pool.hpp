#pragma once

#include "libsync/git/effects.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

namespace purgatory::sim {

/// The fetch workers: so many jobs at once, the others in order of arrival.
class worker_pool {
public:
  struct job {
    identifier repo;
    std::uint64_t resident = 0; ///< Serial of the plan that asked.
    git::start_fetch what;
  };

  explicit worker_pool(std::size_t workers) : free_(workers) {}

  void push(job next) { queue_.push_back(std::move(next)); }

  /// The next job that has a worker, if any.
  std::optional<job> take() {
    if (free_ == 0 || queue_.empty())
      return std::nullopt;
    --free_;
    auto next = std::move(queue_.front());
    queue_.pop_front();
    return next;
  }

  void ended() { ++free_; }

  [[nodiscard]] std::size_t waiting() const { return queue_.size(); }

private:
  std::size_t free_;
  std::deque<job> queue_;
};

} // namespace purgatory::sim
