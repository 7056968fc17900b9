#include "libsync/sim/sim_relay.hpp"

#include <algorithm>

namespace purgatory::sim {

sim_relay::sim_relay(const relay_model& model, time_point begin,
                     std::optional<time_point> faults_end)
  : model_(model), begin_(begin), faults_end_(faults_end) {}

bool sim_relay::is_up(time_point at) const {
  if (faults_end_ && at >= *faults_end_)
    return true;
  return std::none_of(
    model_.down.begin(), model_.down.end(), [&](const outage& each) {
      return begin_ + each.from <= at && at < begin_ + each.to;
    });
}

std::optional<time_point> sim_relay::since(const event_id& id) const {
  const auto i = served_.find(id);
  if (i == served_.end())
    return std::nullopt;
  return i->second;
}

const nostr::event* sim_relay::state_of(const pubkey& author,
                                        const identifier& repo) const {
  const auto i = newest_.find({author, nostr::kind_state, repo.value});
  return i == newest_.end() ? nullptr : &i->second;
}

void sim_relay::bury(const event_id& id) {
  buried_.insert(id);
  std::erase_if(newest_,
                [&](const auto& each) { return each.second.id == id; });
}

publish_outcome sim_relay::take(const nostr::event& ev, time_point at) {
  if (refused_.contains(ev.id))
    return publish_outcome::refused;
  if (buried_.contains(ev.id))
    return publish_outcome::deleted;
  if (ev.kind == nostr::kind_announcement || ev.kind == nostr::kind_state) {
    const address where{ev.author, ev.kind,
                        std::string{nostr::first_value(ev, "d")}};
    const auto known = newest_.find(where);
    if (known != newest_.end() && nostr::is_newer(known->second, ev))
      return publish_outcome::superseded;
    newest_.insert_or_assign(where, ev);
  }
  served_.try_emplace(ev.id, at);
  return publish_outcome::released;
}

} // namespace purgatory::sim
