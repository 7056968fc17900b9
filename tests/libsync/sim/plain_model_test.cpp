#define CAF_SUITE sim_plain_model

#include "libsync/sim/generate.hpp"
#include "libsync/sim/plain_model.hpp"
#include "tests/libsync/sim/small_worlds.hpp"
#include "tests/support/seed.hpp"

#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::sim;
using namespace purgatory::test;
using std::chrono::hours;

namespace {

world burst(std::size_t units) {
  auto what = exact_world();
  what.length = hours{6};
  add_units(what, units);
  return what;
}

} // namespace

CAF_TEST(the plain model releases what it finds) {
  auto what = burst(1);
  const auto found = run_plain(what);
  CAF_CHECK_EQUAL(found.released, 1u);
  CAF_CHECK_EQUAL(found.starts, 1u);
}

CAF_TEST(check then act overruns the limit where a lease does not ) {
  const auto found = compare(burst(100));
  std::uint32_t ours = 0;
  std::uint32_t plain = 0;
  for (const auto& host : found.ours.hosts)
    ours = std::max(ours, host.seen.max_in_flight);
  for (const auto& host : found.plain.hosts)
    plain = std::max(plain, host.seen.max_in_flight);
  CAF_CHECK_EQUAL(ours, 5u);
  CAF_CHECK(plain > 5);
  CAF_CHECK_EQUAL(found.ours.released, 100u);
}

CAF_TEST(half an hour is not enough for a host that is down for one) {
  auto what = burst(5);
  what.hosts["a.example"].down
    = {{milliseconds{0}, hours{1}, fetch_class::refused}};
  const auto found = compare(what);
  CAF_CHECK_EQUAL(found.plain.released, 0u);
  CAF_CHECK_EQUAL(found.ours.released, 5u);
}
