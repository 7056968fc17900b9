#include "libsync/sim/plain_model.hpp"

#include "libsync/sim/plain_process.hpp"
#include "libsync/sim/run.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace purgatory::sim {

namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

/// The time that the busiest host needs for all the starts of ours.
duration queue_time(const world& what, const summary& ours) {
  duration longest = duration::zero();
  for (const auto& host : ours.hosts) {
    const auto own = what.daemon.host_limits.find(host.name);
    auto limit = own == what.daemon.host_limits.end()
                   ? what.daemon.limits.per_minute
                   : own->second.per_minute;
    for (const auto& hidden : what.hosts.at(host.name).limits)
      if (hidden.per_minute > 0 && (limit == 0 || hidden.per_minute < limit))
        limit = hidden.per_minute;
    if (limit > 0)
      longest = std::max<duration>(longest,
                                   minutes{1} * (host.seen.starts / limit + 1));
  }
  return longest;
}

duration longest_block(const world& what) {
  for (const auto& [name, host] : what.hosts)
    for (const auto& each : host.down)
      if (each.as == fetch_class::dns || each.as == fetch_class::tls)
        return hours{2};
  return minutes{30};
}

void put_line(std::ostream& out, const char* name, const summary& of) {
  std::uint32_t most = 0;
  std::uint32_t at_once = 0;
  for (const auto& host : of.hosts) {
    most = std::max(most, host.seen.max_in_minute);
    at_once = std::max(at_once, host.seen.max_in_flight);
  }
  out << name << of.released << " of " << of.events << " released, "
      << of.starts << " starts, at most " << at_once << " at once and " << most
      << " a minute at one host, " << of.limited << " answered 429, "
      << of.violation_count << " violations\n";
}

} // namespace

summary run_plain(const world& what) {
  plain_process model{what};
  model.run();
  auto& after = model.around();
  summary result;
  result.seed = what.seed;
  result.simulated = what.length;
  result.steps = model.steps;
  result.events = after.claims.all().size();
  for (const auto& [id, claim] : after.claims.all())
    if (after.relay.serves(id))
      ++result.released;
  result.released_at = std::move(model.released_at);
  result.starts = after.watch.starts();
  for (const auto& [name, seen] : after.watch.hosts()) {
    result.limited
      += seen.by_class.at(static_cast<std::size_t>(fetch_class::limited));
    result.hosts.push_back({name.value, seen, std::nullopt});
  }
  result.violation_count = after.watch.violation_count();
  result.trace = after.watch.trace();
  return result;
}

comparison compare(const world& what) {
  comparison result;
  result.ours = run(what);
  result.plain = run_plain(what);
  for (const auto& [name, at] : result.plain.released_at) {
    if (result.ours.outdone.contains(name))
      continue;
    const auto ours = result.ours.released_at.find(name);
    if (ours == result.ours.released_at.end()) {
      result.lost.push_back(name);
    } else if (ours->second - at > result.latest_after) {
      result.latest_after = ours->second - at;
      result.latest = name;
    }
  }
  result.bound
    = longest_block(what) + seconds{132} + queue_time(what, result.ours);
  return result;
}

std::string to_text(const comparison& of) {
  std::ostringstream out;
  put_line(out, "ours          ", of.ours);
  put_line(out, "plain         ", of.plain);
  out << "lost          " << of.lost.size()
      << " that only the plain model released";
  for (std::size_t i = 0; i < std::min<std::size_t>(of.lost.size(), 10); ++i)
    out << (i == 0 ? ": " : ", ") << of.lost[i];
  const auto seconds_of = [](duration value) {
    return std::chrono::duration<double>(value).count();
  };
  out << "\n"
      << std::fixed << std::setprecision(1) << "later         at most "
      << seconds_of(of.latest_after) << " s after the plain model";
  if (!of.latest.empty())
    out << " (" << of.latest << ")";
  out << ", bound " << seconds_of(of.bound) << " s\n";
  return out.str();
}

std::string to_json(const comparison& of) {
  using json = nlohmann::ordered_json;
  const auto seconds_of = [](duration value) {
    return std::chrono::duration<double>(value).count();
  };
  const json to = {{"ours", json::parse(to_json(of.ours))},
                   {"plain", json::parse(to_json(of.plain))},
                   {"lost", of.lost},
                   {"latest_after_s", seconds_of(of.latest_after)},
                   {"latest", of.latest},
                   {"bound_s", seconds_of(of.bound)}};
  return to.dump(2) + "\n";
}

} // namespace purgatory::sim
