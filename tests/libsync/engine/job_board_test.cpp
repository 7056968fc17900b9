#define CAF_SUITE job_board

#include "libsync/engine/job_board.hpp"

#include <caf/test/dsl.hpp>

#include <string>
#include <vector>

using namespace purgatory;
using namespace std::chrono_literals;
using engine::board_limits;
using engine::job_board;

namespace {

using leases = std::vector<lease_id>;

constexpr time_point start{1h};

leases ids(std::initializer_list<std::uint64_t> numbers) {
  leases result;
  for (const auto number : numbers)
    result.push_back(lease_id{number});
  return result;
}

host_key host(std::uint64_t number) {
  return host_key{"h" + std::to_string(number)};
}

/// Lets a job of `name` end at an address of `prefix`, so that it is known.
void teach(job_board& board, const host_key& name, const std::string& prefix) {
  constexpr lease_id messenger{1'000'000};
  board.add(messenger, name, start);
  board.end(messenger, start, prefix);
}

} // namespace

CAF_TEST(jobs start in the order of arrival while workers are free) {
  job_board board{{.workers = 2}};
  CAF_CHECK(board.add(lease_id{1}, host(1), start).start == ids({1}));
  CAF_CHECK(board.add(lease_id{2}, host(1), start).start == ids({2}));
  CAF_CHECK(board.add(lease_id{3}, host(1), start).start.empty());
  CAF_CHECK(board.add(lease_id{4}, host(2), start).start.empty());
  CAF_CHECK_EQUAL(board.running(), 2u);
  CAF_CHECK_EQUAL(board.waiting(), 2u);
  CAF_CHECK(board.end(lease_id{2}, start).start == ids({3}));
  CAF_CHECK(board.end(lease_id{1}, start).start == ids({4}));
  CAF_CHECK(board.end(lease_id{4}, start).start.empty());
}

CAF_TEST(one address prefix holds twenty jobs and others pass) {
  job_board board;
  for (std::uint64_t name = 0; name < 30; ++name)
    teach(board, host(name), "192.0.2.0/24");
  for (std::uint64_t number = 0; number < 30; ++number)
    board.add(lease_id{number}, host(number), start);
  CAF_CHECK_EQUAL(board.running(), 20u);
  CAF_CHECK(!board.is_running(lease_id{20}));
  // Another block and a host that nobody has seen yet.
  teach(board, host(100), "198.51.100.0/24");
  CAF_CHECK(board.add(lease_id{100}, host(100), start).start == ids({100}));
  CAF_CHECK(board.add(lease_id{101}, host(101), start).start == ids({101}));
  // Places are kept: the longest waiting one is next.
  CAF_CHECK(board.end(lease_id{7}, start).start == ids({20}));
  CAF_CHECK(board.end(lease_id{100}, start).start.empty());
}

CAF_TEST(a prefix that is learned counts what runs there already) {
  job_board board{{.workers = 10, .per_prefix = 2}};
  for (std::uint64_t number = 1; number <= 4; ++number)
    board.add(lease_id{number}, host(1), start);
  CAF_CHECK_EQUAL(board.running(), 4u);
  CAF_CHECK(board.end(lease_id{1}, start, "p").start.empty());
  CAF_CHECK(board.add(lease_id{5}, host(1), start).start.empty());
  CAF_CHECK(board.end(lease_id{2}, start).start.empty());
  CAF_CHECK(board.end(lease_id{3}, start).start == ids({5}));
}

CAF_TEST(a host that moves takes its jobs along) {
  job_board board{{.workers = 10, .per_prefix = 1}};
  teach(board, host(1), "p");
  teach(board, host(2), "p");
  board.add(lease_id{1}, host(1), start);
  CAF_CHECK(board.add(lease_id{2}, host(1), start).start.empty());
  CAF_CHECK(board.add(lease_id{3}, host(2), start).start.empty());
  // Both find room: one in the new block, one in that which was left.
  CAF_CHECK(board.end(lease_id{1}, start, "q").start == ids({2, 3}));
}

CAF_TEST(a deferred job that is given up leaves the others in order) {
  job_board board{{.workers = 1}};
  board.add(lease_id{1}, host(1), start);
  board.add(lease_id{2}, host(1), start);
  board.add(lease_id{3}, host(1), start);
  CAF_CHECK(board.end(lease_id{2}, start).start.empty());
  CAF_CHECK(!board.contains(lease_id{2}));
  CAF_CHECK(board.end(lease_id{1}, start).start == ids({3}));
}

