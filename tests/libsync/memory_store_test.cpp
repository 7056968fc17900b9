#define CAF_SUITE memory_store

#include "tests/support/memory_store.hpp"

#include <caf/test/dsl.hpp>

#include <optional>
#include <string>

namespace purgatory::test {

struct store_world {
  event_store& store() { return *store_; }

  void crash() {
    const auto disk = store_->image();
    store_.emplace(disk);
  }

  void close(unix_seconds now) {
    store_->close_clean(now);
    crash();
  }

  std::optional<memory_store> store_{std::in_place};
};

} // namespace purgatory::test

#include "tests/support/store_checks.hpp"
#include "tests/support/store_horizon_checks.hpp"

using namespace purgatory;
using namespace purgatory::test;

CAF_TEST(a memory store counts batches and records and commits) {
  memory_store store;
  store.apply({accepted('1', "r"), accepted('2', "r")});
  store.apply({accepted('3', "r")});
  store.commit();
  store.commit();
  CAF_CHECK_EQUAL(store.count().batches, 2u);
  CAF_CHECK_EQUAL(store.count().records, 3u);
  CAF_CHECK_EQUAL(store.count().commits, 1u);
}

CAF_TEST(an alignment keeps its changes while it is done again) {
  memory_store store;
  const tenant here{key_of('a'), identifier{"r"}};
  const git::ref_change moved{"refs/heads/main", std::nullopt,
                              oid{std::string(40, 'e')}};
  store.apply({accepted('1', "r"),
               align_record{id_of('1'), here, true, {moved}},
               align_record{id_of('1'), here, false, {}}});
  store.commit();
  const auto& kept = store.image().alignments().at({id_of('1'), here});
  CAF_CHECK(!kept.finished);
  CAF_REQUIRE_EQUAL(kept.changes.size(), 1u);
  CAF_CHECK(kept.changes[0] == moved);
}
