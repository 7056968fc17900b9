#include "libsync/git/canonical_host.hpp"
#include "libsync/option_setters.hpp"

#include <algorithm>
#include <array>

namespace purgatory::setters {

namespace {

using std::chrono::milliseconds;
using problem = std::optional<std::string>;

std::optional<std::vector<milliseconds>>
durations_in(std::string_view text, milliseconds min, milliseconds max) {
  std::vector<milliseconds> result;
  for (const auto& part : split_list(text)) {
    const auto value = parse_duration(part);
    if (!value || *value < min || *value > max)
      return std::nullopt;
    result.push_back(*value);
  }
  return result;
}

/// Numbers between slashes, at most four.
std::optional<limits_of_host> limits_in(std::string_view text) {
  limits_of_host result;
  const std::array targets = {&result.concurrent, &result.per_minute,
                              &result.per_hour, &result.per_day};
  constexpr std::array<std::uint64_t, 4> least = {1, 1, 0, 0};
  constexpr std::array<std::uint64_t, 4> most
    = {max_domain_concurrent, max_domain_rate_limit, max_domain_hour_limit,
       max_domain_day_limit};
  std::size_t i = 0;
  for (auto rest = text;; ++i) {
    const auto end = std::min(rest.find('/'), rest.size());
    const auto value = parse_whole(rest.substr(0, end));
    if (i >= targets.size() || !value || *value < least.at(i)
        || *value > most.at(i))
      return std::nullopt;
    *targets.at(i) = static_cast<std::uint32_t>(*value);
    if (end == rest.size())
      return result;
    rest.remove_prefix(end + 1);
  }
}

std::string range_text(milliseconds min, milliseconds max) {
  return " from " + to_text(min) + " to " + to_text(max);
}

} // namespace

option_setter factor(double config::*member, double min, double max) {
  return [=](config& target, std::string_view text) -> problem {
    const auto value = parse_fraction(text);
    if (!value || *value < min || *value > max)
      return needs("a number from " + std::to_string(min).substr(0, 3) + " to "
                     + std::to_string(max).substr(0, 4) + " such as 2",
                   text);
    target.*member = *value;
    return std::nullopt;
  };
}

option_setter schedule(std::vector<milliseconds> config::*member,
                       milliseconds min, milliseconds max) {
  return [=](config& target, std::string_view text) -> problem {
    auto found = durations_in(text, min, max);
    if (!found || found->empty()
        || std::adjacent_find(found->begin(), found->end(),
                              std::greater_equal<>())
             != found->end())
      return needs("ascending durations" + range_text(min, max)
                     + " with commas between them",
                   text);
    target.*member = std::move(*found);
    return std::nullopt;
  };
}

option_setter span_pair(milliseconds config::*first,
                        milliseconds config::*second, milliseconds min,
                        milliseconds max) {
  return [=](config& target, std::string_view text) -> problem {
    const auto found = durations_in(text, min, max);
    if (!found || found->size() != 2)
      return needs("two durations" + range_text(min, max)
                     + " with a comma between them",
                   text);
    target.*first = found->front();
    target.*second = found->back();
    return std::nullopt;
  };
}

option_setter hosts(std::vector<std::string> config::*member) {
  return [=](config& target, std::string_view text) -> problem {
    std::vector<std::string> found;
    for (const auto& part : split_list(text)) {
      const auto host = git::canonical_host(part);
      if (!host)
        return needs("host names with commas between them", part);
      found.push_back(host->value);
    }
    target.*member = std::move(found);
    return std::nullopt;
  };
}

option_setter
host_limits(std::map<std::string, limits_of_host> config::*member) {
  return [=](config& target, std::string_view text) -> problem {
    std::map<std::string, limits_of_host> found;
    for (const auto& part : split_list(text)) {
      const auto equals = std::min(part.find('='), part.size());
      const auto host = git::canonical_host(part.substr(0, equals));
      const auto limits = equals < part.size()
                            ? limits_in(part.substr(equals + 1))
                            : std::nullopt;
      if (!host || !limits || !found.emplace(host->value, *limits).second)
        return needs("each host once, as host=concurrent/minute/hour/day",
                     part);
    }
    target.*member = std::move(found);
    return std::nullopt;
  };
}

} // namespace purgatory::setters
