#define CAF_SUITE host_health
#include "libsync/engine/host_health.hpp"

#include <caf/test/dsl.hpp>

#include <string>
#include <vector>

using namespace purgatory;
using namespace std::chrono_literals;
using engine::host_event;
using engine::host_signal;
using standing = engine::host_health::standing;

namespace {

const time_point start{1h};
using news = std::optional<host_event>;

/// A host with many needy subjects, unless told otherwise.
struct host {
  engine::host_health health;
  time_point now = start;
  engine::host_company company = {10, true};

  news end(host_signal signal, const std::string& who = "a",
           std::optional<std::chrono::seconds> retry_after = {}) {
    return end_at(signal, who, retry_after, now);
  }

  news end_at(host_signal signal, const std::string& who,
              std::optional<std::chrono::seconds> retry_after,
              time_point sent) {
    const bool probe = health.stands(now) == standing::probation && sent == now;
    const auto told
      = health.ended({signal, retry_after, who, probe, sent}, company, now);
    CAF_CHECK_EQUAL(health.check_invariants(), "");
    return told;
  }

  news fail(host_signal signal, const std::vector<std::string>& subjects) {
    news last;
    for (const auto& who : subjects)
      last = end(signal, who);
    return last;
  }

  duration block() const { return *health.blocked_until() - now; }
  bool is_blocked() const { return health.stands(now) == standing::blocked; }
  void sit_out() { now = *health.blocked_until(); }

  /// The lengths of `count` blocks in a row, each failing probe's.
  std::vector<duration> lengths(host_signal signal, int count) {
    fail(signal, {"a", "b", "c"});
    std::vector<duration> all;
    for (int i = 0; i < count; ++i) {
      all.push_back(block());
      sit_out();
      end(signal);
    }
    return all;
  }
};

} // namespace

CAF_TEST(three distinct subjects in a row block and two do not ) {
  host h;
  CAF_CHECK(!h.fail(host_signal::refused, {"a", "b", "a", "b", "a", "b"}));
  CAF_CHECK(!h.is_blocked());
  CAF_CHECK(h.end(host_signal::refused, "c") == host_event::blocked);
  CAF_CHECK_EQUAL(h.block(), 60s);
}

CAF_TEST(a success between starts the row anew) {
  host h;
  h.fail(host_signal::server, {"a", "b"});
  CAF_CHECK(!h.end(host_signal::good, "x"));
  CAF_CHECK(!h.fail(host_signal::server, {"c", "d"}));
  CAF_CHECK(h.end(host_signal::server, "e") == host_event::blocked);
}

CAF_TEST(fewer than three subjects block when all have had their four tries) {
  host h;
  h.company.others = 0;
  CAF_CHECK(!h.fail(host_signal::timeout, {"a", "b", "a", "b", "a", "b", "a"}));
  CAF_CHECK(h.end(host_signal::timeout, "b") == host_event::blocked);
  host other;
  other.company.others = 1;
  CAF_CHECK(!other.fail(host_signal::timeout, {"a", "a", "a", "a", "a"}));
  other.company.others = 0;
  CAF_CHECK(other.end(host_signal::timeout, "a") == host_event::blocked);
}

CAF_TEST(dns and tls are counted for themselves) {
  host h;
  CAF_CHECK(!h.fail(host_signal::dns, {"a", "b"}));
  CAF_CHECK(!h.fail(host_signal::tls, {"c", "d"}));
  CAF_CHECK(!h.fail(host_signal::server, {"e", "f"}));
  CAF_CHECK(h.end(host_signal::dns, "g") == host_event::blocked);
  CAF_CHECK_EQUAL(h.block(), 15min);
}

CAF_TEST(server timeout and refused count together) {
  host h;
  h.end(host_signal::server, "a");
  h.end(host_signal::timeout, "b");
  CAF_CHECK(h.end(host_signal::refused, "c") == host_event::blocked);
}

CAF_TEST(our own failures and answers of any kind block nothing) {
  host h;
  CAF_CHECK(!h.fail(host_signal::none, {"a", "b", "c", "d"}));
  CAF_CHECK(!h.fail(host_signal::good, {"a", "b", "c", "d"}));
  CAF_CHECK(!h.health.blocked_until());
}

CAF_TEST(blocks double up to the cap of their signal) {
  const std::vector<duration> doubling
    = {1min, 2min, 4min, 8min, 16min, 32min, 60min, 60min};
  host server;
  server.company.waiting = false;
  CAF_CHECK(server.lengths(host_signal::server, 8) == doubling);
  host refused;
  refused.company.waiting = false;
  const std::vector<duration> longer
    = {1min, 2min, 4min, 8min, 16min, 32min, 64min, 128min, 240min, 240min};
  CAF_CHECK(refused.lengths(host_signal::refused, 10) == longer);
  host timeout;
  timeout.company.waiting = false;
  CAF_CHECK(timeout.lengths(host_signal::timeout, 10) == longer);
}

CAF_TEST(names and certificates are waited for longer) {
  const std::vector<duration> expected = {15min, 60min, 240min, 12h, 12h};
  for (const auto signal : {host_signal::dns, host_signal::tls}) {
    host h;
    h.company.waiting = false;
    CAF_CHECK(h.lengths(signal, 5) == expected);
  }
}

CAF_TEST(while somebody waits a block is capped) {
  host h;
  CAF_CHECK(h.lengths(host_signal::refused, 7).back() == 30min);
  host name;
  CAF_CHECK(name.lengths(host_signal::dns, 4).back() == 2h);
}

