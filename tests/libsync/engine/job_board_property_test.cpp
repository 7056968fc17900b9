#define CAF_SUITE job_board_property

#include "libsync/engine/job_board.hpp"
#include "tests/support/naive_job_board.hpp"
#include "tests/support/seed.hpp"

#include <caf/test/dsl.hpp>

#include <random>
#include <stdexcept>
#include <string>

using namespace purgatory;
using namespace std::chrono_literals;

namespace {

/// How often something interesting happened, so that the test can't be empty.
struct tally {
  std::size_t starts = 0;
  std::size_t passed = 0; ///< Starts before an older job.
  std::size_t cancels = 0;
};

/// The same random life for both; any difference is an exception.
class duel {
public:
  explicit duel(std::uint64_t seed, tally& seen)
    : rng_(seed), limits_(random_limits()), board_(limits_), twin_(limits_),
      seen_(seen) {}

  void step() {
    now_ += std::chrono::milliseconds{draw(3) == 0 ? draw(20'000) : draw(50)};
    switch (draw(8)) {
    case 0:
    case 1:
    case 2: {
      // Sometimes one that is known already.
      const lease_id id{draw(20) == 0 ? draw(last_ + 1) : ++last_};
      const host_key host{std::to_string(draw(9))};
      compare(board_.add(id, host, now_), twin_.add(id, host, now_));
      break;
    }
    case 3:
    case 4:
    case 5: {
      const auto id = any_job();
      const auto prefix = any_prefix();
      compare(board_.end(id, now_, prefix), twin_.end(id, now_, prefix));
      break;
    }
    case 6:
      compare(board_.tick(now_), twin_.tick(now_));
      break;
    default:
      if (draw(40) == 0)
        check("given up", board_.give_up_waiting() == twin_.give_up_waiting());
    }
    check("running", board_.running() == twin_.running());
    check("waiting", board_.waiting() == twin_.waiting());
    const auto problem = board_.check_invariants();
    check(problem.c_str(), problem.empty());
  }

private:
  std::uint64_t draw(std::uint64_t below) { return rng_() % below; }

  engine::board_limits random_limits() {
    engine::board_limits limits;
    limits.workers = 1 + draw(12);
    limits.per_prefix = 1 + draw(4);
    limits.slow_per_host = 1 + draw(3);
    limits.slow_after = std::chrono::seconds{5 + draw(60)};
    return limits;
  }

  lease_id any_job() {
    const auto all = twin_.all();
    if (all.empty() || draw(10) == 0)
      return lease_id{draw(last_ + 2)};
    // Mostly old ones: those run.
    return all[draw(draw(2) == 0 ? all.size() : 1 + all.size() / 4)];
  }

  std::string any_prefix() {
    return draw(3) == 0 ? std::string{} : "p" + std::to_string(draw(3));
  }

  void compare(const engine::board_orders& ours,
               const engine::board_orders& theirs) {
    check("start", ours.start == theirs.start);
    check("cancel", ours.cancel == theirs.cancel);
    check("wake", ours.wake == theirs.wake);
    seen_.starts += ours.start.size();
    seen_.cancels += ours.cancel.size();
    for (const auto started : ours.start)
      for (const auto other : twin_.all()) {
        if (other == started)
          break;
        if (!board_.is_running(other)) {
          ++seen_.passed;
          break;
        }
      }
  }

  static void check(const char* what, bool holds) {
    if (!holds)
      throw std::runtime_error{std::string{"they differ: "} + what};
  }

  std::mt19937_64 rng_;
  engine::board_limits limits_;
  engine::job_board board_;
  test::naive_job_board twin_;
  tally& seen_;
  std::uint64_t last_ = 0;
  time_point now_{1h};
};

} // namespace

CAF_TEST(the board does exactly what a list of jobs would do) {
  const auto first = test::first_seed();
  const auto seeds = test::seeds_or(200);
  CAF_MESSAGE("PURGATORY_TEST_SEED=" << first);
  tally seen;
  for (auto seed = first; seed < first + seeds; ++seed) {
    duel both{seed, seen};
    try {
      for (auto i = 0; i < 200; ++i)
        both.step();
    } catch (const std::runtime_error& problem) {
      CAF_FAIL("seed " << seed << ": " << problem.what());
    }
  }
  CAF_MESSAGE("starts " << seen.starts << ", passed " << seen.passed
                        << ", cancels " << seen.cancels);
  CAF_CHECK(seen.starts > seeds * 10);
  CAF_CHECK(seen.passed > seeds);
  CAF_CHECK(seen.cancels > seeds);
}
