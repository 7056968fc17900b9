#include "libsync/sim/summary.hpp"

#include "libsync/sim/bound.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

namespace purgatory::sim {

namespace {

using json = nlohmann::ordered_json;

double seconds_of(duration value) {
  return std::round(std::chrono::duration<double>(value).count() * 1000) / 1000;
}

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

std::string text_of(duration value) {
  const auto seconds = std::chrono::duration<double>(value).count();
  char text[64];
  if (seconds < 120)
    std::snprintf(text, sizeof text, "%.1f s", seconds);
  else if (seconds < 7200)
    std::snprintf(text, sizeof text, "%.1f min", seconds / 60);
  else
    std::snprintf(text, sizeof text, "%.1f h", seconds / 3600);
  return text;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%", share * 100);
  return text;
}

std::string times(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

json to_json(const spread& of) {
  return {{"count", of.count},
          {"p50_s", seconds_of(of.p50)},
          {"p90_s", seconds_of(of.p90)},
          {"p99_s", seconds_of(of.p99)},
          {"max_s", seconds_of(of.max)}};
}

json to_json(const host_summary& of) {
  json classes = json::object();
  for (std::size_t i = 0; i < fetch_class_count; ++i)
    if (of.seen.by_class.at(i) > 0)
      classes[to_string(static_cast<fetch_class>(i))] = of.seen.by_class.at(i);
  json to = {{"host", of.name},
             {"starts", of.seen.starts},
             {"by_class", classes},
             {"max_in_flight", of.seen.max_in_flight},
             {"max_in_minute", of.seen.max_in_minute},
             {"backlog_s", seconds_of(of.seen.backlog)}};
  if (of.utilisation)
    to["utilisation"] = *of.utilisation;
  return to;
}

void put_spread(std::ostream& out, const char* name, const spread& of) {
  out << name << "p50 " << text_of(of.p50) << ", p90 " << text_of(of.p90)
      << ", p99 " << text_of(of.p99) << ", max " << text_of(of.max) << "\n";
}

} // namespace

spread spread_of(std::vector<duration> values) {
  spread result;
  result.count = values.size();
  if (values.empty())
    return result;
  std::sort(values.begin(), values.end());
  const auto at = [&](std::size_t percent) {
    return values[std::min(values.size() - 1, values.size() * percent / 100)];
  };
  result.p50 = at(50);
  result.p90 = at(90);
  result.p99 = at(99);
  result.max = values.back();
  return result;
}

std::string to_text(const summary& of) {
  std::ostringstream out;
  out << "seed " << of.seed << ", " << text_of(of.simulated) << " simulated, "
      << of.steps << " steps, " << of.crashes << " restarts, trace " << std::hex
      << of.trace << std::dec << "\n"
      << "released      " << of.released << " of " << of.events
      << " states and pull requests, " << of.announcements
      << " announcements; reachable " << of.reachable << ", of them released "
      << of.reached << "; given up " << of.verdicts << "\n";
  put_spread(out, "lag           ", of.lag);
  out << "              = release - bound; " << bound_formula << "\n";
  put_spread(out, "waited        ", of.waited);
  out << "              = release - data available\n"
      << "makespan      " << text_of(of.makespan)
      << " from availability, bound " << text_of(of.bound) << ", ratio "
      << times(ratio(seconds_of(of.makespan), seconds_of(of.bound))) << "\n"
      << "requests      " << of.starts << " starts, " << of.limited
      << " answered 429 ("
      << percent(ratio(static_cast<double>(of.limited),
                       static_cast<double>(of.starts)))
      << ")\n"
      << "wasted        " << of.starts_useless << " of " << of.starts_reachable
      << " starts of units with reachable data ("
      << percent(ratio(static_cast<double>(of.starts_useless),
                       static_cast<double>(of.starts_reachable)))
      << ") brought neither object nor news; clairvoyant "
      << of.starts_clairvoyant << ", ratio "
      << times(ratio(static_cast<double>(of.starts_reachable),
                     static_cast<double>(of.starts_clairvoyant)))
      << "; without data at most " << of.starts_absent << " per URL\n"
      << "at the end    " << of.awake << " identifiers awake, " << of.asleep
      << " asleep\n";
  for (const auto& host : of.hosts) {
    out << "  " << host.name << ": " << host.seen.starts << " starts, at most "
        << host.seen.max_in_flight << " at once, " << host.seen.max_in_minute
        << " a minute";
    if (host.utilisation)
      out << ", utilisation " << percent(*host.utilisation) << " of "
          << text_of(host.seen.backlog) << " backlog";
    for (std::size_t i = 0; i < fetch_class_count; ++i)
      if (host.seen.by_class.at(i) > 0)
        out << "; " << to_string(static_cast<fetch_class>(i)) << " "
            << host.seen.by_class.at(i);
    out << "\n";
  }
  for (const auto& name : of.missed)
    out << "missed        " << name << "\n";
  out << "violations    " << of.violation_count << "\n";
  for (const auto& each : of.violations)
    out << "  seed " << of.seed << " after " << text_of(each.at) << ": "
        << each.what << "\n";
  return out.str();
}

std::string to_json(const summary& of) {
  json to = {
    {"seed", of.seed},
    {"simulated_s", seconds_of(of.simulated)},
    {"steps", of.steps},
    {"restarts", of.crashes},
    {"trace", of.trace},
    {"events", of.events},
    {"released", of.released},
    {"announcements", of.announcements},
    {"reachable", of.reachable},
    {"reachable_released", of.reached},
    {"verdicts", of.verdicts},
    {"missed", of.missed},
    {"lag", to_json(of.lag)},
    {"waited", to_json(of.waited)},
    {"makespan_s", seconds_of(of.makespan)},
    {"bound_s", seconds_of(of.bound)},
    {"bound_formula", bound_formula},
    {"starts", of.starts},
    {"limited", of.limited},
    {"starts_reachable", of.starts_reachable},
    {"starts_useless", of.starts_useless},
    {"starts_clairvoyant", of.starts_clairvoyant},
    {"starts_absent", of.starts_absent},
    {"awake", of.awake},
    {"asleep", of.asleep},
    {"facts", of.facts},
  };
  to["hosts"] = json::array();
  for (const auto& host : of.hosts)
    to["hosts"].push_back(to_json(host));
  to["violation_count"] = of.violation_count;
  to["violations"] = json::array();
  for (const auto& each : of.violations)
    to["violations"].push_back({{"seed", of.seed},
                                {"after_s", seconds_of(each.at)},
                                {"what", each.what}});
  return to.dump(2) + "\n";
}

} // namespace purgatory::sim
