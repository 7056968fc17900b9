// What is remembered of a clone URL, against the table of rules §8.4.

#include "libsync/git/url_memory.hpp"
#include "tests/support/events.hpp"

#define CAF_SUITE url_memory
#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace purgatory::test;
using namespace std::chrono_literals;
using git::url_memory;

namespace {

constexpr time_point begin = time_point{} + 100h;
constexpr double no_jitter = 0.5;

fetch_outcome answer(fetch_class how, std::vector<oid> missing = {},
                     std::vector<oid> got = {}) {
  fetch_outcome result;
  result.outcome = how;
  result.missing = std::move(missing);
  result.got = std::move(got);
  return result;
}

/// The pauses after each of `count` equal answers in a row.
std::vector<duration> pauses(fetch_class how, int count) {
  url_memory memory;
  std::vector<duration> result;
  for (int i = 0; i < count; ++i) {
    memory.ended(answer(how), begin, no_jitter);
    result.push_back(std::max(memory.allowed_at(false) - begin, duration{}));
  }
  return result;
}

using list = std::vector<duration>;

} // namespace

CAF_TEST(each class waits as the table says) {
  CAF_CHECK((pauses(fetch_class::refused, 8)
             == list{0s, 0s, 0s, 0s, 1min, 2min, 4min, 8min}));
  CAF_CHECK((pauses(fetch_class::timeout, 14).back() == 4h));
  CAF_CHECK(
    (pauses(fetch_class::server, 12)
     == list{0s, 0s, 0s, 0s, 1min, 2min, 4min, 8min, 16min, 32min, 1h, 1h}));
  CAF_CHECK(
    (pauses(fetch_class::dns, 8) == list{0s, 0s, 0s, 0s, 15min, 1h, 4h, 12h}));
  CAF_CHECK((pauses(fetch_class::tls, 4) == list{15min, 1h, 4h, 12h}));
  CAF_CHECK(
    (pauses(fetch_class::no_repo, 5) == list{0s, 0s, 10min, 20min, 40min}));
  CAF_CHECK((pauses(fetch_class::no_repo, 12).back() == 24h));
  CAF_CHECK((pauses(fetch_class::auth, 4) == list{1h, 4h, 16h, 24h}));
  CAF_CHECK((pauses(fetch_class::corrupt, 2) == list{1h, 4h}));
  for (const auto how :
       {fetch_class::policy, fetch_class::oversize, fetch_class::unsupported})
    CAF_CHECK((pauses(how, 2) == list{24h, 24h}));
  for (const auto how : {fetch_class::limited, fetch_class::internal})
    CAF_CHECK((pauses(how, 6).back() == 0s));
}

CAF_TEST(a missing object waits alone) {
  url_memory memory;
  for (int i = 0; i < 4; ++i)
    memory.ended(answer(fetch_class::not_here, {object(1)}), begin, no_jitter);
  CAF_CHECK(memory.allowed_at(object(1), false) <= begin);
  memory.ended(answer(fetch_class::not_here, {object(1)}), begin, no_jitter);
  CAF_CHECK(memory.allowed_at(object(1), false) == begin + 5min);
  CAF_CHECK(memory.allowed_at(object(2), false) <= begin);
  for (int i = 0; i < 8; ++i)
    memory.ended(answer(fetch_class::not_here, {object(1)}), begin, no_jitter);
  CAF_CHECK(memory.allowed_at(object(1), false) == begin + 4h);
  memory.keep_only({object(2)});
  CAF_CHECK(memory.allowed_at(object(1), false) <= begin);
}

CAF_TEST(a success forgets failures and is worth half after a day) {
  url_memory memory;
  memory.ended(answer(fetch_class::auth), begin, no_jitter);
  memory.ended(answer(fetch_class::ok, {}, {object(1)}), begin, no_jitter);
  CAF_CHECK(memory.allowed_at(false) <= begin);
  CAF_CHECK_EQUAL(memory.failures(), 0u);
  CAF_CHECK(memory.last_ok() == begin);
  const auto at_once = memory.score(begin);
  const auto next_day = memory.score(begin + 24h);
  CAF_CHECK(std::abs(at_once - 1.0) < 1e-9);
  CAF_CHECK(std::abs(next_day - 0.5) < 1e-9);
}

