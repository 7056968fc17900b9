#pragma once

#include "libsync/git/admission.hpp"
#include "libsync/nostr/event.hpp"
#include "libsync/sim/world.hpp"
#include "libsync/types.hpp"

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace purgatory::sim {

/// Our relay as a plain container that keeps NIP-01's order. It outlives the
/// process.
class sim_relay {
public:
  sim_relay(const relay_model& model, time_point begin,
            std::optional<time_point> faults_end);

  [[nodiscard]] duration latency() const { return model_.latency; }
  [[nodiscard]] bool is_up(time_point at) const;
  [[nodiscard]] bool serves(const event_id& id) const {
    return served_.contains(id);
  }
  /// When it got `id`; nothing: never.
  [[nodiscard]] std::optional<time_point> since(const event_id& id) const;

  /// The state of (author, d) that it serves now, or null.
  [[nodiscard]] const nostr::event* state_of(const pubkey& author,
                                             const identifier& repo) const;
  /// All replaceable events that it serves now, by author, kind and `d`.
  using address = std::tuple<pubkey, std::uint32_t, std::string>;
  [[nodiscard]] const std::map<address, nostr::event>& newest() const {
    return newest_;
  }

  void refuse(const event_id& id) { refused_.insert(id); }

  /// A client takes `id` back.
  void bury(const event_id& id);

  /// An event arrives.
  publish_outcome take(const nostr::event& ev, time_point at);

private:
  relay_model model_;
  time_point begin_;
  std::optional<time_point> faults_end_;
  std::map<event_id, time_point> served_;
  std::map<address, nostr::event> newest_;
  std::set<event_id> refused_;
  std::set<event_id> buried_;
};

} // namespace purgatory::sim
