#define CAF_SUITE sqlite_store

#include "app/io/store/sqlite_store.hpp"
#include "tests/support/scratch_folder.hpp"

#include <caf/test/dsl.hpp>

#include <memory>
#include <string>
#include <vector>

namespace purgatory::test {

/// A crash here is a store that goes without close_clean(): the open
/// transaction is never committed.
struct store_world {
  event_store& store() { return *store_; }

  void crash() {
    store_.reset();
    store_ = open();
  }

  void close(unix_seconds now) {
    store_->close_clean(now);
    crash();
  }

  std::unique_ptr<event_store> open() {
    return open_sqlite_store(
      folder_ / "journal.sqlite",
      [this](const std::string& what) { notices_.push_back(what); });
  }

  scratch_folder folder_;
  std::vector<std::string> notices_;
  std::unique_ptr<event_store> store_ = open();
};

} // namespace purgatory::test

#include "tests/support/store_checks.hpp"
#include "tests/support/store_horizon_checks.hpp"
