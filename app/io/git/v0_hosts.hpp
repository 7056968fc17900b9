#pragma once

#include "libsync/types.hpp"

#include <algorithm>
#include <unordered_map>

namespace purgatory::io {

/// Hosts that did not understand protocol v2, remembered for a while and
/// bounded: at the cap, the one that would be forgotten first goes.
class v0_hosts {
public:
  static constexpr std::size_t max_hosts = 1024;

  explicit v0_hosts(duration memory) : memory_(memory) {}

  void remember(const host_key& host, time_point now) {
    if (until_.size() >= max_hosts && !until_.contains(host))
      until_.erase(std::min_element(
        until_.begin(), until_.end(),
        [](const auto& a, const auto& b) { return a.second < b.second; }));
    until_[host] = now + memory_;
  }

  bool contains(const host_key& host, time_point now) const {
    const auto at = until_.find(host);
    return at != until_.end() && now < at->second;
  }

private:
  duration memory_;
  std::unordered_map<host_key, time_point> until_;
};

} // namespace purgatory::io
