#define CAF_SUITE store_crash

#include "app/io/store/sqlite_store.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/seed.hpp"

#include <caf/test/dsl.hpp>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <memory>
#include <random>
#include <string>

using namespace purgatory;
using namespace purgatory::test;

namespace {

constexpr int rounds = 25;
constexpr int batches_per_round = 1000;
constexpr int records_per_batch = 3;
constexpr int deadline_ms = 30'000;

event_id id_of(std::uint32_t number) {
  const auto digits = std::to_string(number);
  return event_id{std::string(64 - digits.size(), '0') + digits};
}

accept_record event_number(std::uint32_t number) {
  accept_record record;
  record.event.id = id_of(number);
  record.event.author = pubkey{std::string(64, 'a')};
  record.event.kind = nostr::kind_state;
  record.event.tags = {{"d", "repo"}};
  record.event.content = std::string(1400, 'x');
  record.repo = identifier{"repo"};
  return record;
}

std::unique_ptr<event_store> open(const std::string& path) {
  return open_sqlite_store(path, [](const std::string& notice) {
    CAF_FAIL("damaged by a kill: " << notice);
  });
}

/// The child: writes batch after batch and reports each one when it is
/// committed, until it is killed.
[[noreturn]] void write_until_killed(const std::string& path,
                                     std::uint32_t first, int report) {
  try {
    const auto store = open_sqlite_store(path, [](const std::string&) {});
    for (std::uint32_t batch = first; batch < first + batches_per_round;
         ++batch) {
      for (std::uint32_t part = 0; part < records_per_batch; ++part)
        store->apply({event_number(batch * records_per_batch + part)});
      store->commit();
      if (::write(report, &batch, sizeof batch) != sizeof batch)
        ::_exit(2);
    }
  } catch (const std::exception&) {
    ::_exit(3);
  }
  ::pause();
  ::_exit(4);
}

/// Reads one report; false when the writer has gone.
bool read_report(int from, std::uint32_t& batch) {
  pollfd ready{from, POLLIN, 0};
  if (::poll(&ready, 1, deadline_ms) != 1)
    CAF_FAIL("the writer neither writes nor ends");
  return ::read(from, &batch, sizeof batch) == sizeof batch;
}

struct round_result {
  std::uint32_t batches = 0; ///< Reported as committed, from `first` on.
  bool killed = false;       ///< By us, not ended by itself.
};

/// One life of the child: killed some microseconds after its n-th report.
round_result run_round(const std::string& path, std::uint32_t first,
                       std::mt19937_64& random) {
  std::array<int, 2> ends{};
  CAF_REQUIRE_EQUAL(::pipe(ends.data()), 0);
  const auto child = ::fork();
  CAF_REQUIRE(child >= 0);
  if (child == 0)
    write_until_killed(path, first, ends[1]);
  ::close(ends[1]);
  const auto wait_for = random() % 8;
  round_result result;
  std::uint32_t batch = 0;
  while (result.batches < wait_for && read_report(ends[0], batch))
    ++result.batches;
  ::usleep(static_cast<useconds_t>(random() % 3000));
  ::kill(child, SIGKILL);
  while (read_report(ends[0], batch))
    ++result.batches;
  ::close(ends[0]);
  int status = 0;
  CAF_REQUIRE_EQUAL(::waitpid(child, &status, 0), child);
  result.killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  return result;
}

} // namespace

CAF_TEST(nothing that was committed is lost by a kill) {
  const auto seed = first_seed();
  CAF_MESSAGE("PURGATORY_TEST_SEED=" << seed);
  std::mt19937_64 random{seed};
  const scratch_folder folder;
  const auto path = folder / "journal.sqlite";
  std::uint32_t committed = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto result = run_round(path, committed, random);
    CAF_REQUIRE(result.killed);
    committed += result.batches;
    const auto store = open(path);
    const auto found = store->load(identifier{"repo"}).events.size();
    // The batch whose report was cut off may be there, but only whole.
    CAF_CHECK_EQUAL(found % records_per_batch, 0u);
    CAF_CHECK(found >= committed * records_per_batch);
    for (std::uint32_t n = 0; n < committed * records_per_batch; ++n)
      if (!store->find(id_of(n)))
        CAF_FAIL("event " << n << " is lost in round " << round);
    CAF_CHECK(!store->last_run().clean || store->last_run().first);
    committed = static_cast<std::uint32_t>(found) / records_per_batch;
  }
  CAF_MESSAGE(committed << " batches over " << rounds << " kills");
  CAF_CHECK(committed > 0);
}