CAF_TEST(a parked round waives what may have changed and nothing else) {
  for (const auto how :
       {fetch_class::no_repo, fetch_class::server, fetch_class::timeout,
        fetch_class::refused, fetch_class::dns, fetch_class::auth}) {
    url_memory memory;
    for (int i = 0; i < 5; ++i)
      memory.ended(answer(how), begin, no_jitter);
    CAF_CHECK(memory.allowed_at(false) > begin);
    const bool waived = memory.allowed_at(true) <= begin;
    const bool may_change = how == fetch_class::no_repo
                            || how == fetch_class::server
                            || how == fetch_class::timeout;
    CAF_CHECK_EQUAL(waived, may_change);
  }
}

CAF_TEST(a host that recovers ends the waits that were its fault) {
  for (const auto how : {fetch_class::dns, fetch_class::auth}) {
    url_memory memory;
    for (int i = 0; i < 5; ++i)
      memory.ended(answer(how), begin, no_jitter);
    memory.host_recovered();
    CAF_CHECK_EQUAL(memory.allowed_at(false) <= begin, how == fetch_class::dns);
  }
}

CAF_TEST(jitter moves a wait by at most a tenth) {
  for (const double share : {0.0, 0.25, 1.0}) {
    url_memory memory;
    memory.ended(answer(fetch_class::auth), begin, share);
    const auto wait
      = std::chrono::duration<double>(memory.allowed_at(false) - begin);
    CAF_CHECK(std::abs(wait.count() - 3600 * (0.9 + 0.2 * share)) < 0.001);
  }
}

CAF_TEST(outcomes since a moment are counted and probes of others are some) {
  url_memory memory;
  memory.ended(answer(fetch_class::refused), begin, no_jitter);
  memory.ended(answer(fetch_class::internal), begin + 1s, no_jitter);
  memory.ended(answer(fetch_class::refused), begin + 2s, no_jitter);
  CAF_CHECK(memory.saw_probes(1, begin + 3s));
  CAF_CHECK(!memory.saw_probes(1, begin + 4s));
  CAF_CHECK_EQUAL(memory.outcomes_since(begin), 3u);
  CAF_CHECK_EQUAL(memory.outcomes_since(begin + 1s), 2u);
}

CAF_TEST(two units that become one wait for the longer time) {
  url_memory ours;
  url_memory theirs;
  ours.ended(answer(fetch_class::auth), begin, no_jitter);
  theirs.ended(answer(fetch_class::policy), begin, no_jitter);
  ours.unite(theirs);
  CAF_CHECK(ours.allowed_at(false) == begin + 24h);
  theirs.unite(ours);
  CAF_CHECK(theirs.allowed_at(false) == begin + 24h);
}

CAF_TEST(everything survives as an image) {
  url_memory memory;
  for (int i = 0; i < 5; ++i)
    memory.ended(answer(fetch_class::not_here, {object(1)}), begin, no_jitter);
  memory.ended(answer(fetch_class::ok, {}, {object(2)}), begin, no_jitter);
  memory.ended(answer(fetch_class::auth), begin, no_jitter);
  const live_clock now{begin, 1000};
  const auto later_now = begin + 50h;
  const live_clock later{later_now, 1000 + 60};
  const auto back = url_memory::from(memory.image(now), later);
  CAF_CHECK(back.allowed_at(false) == later_now + 1h - 60s);
  CAF_CHECK(back.allowed_at(object(1), true) == back.allowed_at(true));
  CAF_CHECK_EQUAL(back.failures(), 1u);
  CAF_CHECK(back.last() == fetch_class::auth);
  CAF_CHECK_EQUAL(back.outcomes_since(later_now - 61s), 7u);
  CAF_CHECK(std::abs(back.score(later_now) - memory.score(begin + 60s)) < 1e-9);
}