CAF_TEST(who comes later cuts a long block to its cap) {
  host h;
  h.company.waiting = false;
  h.lengths(host_signal::refused, 9);
  const auto since = h.now;
  CAF_CHECK(h.block() == 4h);
  h.health.awaited();
  CAF_CHECK(*h.health.blocked_until() == since + 30min);
}

CAF_TEST(after a block the outcome of one probe decides) {
  host h;
  h.fail(host_signal::server, {"a", "b", "c"});
  h.sit_out();
  CAF_CHECK(h.health.stands(h.now) == standing::probation);
  CAF_CHECK(!h.end(host_signal::none));
  CAF_CHECK(h.health.stands(h.now) == standing::probation);
  CAF_CHECK(h.end(host_signal::server) == host_event::blocked);
  CAF_CHECK_EQUAL(h.health.failed_probes(), 1u);
  CAF_CHECK_EQUAL(h.block(), 2min);
  h.sit_out();
  CAF_CHECK(h.end(host_signal::good) == host_event::recovered);
  CAF_CHECK(h.health.stands(h.now) == standing::open);
  CAF_CHECK(!h.end(host_signal::good));
}

CAF_TEST(what was under way before a block changes nothing by failing) {
  host h;
  h.fail(host_signal::server, {"a", "b", "c"});
  const auto until = h.health.blocked_until();
  CAF_CHECK(!h.fail(host_signal::server, {"d", "e", "f"}));
  CAF_CHECK(h.health.blocked_until() == until);
  const auto sent = h.now;
  h.sit_out();
  CAF_CHECK(!h.end_at(host_signal::server, "g", {}, sent));
  CAF_CHECK(h.health.stands(h.now) == standing::probation);
  CAF_CHECK_EQUAL(h.health.failed_probes(), 0u);
}

CAF_TEST(a success under way lifts the block of a host that failed) {
  host h;
  h.fail(host_signal::server, {"a", "b", "c"});
  CAF_CHECK(h.end(host_signal::good, "d") == host_event::recovered);
  CAF_CHECK(h.health.stands(h.now) == standing::open);
}

CAF_TEST(a success under way does not lift what the host asked for) {
  host h;
  const auto sent = h.now;
  h.now += 2s;
  h.end_at(host_signal::limited, "a", 100s, sent);
  CAF_CHECK(!h.end_at(host_signal::good, "b", {}, sent));
  CAF_CHECK(h.is_blocked());
}

CAF_TEST(retry after is obeyed up to a day) {
  host h;
  CAF_CHECK(h.end(host_signal::limited, "a", 100s) == host_event::blocked);
  CAF_CHECK_EQUAL(h.block(), 100s);
  h.sit_out();
  h.end(host_signal::limited, "a", std::chrono::seconds{100h});
  CAF_CHECK_EQUAL(h.block(), 24h);
  h.sit_out();
  h.end(host_signal::limited, "a", 0s);
  CAF_CHECK_EQUAL(h.block(), 1s);
}

CAF_TEST(a bare complaint is a minute and doubles only when soon repeated) {
  host h;
  std::vector<duration> all;
  for (int i = 0; i < 8; ++i) {
    h.end(host_signal::limited);
    all.push_back(h.block());
    h.sit_out();
    h.end(host_signal::good);
    h.now += 9min;
  }
  const std::vector<duration> expected
    = {1min, 2min, 4min, 8min, 16min, 32min, 60min, 60min};
  CAF_CHECK(all == expected);
  h.now += 2min;
  h.end(host_signal::limited);
  CAF_CHECK_EQUAL(h.block(), 60s);
}

CAF_TEST(complaints about requests under way are one) {
  host h;
  const auto sent = h.now;
  h.now += 1s;
  h.end_at(host_signal::limited, "a", {}, sent);
  CAF_CHECK(!h.end_at(host_signal::limited, "b", {}, sent));
  CAF_CHECK_EQUAL(h.block(), 60s);
  // But what one of them asks for is obeyed.
  CAF_CHECK(h.end_at(host_signal::limited, "c", 90s, sent)
            == host_event::blocked);
  CAF_CHECK_EQUAL(h.block(), 90s);
}

CAF_TEST(a host that throttles for minutes has not failed) {
  host h;
  h.end(host_signal::limited);
  h.sit_out();
  CAF_CHECK(!h.end(host_signal::good));
  h.end(host_signal::limited, "a", std::chrono::seconds{31min});
  h.sit_out();
  CAF_CHECK(h.end(host_signal::good) == host_event::recovered);
}

CAF_TEST(another trouble begins with its own first length) {
  host h;
  h.company.waiting = false;
  h.lengths(host_signal::server, 4);
  h.sit_out();
  h.end(host_signal::dns);
  CAF_CHECK_EQUAL(h.block(), 15min);
}

CAF_TEST(a block survives as an image) {
  host h;
  h.lengths(host_signal::refused, 3);
  engine::host_health next;
  next.restore(h.health.image(), h.now);
  CAF_CHECK(next.image() == h.health.image());
  CAF_CHECK(next.stands(h.now) == standing::blocked);
  CAF_CHECK_EQUAL(next.failed_probes(), 3u);
  const auto end = *next.blocked_until();
  CAF_CHECK(next.stands(end) == standing::probation);
  CAF_CHECK(
    next.ended({host_signal::refused, {}, "a", true, end}, {10, false}, end)
    == host_event::blocked);
  CAF_CHECK(*next.blocked_until() == end + 16min);
}

CAF_TEST(a repeated complaint is recognised after a restart) {
  host h;
  h.end(host_signal::limited);
  h.sit_out();
  host next;
  next.now = h.now;
  next.health.restore(h.health.image(), h.now);
  next.now += 1min;
  next.end(host_signal::limited);
  CAF_CHECK_EQUAL(next.block(), 2min);
}
