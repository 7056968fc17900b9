#include "libsync/sim/light_process.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace purgatory::sim {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr duration settle = minutes{10};
constexpr duration change_interval = minutes{7};

std::string numbered(char letter, std::size_t number) {
  return letter + std::to_string(number);
}

/// The number in the name of a unit.
std::uint32_t number_of(const std::string& name) {
  std::uint32_t number = 0;
  std::from_chars(name.data() + 1, name.data() + name.size(), number);
  return number;
}

} // namespace

light_process::light_process(const light_options& options)
  : options_(options), dice_(options.seed), hosts_(options.hosts) {
  for (std::size_t i = 0; i < options.owners * options.units_per_owner; ++i) {
    subjects_.emplace_back(numbered('u', i));
    owners_.emplace_back(numbered('o', i / options.units_per_owner));
  }
  for (std::uint32_t i = 0; i < hosts_.size(); ++i) {
    auto& each = hosts_[i];
    each.limits = options.limits;
    each.loosest = options.limits;
    each.starts_of.resize(subjects_.size());
    each.schedule = std::make_unique<engine::host_schedule>(
      engine::schedule_settings{++serial_}, each.limits);
    for (std::uint32_t unit = 0; unit < subjects_.size(); ++unit)
      enqueue(i, unit, lane::fresh);
  }
}

light_summary light_process::run() {
  for (std::uint32_t i = 0; i < hosts_.size(); ++i)
    pump(i);
  if (options_.changes)
    agenda_.put(now_ + change_interval, {kind::change});
  const auto end = begin_ + options_.length;
  while (result_.starts < options_.starts && agenda_.next() <= end) {
    now_ = agenda_.next();
    const auto next = agenda_.take();
    switch (next.what) {
    case kind::pump:
      if (hosts_[next.host].armed == now_) {
        hosts_[next.host].armed.reset();
        pump(next.host);
      }
      break;
    case kind::answer:
      answer(next);
      break;
    case kind::change:
      change();
      break;
    }
  }
  measure(result_);
  return result_;
}

void light_process::enqueue(std::uint32_t at, std::uint32_t unit, lane turn) {
  hosts_[at].schedule->enqueue(subjects_[unit], owners_[unit], turn);
}

void light_process::pump(std::uint32_t at) {
  auto& here = hosts_[at];
  for (const auto& grant : here.schedule->pump(now_))
    start(at, number_of(grant.who.value), grant.lease);
  static_cast<void>(here.schedule->take_news());
  const auto wake = here.schedule->wake_at(now_);
  check(wake || here.in_flight > 0, "work, and neither job nor timer");
  if (!wake || (here.armed && *here.armed <= *wake))
    return;
  here.armed = std::max(*wake, now_);
  agenda_.put(*here.armed, {kind::pump, false, at});
}

void light_process::start(std::uint32_t at, std::uint32_t unit,
                          lease_id lease) {
  auto& here = hosts_[at];
  here.schedule->started(lease, now_);
  ++result_.starts;
  ++here.starts_of[unit];
  ++here.in_flight;
  here.window.push_back(now_);
  check_start(here);
  const auto least = std::chrono::duration_cast<std::chrono::milliseconds>(
    options_.latency_min);
  const auto most = std::chrono::duration_cast<std::chrono::milliseconds>(
    options_.latency_max);
  const duration takes = dice_.time(least, most);
  here.busy += takes;
  happening next{kind::answer, false, at, unit, lease, 0, now_};
  next.refused = is_refused(here, next);
  result_.trace
    = (result_.trace
       ^ (static_cast<std::uint64_t>((now_ - begin_).count()) + unit))
      * 1099511628211ULL;
  agenda_.put(now_ + takes, next);
}

void light_process::answer(const happening& what) {
  auto& here = hosts_[what.host];
  --here.in_flight;
  if (now_ - begin_ > settle) {
    ++late_;
    late_refused_ += what.refused ? 1 : 0;
  }
  const auto wait = what.retry_after > 0
                      ? std::optional{seconds{what.retry_after}}
                      : std::nullopt;
  here.schedule->completed(what.lease,
                           what.refused ? engine::host_signal::limited
                                        : engine::host_signal::good,
                           wait, now_);
  enqueue(what.host, what.unit, lane::retry);
  pump(what.host);
}

// -- servers ------------------------------------------------------------------

std::uint32_t light_process::bears() const {
  const auto& hidden = *options_.hidden;
  const bool doubled = hidden.doubles && now_ - begin_ >= *hidden.doubles;
  return doubled ? 2 * hidden.per_minute : hidden.per_minute;
}

bool light_process::is_refused(host& at, happening& to) {
  if (!options_.hidden)
    return false;
  while (!at.welcome.empty() && at.welcome.front() + minutes{1} <= now_)
    at.welcome.pop_front();
  if (at.welcome.size() < bears()) {
    at.welcome.push_back(now_);
    at.accepted.push_back(now_);
    return false;
  }
  if (options_.hidden->tells)
    to.retry_after = static_cast<std::int32_t>(
      std::chrono::ceil<seconds>(at.welcome.front() + minutes{1} - now_)
        .count());
  return true;
}

// -- checks -------------------------------------------------------------------

void light_process::check(bool good, const char* what) {
  if (good)
    return;
  if (result_.violations++ == 0)
    result_.first_violation = what;
}

void light_process::check_start(host& at) {
  while (!at.window.empty() && at.window.front() + minutes{1} <= now_)
    at.window.pop_front();
  const bool tight = at.tightened + minutes{1} <= now_;
  const auto& limits = tight ? at.limits : at.loosest;
  check(limits.per_minute == 0 || at.window.size() <= limits.per_minute,
        "too many starts in a minute");
  check(at.in_flight <= limits.concurrent, "too many at once");
}

/// One host gets other limits; another one's throttle dies and is seeded.
void light_process::change() {
  auto& here = hosts_[dice_.between(0, hosts_.size() - 1)];
  const bool tight = here.tightened + minutes{1} <= now_;
  const auto before = tight ? here.limits : here.loosest;
  here.limits.per_minute = static_cast<std::uint32_t>(dice_.between(1, 60));
  here.limits.concurrent = static_cast<std::uint32_t>(dice_.between(1, 8));
  here.loosest = here.limits;
  here.loosest.per_minute = std::max(before.per_minute, here.limits.per_minute);
  here.loosest.concurrent = std::max(before.concurrent, here.limits.concurrent);
  here.tightened = now_;
  here.schedule->set_limits(here.limits);
  pump(static_cast<std::uint32_t>(&here - hosts_.data()));
  restart(static_cast<std::uint32_t>(dice_.between(0, hosts_.size() - 1)));
  agenda_.put(now_ + change_interval, {kind::change});
}

} // namespace purgatory::sim
