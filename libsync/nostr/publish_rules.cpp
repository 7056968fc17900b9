#include "libsync/nostr/publish_rules.hpp"

#include <algorithm>
#include <array>

namespace purgatory::nostr {

namespace {

using std::chrono::hours;
using std::chrono::seconds;

struct rule {
  std::string_view prefix;
  publish_step step;
};

constexpr std::array refusals = {
  rule{"duplicate", publish_step::read_back},
  rule{"replaced", publish_step::superseded},
  rule{"deleted", publish_step::deleted},
  rule{"invalid", publish_step::refused},
  rule{"blocked", publish_step::refused},
  rule{"restricted", publish_step::refused},
  rule{"mute", publish_step::refused},
  rule{"pow", publish_step::refused},
  rule{"auth-required", publish_step::refused},
  rule{"rate-limited", publish_step::wait},
  rule{"error", publish_step::retry},
};

std::string_view prefix_of(std::string_view message) {
  const auto colon = message.find(':');
  return colon == std::string_view::npos ? std::string_view{}
                                         : message.substr(0, colon);
}

} // namespace

publish_step classify_ok(bool accepted, std::string_view message) {
  const auto prefix = prefix_of(message);
  if (accepted)
    return prefix == "purgatory" ? publish_step::retry
                                 : publish_step::read_back;
  const auto found = std::ranges::find(refusals, prefix, &rule::prefix);
  return found == refusals.end() ? publish_step::retry : found->step;
}

duration retry_delay(std::uint32_t failures) {
  constexpr std::uint32_t doublings_to_cap = 10;
  const auto doublings
    = std::min(failures > 0 ? failures - 1 : 0, doublings_to_cap);
  return std::min<duration>(seconds{5} * (1U << doublings), hours{1});
}

duration reconnect_delay(std::uint32_t losses) {
  return losses <= 1 ? duration{seconds{1}} : retry_delay(losses - 1);
}

const char* to_string(publish_step value) {
  static constexpr std::array<const char*, 6> names
    = {"read_back", "superseded", "deleted", "refused", "wait", "retry"};
  return names.at(static_cast<std::size_t>(value));
}

} // namespace purgatory::nostr