CAF_TEST(a job is asked for once and an unknown one ends nothing) {
  job_board board{{.workers = 1}};
  board.add(lease_id{1}, host(1), start);
  CAF_CHECK(board.add(lease_id{1}, host(1), start).start.empty());
  CAF_CHECK(board.end(lease_id{9}, start).start.empty());
  CAF_CHECK_EQUAL(board.running(), 1u);
  CAF_CHECK_EQUAL(board.waiting(), 0u);
}

CAF_TEST(the third slow job of a host costs the oldest its worker) {
  job_board board{{.workers = 128}};
  board.add(lease_id{1}, host(1), start);
  board.add(lease_id{2}, host(1), start + 1s);
  const auto orders = board.add(lease_id{3}, host(1), start + 2s);
  CAF_CHECK(orders.wake == start + 60s);
  CAF_CHECK(board.tick(start + 60s).cancel.empty());
  CAF_CHECK(board.tick(start + 61s).wake == start + 62s);
  CAF_CHECK(board.tick(start + 61'999ms).cancel.empty());
  const auto late = board.tick(start + 62s);
  CAF_CHECK(late.cancel == ids({1}));
  CAF_CHECK(!late.wake);
  CAF_CHECK(board.is_cancelled(lease_id{1}));
  // It holds its worker until it has ended, and is not named again.
  CAF_CHECK_EQUAL(board.running(), 3u);
  CAF_CHECK(board.tick(start + 1h).cancel.empty());
  board.end(lease_id{1}, start + 1h);
  CAF_CHECK_EQUAL(board.running(), 2u);
}

CAF_TEST(slow jobs of many hosts hold half of the workers) {
  job_board board{{.workers = 6}};
  for (std::uint64_t number = 1; number <= 6; ++number)
    board.add(lease_id{number}, host(number), start);
  const auto orders = board.tick(start + 60s);
  CAF_CHECK(orders.cancel == ids({1, 2, 3}));
  board.end(lease_id{1}, start + 60s);
  CAF_CHECK(board.add(lease_id{7}, host(7), start + 60s).start == ids({7}));
}

CAF_TEST(a single worker may be slow) {
  job_board board{{.workers = 1}};
  board.add(lease_id{1}, host(1), start);
  CAF_CHECK(board.tick(start + 1h).cancel.empty());
}

CAF_TEST(what happens late is found by any call) {
  job_board board{{.workers = 2}};
  board.add(lease_id{1}, host(1), start);
  board.add(lease_id{2}, host(2), start);
  CAF_CHECK(board.add(lease_id{3}, host(3), start + 2min).cancel == ids({1}));
}

CAF_TEST(what waits is given up in the order of arrival) {
  job_board board{{.workers = 1, .per_prefix = 1}};
  teach(board, host(1), "p");
  for (std::uint64_t number = 1; number <= 5; ++number)
    board.add(lease_id{number}, host(number % 2), start);
  CAF_CHECK(board.give_up_waiting() == ids({2, 3, 4, 5}));
  CAF_CHECK_EQUAL(board.waiting(), 0u);
  CAF_CHECK(board.end(lease_id{1}, start).start.empty());
  CAF_CHECK_EQUAL(board.check_invariants(), "");
}

CAF_TEST(the memory of idle hosts is bounded and the oldest is forgotten) {
  job_board board{{.workers = 10, .per_prefix = 1, .known_hosts = 3}};
  for (std::uint64_t name = 1; name <= 4; ++name)
    teach(board, host(name), "p");
  CAF_CHECK_EQUAL(board.hosts(), 3u);
  board.add(lease_id{1}, host(2), start);
  CAF_CHECK(board.add(lease_id{2}, host(1), start).start == ids({2}));
  CAF_CHECK(board.add(lease_id{3}, host(4), start).start.empty());
  // Without a known address nothing is remembered at all.
  for (std::uint64_t name = 10; name < 1000; ++name)
    teach(board, host(name), "");
  CAF_CHECK(board.hosts() <= 5);
  CAF_CHECK_EQUAL(board.check_invariants(), "");
}
