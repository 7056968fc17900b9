#pragma once

#include "libsync/engine/host_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <optional>
#include <queue>
#include <random>
#include <string>
#include <vector>

namespace purgatory::test {

/// A server that bears `rate` starts a minute and tells nobody: as a sliding
/// minute (bucket 0), or as a token bucket of that depth. Refusals are free.
class hidden_limit {
public:
  hidden_limit(double rate, double bucket)
    : rate_(rate), bucket_(bucket), tokens_(bucket) {}

  [[nodiscard]] double rate() const { return rate_; }
  void set_rate(double rate) { rate_ = rate; }

  /// Nothing: welcome. Otherwise: how long the next one should wait.
  std::optional<std::chrono::seconds> arrive(time_point at) {
    return bucket_ > 0 ? take_token(at) : enter_window(at);
  }

private:
  using real_seconds = std::chrono::duration<double>;

  std::optional<std::chrono::seconds> enter_window(time_point at) {
    constexpr auto minute = std::chrono::minutes{1};
    while (!recent_.empty() && recent_.front() + minute <= at)
      recent_.pop_front();
    if (static_cast<double>(recent_.size()) >= rate_)
      return std::chrono::ceil<std::chrono::seconds>(recent_.front() + minute
                                                     - at);
    recent_.push_back(at);
    return std::nullopt;
  }

  std::optional<std::chrono::seconds> take_token(time_point at) {
    const auto per_second = rate_ / 60;
    if (last_)
      tokens_ = std::min(
        bucket_, tokens_ + real_seconds{at - *last_}.count() * per_second);
    last_ = at;
    if (tokens_ < 1)
      return std::chrono::ceil<std::chrono::seconds>(
        real_seconds{(1 - tokens_) / per_second});
    tokens_ -= 1;
    return std::nullopt;
  }

  double rate_;
  double bucket_;
  double tokens_;
  std::deque<time_point> recent_;
  std::optional<time_point> last_;
};

/// A host_schedule with endless work against such a server. Requests take 100
/// to 300 ms to arrive and 100 to 500 ms to be answered.
class backlog_run {
public:
  struct answer {
    time_point at;
    bool refused = false;
  };

  backlog_run(hidden_limit server, bool tells_when, std::uint64_t seed,
              engine::start_limits limits = {})
    : server_(server), tells_when_(tells_when), rng_(seed),
      schedule_({1}, limits) {
    for (int i = 0; i < 40; ++i)
      ask("unit" + std::to_string(i));
  }

  hidden_limit& server() { return server_; }
  engine::host_schedule& schedule() { return schedule_; }
  [[nodiscard]] const std::vector<answer>& answers() const { return answers_; }

  void run_until(time_point end) {
    for (;;) {
      for (const auto& granted : schedule_.pump(now_)) {
        schedule_.started(granted.lease, now_);
        later(now_ + between(100, 300), granted);
      }
      static_cast<void>(schedule_.take_news());
      auto next = end;
      if (const auto wake = schedule_.wake_at(now_))
        next = std::min(next, *wake);
      if (!pending_.empty())
        next = std::min(next, pending_.top().at);
      now_ = next;
      if (now_ >= end)
        return;
      while (!pending_.empty() && pending_.top().at <= now_)
        step();
    }
  }

private:
  struct event {
    time_point at;
    engine::grant what;
    bool arrived = false;
    std::optional<std::chrono::seconds> refusal = {};
    friend bool operator<(const event& a, const event& b) {
      return a.at > b.at;
    }
  };

  duration between(std::int64_t low, std::int64_t high) {
    return std::chrono::milliseconds{
      low + static_cast<std::int64_t>(rng_() % std::uint64_t(high - low))};
  }

  void later(time_point at, const engine::grant& what) {
    pending_.push({at, what});
  }

  void step() {
    auto e = pending_.top();
    pending_.pop();
    if (!e.arrived) {
      e.refusal = server_.arrive(e.at);
      e.arrived = true;
      e.at += between(100, 500);
      pending_.push(e);
      return;
    }
    const bool refused = e.refusal.has_value();
    schedule_.completed(e.what.lease,
                        refused ? engine::host_signal::limited
                                : engine::host_signal::good,
                        tells_when_ ? e.refusal : std::nullopt, now_);
    answers_.push_back({now_, refused});
    ask(e.what.who.value);
  }

  void ask(const std::string& who) {
    schedule_.enqueue(engine::subject{who}, engine::subject_owner{who},
                      lane::retry);
  }

  hidden_limit server_;
  bool tells_when_;
  std::mt19937_64 rng_;
  engine::host_schedule schedule_;
  time_point now_{std::chrono::hours{1}};
  std::priority_queue<event> pending_;
  std::vector<answer> answers_;
};

} // namespace purgatory::test
