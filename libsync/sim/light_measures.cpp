#include "libsync/sim/light_process.hpp"

#include <algorithm>

namespace purgatory::sim {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr duration window = minutes{1} + std::chrono::milliseconds{200};

double ratio(duration part, duration whole) {
  return std::chrono::duration<double>(part)
         / std::chrono::duration<double>(whole);
}

} // namespace

/// The throttle of a host dies: its successor is told what runs and what was
/// sent, and everybody who waited asks again.
void light_process::restart(std::uint32_t at) {
  auto& here = hosts_[at];
  std::vector<engine::inherited_lease> inherited;
  const auto image = here.schedule->image();
  agenda<happening> rest;
  std::vector<bool> runs(subjects_.size());
  auto sent = here.window;
  while (!agenda_.empty()) {
    const auto due = agenda_.next();
    auto next = agenda_.take();
    if (next.what == kind::answer && next.host == at) {
      runs[next.unit] = true;
      inherited.push_back({next.lease, subjects_[next.unit], true, next.sent});
      if (const auto own = std::find(sent.begin(), sent.end(), next.sent);
          own != sent.end())
        sent.erase(own);
    }
    rest.put(due, next);
  }
  agenda_ = std::move(rest);
  std::uint64_t ended = std::uint64_t{1} << 62U;
  for (const auto at_time : sent)
    inherited.push_back({lease_id{++ended}, subjects_[0], false, at_time});
  here.schedule = std::make_unique<engine::host_schedule>(
    engine::schedule_settings{++serial_}, here.limits);
  here.schedule->restore(image, now_);
  here.schedule->seed(std::move(inherited));
  here.armed.reset();
  for (std::uint32_t unit = 0; unit < subjects_.size(); ++unit)
    if (!runs[unit])
      enqueue(at, unit, lane::retry);
  pump(at);
}

void light_process::measure(light_summary& to) const {
  to.simulated = now_ - begin_;
  duration ideal = duration::zero();
  for (const auto& each : hosts_) {
    std::uint64_t count = 0;
    for (const auto starts : each.starts_of)
      count += starts;
    if (count == 0)
      continue;
    auto least = duration::zero();
    if (each.limits.per_minute > 0)
      least = window
              * static_cast<std::int64_t>((count - 1) / each.limits.per_minute);
    if (each.limits.concurrent > 0)
      least = std::max<duration>(least, each.busy / each.limits.concurrent);
    ideal += std::min(least, to.simulated);
  }
  if (to.simulated > duration::zero() && !hosts_.empty())
    to.utilisation
      = ratio(ideal, to.simulated * static_cast<std::int64_t>(hosts_.size()));
  double sum = 0;
  double squares = 0;
  for (const auto starts : hosts_.front().starts_of) {
    sum += starts;
    squares += static_cast<double>(starts) * starts;
  }
  if (squares > 0)
    to.jain
      = sum * sum
        / (static_cast<double>(hosts_.front().starts_of.size()) * squares);
  if (options_.hidden)
    measure_hidden(to);
}

void light_process::measure_hidden(light_summary& to) const {
  const auto& hidden = *options_.hidden;
  if (late_ > 0)
    to.limited
      = static_cast<double>(late_refused_) / static_cast<double>(late_);
  const auto& accepted = hosts_.front().accepted;
  const auto count_in = [&](time_point from, time_point until) {
    return std::lower_bound(accepted.begin(), accepted.end(), until)
           - std::lower_bound(accepted.begin(), accepted.end(), from);
  };
  const auto doubled = hidden.doubles ? begin_ + *hidden.doubles : now_;
  const auto from = begin_ + std::chrono::minutes{10};
  if (doubled > from)
    to.goodput = static_cast<double>(count_in(from, doubled))
                 / (std::chrono::duration<double>(doubled - from).count() / 60
                    * hidden.per_minute);
  if (!hidden.doubles)
    return;
  for (auto at = doubled; at + minutes{1} <= now_; at += seconds{1})
    if (static_cast<double>(count_in(at, at + minutes{1}))
        >= 0.8 * 2 * hidden.per_minute) {
      to.recovery = at - doubled;
      return;
    }
}

light_summary run_light(const light_options& options) {
  return light_process{options}.run();
}

} // namespace purgatory::sim
