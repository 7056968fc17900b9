#define CAF_SUITE host_schedule_property
#include "libsync/engine/host_schedule.hpp"
#include "tests/support/seed.hpp"

#include <caf/test/dsl.hpp>

#include <deque>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

using namespace purgatory;
using namespace std::chrono_literals;
using engine::host_signal;

namespace {

/// Random life of one host, with an observer at its socket: it knows the limits
/// in force and when each request arrived, and nothing of the schedule.
class life {
public:
  explicit life(std::uint64_t seed) : rng_(seed) { begin(); }

  void step() {
    pass_time();
    act();
    pump();
    look();
  }

  /// Whatever happened: once all jobs are over and the host is well, a
  /// newcomer has its turn.
  void end_well() {
    while (!jobs_.empty()) {
      schedule_->completed(jobs_.front().what.lease, host_signal::good, {},
                           now_);
      remove(jobs_.front());
    }
    limits_ = {5, 30, 0, 0};
    schedule_->set_limits(limits_);
    const engine::subject newcomer{"newcomer"};
    schedule_->enqueue(newcomer, engine::subject_owner{"n"}, lane::debt);
    for (int turns = 0; turns < 100; ++turns) {
      for (const auto& granted : schedule_->pump(now_)) {
        if (granted.who == newcomer)
          return;
        schedule_->started(granted.lease, now_);
        schedule_->completed(granted.lease, host_signal::good, {}, now_);
      }
      const auto wake = schedule_->wake_at(now_);
      require(wake.has_value() && *wake >= now_, "who waits is woken");
      now_ = *wake;
    }
    throw std::runtime_error("the newcomer waits for ever");
  }

  std::size_t starts() const { return starts_; }
  std::size_t blocks() const { return blocks_; }

private:
  struct job {
    engine::grant what;
    bool answered = false;
    bool sent = false;
    bool probe = false;
  };

  std::uint64_t draw(std::uint64_t below) { return rng_() % below; }

  static void require(bool good, const std::string& what) {
    if (!good)
      throw std::runtime_error(what);
  }

  void begin() {
    schedule_ = std::make_unique<engine::host_schedule>(
      engine::schedule_settings{++serial_}, limits_);
  }

  engine::start_limits draw_limits() {
    return {static_cast<std::uint32_t>(draw(12) == 0 ? 0 : 1 + draw(5)),
            static_cast<std::uint32_t>(draw(4) == 0 ? 0 : 1 + draw(10)),
            static_cast<std::uint32_t>(draw(2) == 0 ? 0 : 10 + draw(60)),
            static_cast<std::uint32_t>(draw(2) == 0 ? 0 : 50 + draw(300))};
  }

  /// Mostly to the next thing that happens, and sometimes for hours.
  void pass_time() {
    const auto wake = schedule_->wake_at(now_);
    if (wake && draw(3) == 0)
      now_ = std::max(now_, *wake);
    else
      now_ += std::chrono::milliseconds{draw(50) == 0 ? draw(7'200'000)
                                                      : draw(2000)};
    // A host is deaf to nothing: whoever could be woken is.
    if (wake && *wake <= now_)
      pump();
  }

  void act() {
    switch (draw(10)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return ask();
    case 4:
      return send();
    case 5:
    case 6:
      return end();
    case 7:
      return give_back();
    default:
      if (draw(30) == 0)
        crash();
      else if (draw(20) == 0)
        change_limits();
      else if (draw(4) == 0)
        schedule_->leave(engine::subject{std::to_string(draw(9))});
    }
  }

  void ask() {
    const auto who = std::to_string(draw(9));
    schedule_->enqueue(engine::subject{who}, engine::subject_owner{who},
                       static_cast<lane>(draw(3)));
  }

  job* any_job() {
    return jobs_.empty() ? nullptr : &jobs_[draw(jobs_.size())];
  }

  void send() {
    auto* some = any_job();
    if (some != nullptr && !some->sent)
      send(*some);
  }

  void send(job& some) {
    some.sent = some.answered = true;
    require(schedule_->started(some.what.lease, now_), "lease is known");
    ++starts_;
    // Arrives up to a guard later, all of them equally fast or slow.
    arrivals_.push_back(now_);
  }

  void end() {
    auto* some = any_job();
    if (some == nullptr)
      return;
    if (!some->sent)
      send(*some);
    const auto signal = draw_signal();
    std::optional<std::chrono::seconds> wait;
    if (signal == host_signal::limited && draw(2) == 0)
      wait = std::chrono::seconds{draw(3000)};
    require(schedule_->completed(some->what.lease, signal, wait, now_),
            "lease is known at its end");
    remove(*some);
  }

