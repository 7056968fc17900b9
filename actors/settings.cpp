#include "actors/settings.hpp"

#include "actors/harden.hpp"
#include "actors/log.hpp"

#include <caf/actor_system.hpp>

#include <utility>

namespace purgatory {

namespace {

constexpr const char* concurrent_name = "sync-domain-concurrent";
constexpr const char* rate_name = "sync-domain-rate-limit";

using ceiling = std::optional<std::uint32_t>;
using ceilings = settings_state::ceilings;

void append(std::string& list, const std::string& part) {
  if (part.empty())
    return;
  list += (list.empty() ? "" : ", ") + part;
}

std::string range_problem(const char* name, const ceiling& value,
                          std::uint32_t max) {
  if (!value || (*value >= 1 && *value <= max))
    return {};
  return std::string{name} + " must be from 1 to " + std::to_string(max)
         + ", not " + std::to_string(*value);
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
};

constexpr ceiling_kind kinds[] = {
  {concurrent_name, &set_limits::concurrent, &config::domain_concurrent,
   &ceilings::concurrent},
  {rate_name, &set_limits::per_minute, &config::domain_rate_limit,
   &ceilings::per_minute},
};

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
  if (!wanted.concurrent && !wanted.per_minute)
    return "nothing to change";
  std::string found;
  if (wanted.host && wanted.host->value.empty())
    append(found, "the host is empty");
  append(found, range_problem(concurrent_name, wanted.concurrent,
                              max_domain_concurrent));
  append(found,
         range_problem(rate_name, wanted.per_minute, max_domain_rate_limit));
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
