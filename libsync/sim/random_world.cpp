#include "libsync/sim/random_maker.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace purgatory::sim {

namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

} // namespace

std::string numbered(const std::string& word, std::size_t number) {
  return word + std::to_string(number);
}

world random_maker::make() {
  made_.seed = options_.seed;
  made_.length = hours{24 * static_cast<std::int64_t>(options_.days)};
  if (options_.liveness)
    made_.faults_end = made_.length * 4 / 7;
  make_daemon();
  for (std::size_t i = 0; i < options_.hosts; ++i)
    make_host(numbered("host", i) + ".example");
  for (std::size_t i = 0; i < options_.units; ++i)
    make_unit(i);
  make_troubles();
  std::stable_sort(made_.script.begin(), made_.script.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
  return std::move(made_);
}

void random_maker::make_daemon() {
  auto& daemon = made_.daemon;
  if (dice_.chance(0.3))
    daemon.limits.per_minute = static_cast<std::uint32_t>(dice_.between(3, 60));
  if (dice_.chance(0.3))
    daemon.limits.concurrent = static_cast<std::uint32_t>(dice_.between(1, 8));
  if (dice_.chance(0.2))
    daemon.fetch_workers = static_cast<std::uint32_t>(dice_.between(1, 6));
  if (dice_.chance(0.15) && !options_.plain)
    daemon.initial_sync = hours{1};
  made_.relay.latency = milliseconds{dice_.between(1, 500)};
  if (options_.faults && dice_.chance(0.3))
    made_.relay.down.push_back(make_outage(minutes{1}, hours{6}));
}

outage random_maker::make_outage(milliseconds least, milliseconds most) {
  constexpr std::array classes
    = {fetch_class::refused, fetch_class::refused, fetch_class::timeout,
       fetch_class::server,  fetch_class::dns,     fetch_class::tls};
  outage result;
  result.from = dice_.chance(0.4)
                  ? milliseconds{0}
                  : dice_.time(milliseconds{0}, last_fault() * 3 / 4);
  result.to = result.from + dice_.time(least, most);
  result.as = classes.at(dice_.between(0, classes.size() - 1));
  return result;
}

void random_maker::make_host(const std::string& name) {
  host_model host;
  host.latency_min = milliseconds{dice_.between(20, 500)};
  host.latency_mean
    = host.latency_min
      + milliseconds{dice_.chance(0.2) ? dice_.between(5'000, 40'000)
                                       : dice_.between(10, 2'000)};
  host.latency_max = seconds{dice_.between(60, 120)};
  if (options_.faults) {
    if (dice_.chance(0.4))
      host.down.push_back(make_outage(minutes{2}, hours{48}));
    if (dice_.chance(0.2))
      host.down.push_back(make_outage(minutes{1}, hours{3}));
    if (dice_.chance(0.25))
      host.limits.push_back({milliseconds{0},
                             static_cast<std::uint32_t>(dice_.between(2, 40)),
                             dice_.chance(0.5)});
    if (dice_.chance(0.3))
      make_lies(host);
  }
  if (dice_.chance(0.1))
    host.objects_per_job = static_cast<std::uint32_t>(dice_.between(1, 3));
  if (made_.hosts.size() > 1 && dice_.chance(0.05))
    host.redirect_to = made_.hosts.begin()->first;
  made_.hosts[name] = host;
}

void random_maker::make_lies(host_model& host) {
  constexpr std::array classes
    = {fetch_class::not_here, fetch_class::no_repo,    fetch_class::timeout,
       fetch_class::server,   fetch_class::corrupt,    fetch_class::auth,
       fetch_class::refused,  fetch_class::unsupported};
  host.errors.push_back({static_cast<double>(dice_.between(1, 20)) / 100,
                         classes.at(dice_.between(0, classes.size() - 1))});
}

void random_maker::make_troubles() {
  if (options_.plain || !options_.faults)
    return;
  if (dice_.chance(0.5)) {
    const auto count = dice_.between(1, 4);
    for (std::uint64_t i = 0; i < count; ++i)
      say(dice_.time(seconds{0}, last_fault()),
          crash{dice_.time(seconds{1}, hours{2}),
                static_cast<std::uint32_t>(dice_.between(0, 40)),
                dice_.chance(0.2)});
  }
  if (dice_.chance(0.2)) {
    configure changed;
    if (dice_.chance(0.5))
      changed.host = any_host();
    changed.limits.per_minute
      = static_cast<std::uint32_t>(dice_.between(1, 60));
    changed.limits.concurrent = static_cast<std::uint32_t>(dice_.between(1, 8));
    say(dice_.time(seconds{0}, last_fault()), changed);
  }
  if (dice_.chance(0.1))
    say(dice_.time(seconds{0}, last_fault()), operator_retry{});
  if (dice_.chance(0.15))
    say(dice_.time(seconds{0}, last_fault()),
        set_clock{
          seconds{static_cast<std::int64_t>(dice_.between(0, 7200)) - 3600}});
}

world generate_random(const random_options& options) {
  return random_maker{options}.make();
}

} // namespace purgatory::sim
