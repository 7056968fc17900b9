#pragma once

#include <caf/actor_addr.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace purgatory {

/// The workers of a pool: at most `size`, made on demand, one job each. A
/// worker that failed never gets another job, since its death may be on its
/// way already (caf-0.17.md §4); the next job gets a fresh one.
template <class Handle>
class worker_crew {
public:
  using factory = std::function<Handle()>;

  worker_crew() = default;
  worker_crew(std::size_t size, factory make)
    : size_(size), make_(std::move(make)) {}

  /// A worker without a job, or nothing when all are busy. Who is new is told
  /// to `welcome`.
  template <class Welcome>
  std::optional<Handle> take(Welcome welcome) {
    if (!idle_.empty()) {
      auto worker = std::move(idle_.back());
      idle_.pop_back();
      return worker;
    }
    if (all_.size() >= size_)
      return std::nullopt;
    auto worker = make_();
    all_.push_back(worker);
    welcome(worker);
    return worker;
  }

  /// `worker` has done its job and may get another one.
  void put_back(const Handle& worker) {
    if (find(all_, worker.address()) != all_.end())
      idle_.push_back(worker);
  }

  /// `worker` failed or died.
  void dismiss(const caf::actor_addr& worker) {
    for (auto* list : {&idle_, &all_})
      if (const auto found = find(*list, worker); found != list->end())
        list->erase(found);
  }

  const std::vector<Handle>& all() const { return all_; }

private:
  using handles = std::vector<Handle>;

  static typename handles::iterator find(handles& list,
                                         const caf::actor_addr& who) {
    return std::find_if(list.begin(), list.end(), [&who](const Handle& known) {
      return known.address() == who;
    });
  }

  std::size_t size_ = 0;
  factory make_;
  handles idle_;
  handles all_;
};

} // namespace purgatory