  /// Good and bad times, so that blocks come and go.
  host_signal draw_signal() {
    if (draw(25) == 0)
      bad_times_ = !bad_times_;
    if (draw(4) == 0)
      return host_signal::none;
    if (draw(30) == 0)
      return host_signal::limited;
    if (!bad_times_ || draw(8) == 0)
      return host_signal::good;
    return static_cast<host_signal>(3 + draw(5));
  }

  void give_back() {
    auto* some = any_job();
    if (some == nullptr || some->sent)
      return;
    const auto lease = some->what.lease;
    switch (draw(4)) {
    case 0:
      if (!some->answered)
        require(schedule_->start(lease), "start");
      some->answered = true;
      return;
    case 1:
      if (some->answered)
        return;
      require(schedule_->defer(lease), "defer");
      break;
    case 2:
      if (some->answered)
        return;
      require(schedule_->withdraw(lease), "withdraw");
      break;
    default:
      require(schedule_->reclaim(lease), "reclaim");
    }
    remove(*some);
  }

  void remove(job& some) {
    some = jobs_.back();
    jobs_.pop_back();
  }

  void change_limits() {
    limits_ = draw_limits();
    schedule_->set_limits(limits_);
  }

  /// The schedule dies. Its successor is told what runs, what started and what
  /// is known of the host; unsent jobs and places are gone.
  void crash() {
    const auto image = schedule_->image();
    std::vector<engine::inherited_lease> inherited;
    for (const auto& some : jobs_)
      if (some.sent)
        inherited.push_back({some.what.lease, some.what.who, true, now_});
    std::erase_if(jobs_, [](const job& some) { return !some.sent; });
    for (std::size_t i = 0; i < arrivals_.size(); ++i)
      inherited.push_back({lease_id{i + 1}, {}, false, arrivals_[i]});
    for (auto& some : jobs_)
      some.probe = false;
    begin();
    schedule_->seed(std::move(inherited));
    schedule_->restore(image, now_);
  }

  void pump() {
    const bool blocked = schedule_->view(now_).blocked_until.has_value();
    const auto grants = schedule_->pump(now_);
    require(!blocked || grants.empty(), "granted while blocked");
    for (const auto& granted : grants) {
      for (const auto& some : jobs_)
        require(some.what.who != granted.who, "two leases of one subject");
      jobs_.push_back({granted});
      check_limits();
    }
    for (const auto event : schedule_->take_news())
      blocks_ += event == engine::host_event::blocked;
  }

  /// At each grant, under the limits then in force.
  void check_limits() {
    while (!arrivals_.empty() && arrivals_.front() + 24h <= now_)
      arrivals_.pop_front();
    std::size_t unsent = 0;
    for (const auto& some : jobs_)
      unsent += !some.sent;
    require(jobs_.size() <= limits_.concurrent, "too many at once");
    check_window(limits_.per_minute, 60s, unsent);
    check_window(limits_.per_hour, 1h, unsent);
    check_window(limits_.per_day, 24h, unsent);
  }

  void check_window(std::size_t limit, duration span, std::size_t unsent) {
    if (limit == 0)
      return;
    auto counted = unsent;
    for (auto at = arrivals_.rbegin();
         at != arrivals_.rend() && *at + span > now_; ++at)
      ++counted;
    require(counted <= limit, "too many in a window");
  }

  void look() {
    const auto problem = schedule_->check_invariants();
    require(problem.empty(), problem);
    // Work-conserving: after a pump nothing is left that could start now.
    const auto wake = schedule_->wake_at(now_);
    require(!wake || *wake > now_, "ready work was not granted");
  }

  std::mt19937_64 rng_;
  std::uint32_t serial_ = 0;
  engine::start_limits limits_ = draw_limits();
  std::unique_ptr<engine::host_schedule> schedule_;
  time_point now_{48h};
  std::vector<job> jobs_;
  std::deque<time_point> arrivals_; ///< Of the last day, in order.
  bool bad_times_ = false;
  std::size_t starts_ = 0;
  std::size_t blocks_ = 0;
};

constexpr std::uint64_t lives = 250;
constexpr int steps = 600;

} // namespace

CAF_TEST(no window and no slot is ever overdrawn whatever happens) {
  const auto first = test::first_seed();
  CAF_MESSAGE("seeds from " << first << ", " << lives << " lives of " << steps
                            << " steps");
  std::size_t starts = 0;
  std::size_t blocks = 0;
  for (auto seed = first; seed < first + lives; ++seed) {
    int step = 0;
    life one{seed};
    try {
      for (; step < steps; ++step)
        one.step();
      one.end_well();
    } catch (const std::exception& violation) {
      CAF_FAIL("seed " << seed << " step " << step << ": " << violation.what());
    }
    starts += one.starts();
    blocks += one.blocks();
  }
  CAF_MESSAGE(starts << " starts, " << blocks << " blocks");
  CAF_CHECK(starts > 20 * lives);
  CAF_CHECK(blocks > lives);
}
