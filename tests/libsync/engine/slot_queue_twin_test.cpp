#define CAF_SUITE slot_queue_twin
#include "libsync/engine/sliding_window.hpp"
#include "libsync/engine/slot_queue.hpp"
#include "tests/support/naive_throttle.hpp"
#include "tests/support/seed.hpp"

#include <caf/test/dsl.hpp>

#include <random>
#include <stdexcept>
#include <string>
#include <vector>

using namespace purgatory;
using namespace std::chrono_literals;

namespace {

constexpr auto span = 10s + 200ms;
constexpr std::uint32_t serial = 3;

/// The same random commands for both; any difference is an exception.
class duel {
public:
  explicit duel(std::uint64_t seed)
    : rng_(seed), concurrent_(1 + draw(4)), per_window_(1 + draw(6)),
      slots_(serial, concurrent_,
             std::make_unique<engine::sliding_window>(per_window_, span)),
      twin_(serial, concurrent_, per_window_, span) {
    if (draw(3) == 0)
      seed_both();
  }

  void step() {
    now_ += std::chrono::milliseconds{draw(4) == 0 ? draw(8000) : draw(100)};
    if (draw(60) == 0) // Long enough for debts to claim their hour.
      now_ += std::chrono::minutes{draw(50)};
    act();
    pump();
    compare("waiting", slots_.waiting() == twin_.waiting());
    compare("leases", slots_.leases() == twin_.leases());
    compare("wake_at", slots_.wake_at(now_) == twin_.wake_at(now_));
    const auto problem = slots_.check_invariants();
    compare(problem.c_str(), problem.empty());
  }

  std::uint64_t granted() const { return granted_; }

private:
  std::uint32_t draw(std::uint32_t below) {
    return static_cast<std::uint32_t>(rng_() % below);
  }

  std::string any_subject() { return std::to_string(draw(12)); }

  lease_id any_lease() {
    // Mostly a living one; old and unknown ones have to be harmless.
    const auto count = static_cast<std::uint32_t>(leases_.size());
    if (count == 0 || draw(10) == 0)
      return lease_id{draw(100)};
    return leases_[count - 1 - draw(std::min(count, 6U))];
  }

  void act() {
    const auto lease = any_lease();
    switch (draw(12)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return ask();
    case 4: {
      const auto who = any_subject();
      return compare("leave",
                     slots_.leave(engine::subject{who}) == twin_.leave(who));
    }
    case 5:
    case 6:
      return compare("start", slots_.start(lease) == twin_.start(lease));
    case 7:
      return compare("defer", slots_.defer(lease) == twin_.defer(lease));
    case 8:
      if (draw(2) == 0)
        return compare("reclaim",
                       slots_.reclaim(lease) == twin_.reclaim(lease));
      return compare("withdraw",
                     slots_.withdraw(lease) == twin_.withdraw(lease));
    case 9: {
      const auto at = now_ - std::chrono::milliseconds{draw(300)};
      return compare("started",
                     slots_.started(lease, at) == twin_.started(lease, at));
    }
    case 10:
      return compare("completed",
                     slots_.completed(lease) == twin_.completed(lease));
    default:
      if (draw(10) == 0)
        set_limits();
    }
  }

  void ask() {
    const auto who = any_subject();
    // Now and then a subject changes hands or lane.
    const auto owner = draw(20) == 0 ? "x" : "owner" + who.substr(0, 1);
    const auto turn = static_cast<lane>(draw(3));
    slots_.enqueue(engine::subject{who}, engine::subject_owner{owner}, turn);
    twin_.enqueue(who, owner, turn);
  }

  void set_limits() {
    concurrent_ = 1 + draw(6);
    per_window_ = 1 + draw(10);
    slots_.set_limits(concurrent_, per_window_);
    twin_.set_limits(concurrent_, per_window_);
  }

  void seed_both() {
    std::vector<engine::inherited_lease> old;
    for (std::uint32_t i = 1; i <= draw(6); ++i) {
      const bool running = draw(2) == 0;
      std::optional<time_point> at;
      if (draw(3) != 0)
        at = now_ - std::chrono::milliseconds{draw(12'000)};
      old.push_back(
        {lease_id{i}, engine::subject{std::to_string(i)}, running, at});
      if (running)
        leases_.push_back(lease_id{i});
    }
    slots_.seed(old);
    twin_.seed(old);
  }

  void pump() {
    const auto ours = slots_.pump(now_);
    const auto theirs = twin_.pump(now_);
    compare("number of grants", ours.size() == theirs.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
      compare("whose turn", ours[i].who.value == theirs[i].first);
      compare("lease id", ours[i].lease == theirs[i].second);
      leases_.push_back(ours[i].lease);
      ++granted_;
    }
  }

  static void compare(const char* what, bool same) {
    if (!same)
      throw std::runtime_error(what);
  }

  std::mt19937_64 rng_;
  std::uint32_t concurrent_;
  std::uint32_t per_window_;
  engine::slot_queue slots_;
  test::naive_throttle twin_;
  time_point now_{1h};
  std::vector<lease_id> leases_;
  std::uint64_t granted_ = 0;
};

constexpr std::uint64_t sequences = 4000;
constexpr int steps = 120;

} // namespace

CAF_TEST(slot queue and naive twin agree after every random command) {
  const auto first = test::first_seed();
  CAF_MESSAGE("seeds from " << first << ", " << sequences << " sequences of "
                            << steps << " commands");
  std::uint64_t granted = 0;
  for (auto seed = first; seed < first + sequences; ++seed) {
    int step = 0;
    duel both{seed};
    try {
      for (; step < steps; ++step)
        both.step();
    } catch (const std::exception& difference) {
      CAF_FAIL("seed " << seed << " step " << step << ": "
                       << difference.what());
    }
    granted += both.granted();
  }
  // Two queues that never grant anything would agree as well.
  CAF_CHECK(granted > sequences);
}
