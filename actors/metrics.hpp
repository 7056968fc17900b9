#pragma once

#include "libsync/label_set.hpp"
#include "messages/actors.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace purgatory {

/// Counters by name and label; both bounded, whatever is counted.
struct metrics_state {
  using pointer = metrics_actor::stateful_pointer<metrics_state>;
  static inline const char* name = "metrics";

  explicit metrics_state(pointer) {}

  void add(const count& happened);
  /// Every counter under its full name, as Prometheus writes it.
  metrics_snapshot snapshot() const;

  /// The set that bounds the labels of `what`; both counters by domain share
  /// one, so that they show the same hosts.
  label_set& labels_of(counter what);

  std::map<std::pair<counter, std::string>, std::uint64_t> values;
  label_set domains{20};
  std::map<counter, label_set> others;
};

/// Counts what it is told and shows it when it is scraped.
metrics_actor::behavior_type metrics(metrics_state::pointer self);

} // namespace purgatory
