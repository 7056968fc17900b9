#include "actors/settings.hpp"

#include "actors/harden.hpp"
#include "actors/log.hpp"

#include <caf/actor_system.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace purgatory {

namespace {

constexpr const char* concurrent_name = "sync-domain-concurrent";
constexpr const char* rate_name = "sync-domain-rate-limit";
constexpr const char* hour_name = "sync-domain-hour-limit";
constexpr const char* day_name = "sync-domain-day-limit";

using ceiling = std::optional<std::uint32_t>;
using ceilings = settings_state::ceilings;

void append(std::string& list, const std::string& part) {
  if (part.empty())
    return;
  list += (list.empty() ? "" : ", ") + part;
}

std::string change_text(const char* name, const std::optional<host_key>& host,
                        std::uint32_t before, std::uint32_t after) {
  const auto what = std::string{name} + (host ? " of " + host->value : "");
  if (before == after)
    return what + " stays " + std::to_string(after);
  return what + " " + std::to_string(before) + " -> " + std::to_string(after);
}

/// One kind of ceiling: where its general and its per-host values are.
struct ceiling_kind {
  const char* name;
  ceiling set_limits::*wanted;
  std::uint32_t config::*general;
  ceiling ceilings::*of_host;
  std::uint32_t min;
  std::uint32_t max;
};

constexpr ceiling_kind kinds[] = {
  {concurrent_name, &set_limits::concurrent, &config::domain_concurrent,
   &ceilings::concurrent, 1, max_domain_concurrent},
  {rate_name, &set_limits::per_minute, &config::domain_rate_limit,
   &ceilings::per_minute, 1, max_domain_rate_limit},
  {hour_name, &set_limits::per_hour, &config::domain_hour_limit,
   &ceilings::per_hour, 0, max_domain_hour_limit},
  {day_name, &set_limits::per_day, &config::domain_day_limit,
   &ceilings::per_day, 0, max_domain_day_limit},
};

std::string range_problem(const set_limits& wanted, const ceiling_kind& kind) {
  const auto& value = wanted.*kind.wanted;
  if (!value || (*value >= kind.min && *value <= kind.max))
    return {};
  return std::string{kind.name} + " must be from " + std::to_string(kind.min)
         + " to " + std::to_string(kind.max) + ", not "
         + std::to_string(*value);
}

std::string take_one(settings_state& state, const set_limits& accepted,
                     const ceiling_kind& kind) {
  const auto& wanted = accepted.*kind.wanted;
  if (!wanted)
    return {};
  auto& general = state.current.*kind.general;
  if (!accepted.host) {
    const auto before = std::exchange(general, *wanted);
    return change_text(kind.name, accepted.host, before, *wanted);
  }
  auto& own = state.hosts[*accepted.host].*kind.of_host;
  const auto before = own.value_or(general);
  own = *wanted;
  return change_text(kind.name, accepted.host, before, *wanted);
}

} // namespace

std::optional<std::string>
settings_state::problem_of(const set_limits& wanted) {
  const auto asks_for = [&](const ceiling_kind& kind) {
    return (wanted.*kind.wanted).has_value();
  };
  if (std::none_of(std::begin(kinds), std::end(kinds), asks_for))
    return "nothing to change";
  std::string found;
  if (wanted.host && wanted.host->value.empty())
    append(found, "the host is empty");
  for (const auto& kind : kinds)
    append(found, range_problem(wanted, kind));
  if (found.empty())
    return std::nullopt;
  return found;
}

std::string settings_state::take_over(const set_limits& accepted) {
  std::string changes;
  for (const auto& kind : kinds)
    append(changes, take_one(*this, accepted, kind));
  return changes;
}

settings_actor::behavior_type settings(settings_state::pointer self,
                                       config initial,
                                       supervisor_actor supervisor) {
  harden(self);
  auto& state = self->state;
  state.current = std::move(initial);
  for (const auto& [host, own] : state.current.host_limits)
    state.hosts[host_key{host}]
      = {own.concurrent, own.per_minute, own.per_hour, own.per_day};
  state.supervisor = std::move(supervisor);
  return {
    [self](const set_limits& wanted) -> caf::result<limits_set> {
      if (const auto problem = settings_state::problem_of(wanted))
        return limits_set{false, *problem};
      auto answer = self->make_response_promise<limits_set>();
      self->request(self->state.supervisor, caf::infinite, wanted)
        .then(
          [self, wanted, answer](const limits_set& told) mutable {
            if (!told.accepted) {
              answer.deliver(told);
              return;
            }
            auto changes = self->state.take_over(wanted);
            log::info("Limits changed", {{"changes", changes}});
            answer.deliver(limits_set{true, std::move(changes)});
          },
          [self, answer](const caf::error& why) mutable {
            answer.deliver(limits_set{false, "nothing was changed: "
                                               + self->system().render(why)});
          });
      return answer;
    },
  };
}

} // namespace purgatory
