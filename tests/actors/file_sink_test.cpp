#include "actors/file_sink.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <map>
#include <stdexcept>

#define CAF_SUITE file_sink
#include "tests/support/deterministic.hpp"

using namespace purgatory;

namespace {

struct memory_log final : release_log {
  bool contains(const event_id& id) const override {
    return lines.count(id) > 0;
  }
  void append(const event_id& id, const std::string& json) override {
    if (is_full)
      throw std::runtime_error("no space left");
    ++appends;
    lines.emplace(id, json);
  }
  std::map<event_id, std::string> lines;
  int appends = 0;
  bool is_full = false;
};

nostr::event make_event() {
  nostr::event result;
  result.id.value = std::string(64, 'a');
  result.content = "x";
  return result;
}

struct fixture : test::deterministic {
  std::shared_ptr<memory_log> log = std::make_shared<memory_log>();
  relay_link_actor sink
    = track(sys.spawn(file_sink, std::shared_ptr<release_log>{log}));
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(file_sink_tests, fixture)

CAF_TEST(an event is appended once and released each time) {
  for (int i = 0; i < 2; ++i) {
    const auto end = ask<published>(sink, publish{make_event()});
    CAF_CHECK(end.outcome == publish_outcome::released);
    CAF_CHECK_EQUAL(end.id.value, make_event().id.value);
  }
  CAF_CHECK_EQUAL(log->appends, 1);
  CAF_CHECK_EQUAL(log->lines[make_event().id], nostr::to_json(make_event()));
}

CAF_TEST(a log that can not be written answers with an error and lives on) {
  log->is_full = true;
  auto pending = self->request(sink, caf::infinite, publish{make_event()});
  settle();
  pending.receive([](const published&) { CAF_FAIL("released"); },
                  [this](caf::error& problem) {
                    const auto text = sys.render(problem);
                    CAF_CHECK(text.find("no space") != std::string::npos);
                  });
  log->is_full = false;
  const auto end = ask<published>(sink, publish{make_event()});
  CAF_CHECK(end.outcome == publish_outcome::released);
}

CAF_TEST_FIXTURE_SCOPE_END()
