#define CAF_SUITE settings

#include "actors/settings.hpp"
#include "tests/support/deterministic.hpp"

#include <optional>
#include <string>
#include <vector>

using namespace purgatory;

namespace {

/// What the fake supervisor was told, and what it says.
struct supervisor_script {
  std::vector<set_limits> told;
  bool refuses = false;
};

supervisor_actor::behavior_type fake_supervisor(supervisor_actor::pointer,
                                                supervisor_script* script) {
  const auto unused = caf::make_error(caf::sec::unexpected_message);
  return {
    [=](const event_arrived&, const identifier&) -> caf::result<admission> {
      return unused;
    },
    [=](const host_key&) -> caf::result<throttle_actor> { return unused; },
    [=](const tenant&) -> caf::result<git_actor> { return unused; },
    [](const retire&) {},
    [=](const set_limits& wanted) {
      script->told.push_back(wanted);
      return limits_set{!script->refuses, script->refuses ? "busy" : ""};
    },
    [=](list_pending) -> caf::result<pending_identifiers> { return unused; },
    [](const loaded&) {},
    [](const host_news&) {},
    [](const plan_changed&) {},
    [](const list_throttles&) { return std::vector<throttle_actor>{}; },
    [](const backoff_tick&) {},
    [=](stop_work) -> caf::result<work_stopped> { return unused; },
  };
}

struct fixture : test::deterministic {
  supervisor_script script;
  supervisor_actor supervisor = track(sys.spawn(fake_supervisor, &script));
  settings_actor uut = track(sys.spawn(settings, config{}, supervisor));

  limits_set change(std::optional<std::string> host,
                    std::optional<std::uint32_t> concurrent,
                    std::optional<std::uint32_t> per_minute) {
    set_limits wanted{std::nullopt, concurrent, per_minute};
    if (host)
      wanted.host = host_key{*host};
    return ask<limits_set>(uut, wanted);
  }

  std::string change_text(std::optional<std::string> host,
                          std::optional<std::uint32_t> concurrent,
                          std::optional<std::uint32_t> per_minute) {
    const auto answer = change(std::move(host), concurrent, per_minute);
    CAF_CHECK(answer.accepted);
    return answer.message;
  }

  config& current() { return state_of<settings_state>(uut).current; }
};

constexpr auto none = std::nullopt;

} // namespace

CAF_TEST_FIXTURE_SCOPE(settings_tests, fixture)

CAF_TEST(a change for all hosts goes to the supervisor and is named) {
  CAF_CHECK_EQUAL(
    change_text(none, 10, 60),
    "sync-domain-concurrent 5 -> 10, sync-domain-rate-limit 30 -> 60");
  CAF_REQUIRE_EQUAL(script.told.size(), 1u);
  CAF_CHECK(!script.told[0].host);
  CAF_CHECK_EQUAL(script.told[0].concurrent.value(), 10u);
  CAF_CHECK_EQUAL(script.told[0].per_minute.value(), 60u);
  CAF_CHECK_EQUAL(current().domain_concurrent, 10u);
  CAF_CHECK_EQUAL(current().domain_rate_limit, 60u);
}

CAF_TEST(only what is named changes) {
  CAF_CHECK_EQUAL(change_text(none, none, 60),
                  "sync-domain-rate-limit 30 -> 60");
  CAF_CHECK(!script.told.at(0).concurrent);
  CAF_CHECK_EQUAL(current().domain_concurrent, 5u);
}

CAF_TEST(a second change starts from the first one) {
  change(none, 10, none);
  CAF_CHECK_EQUAL(change_text(none, 3, none), "sync-domain-concurrent 10 -> 3");
  CAF_CHECK_EQUAL(change_text(none, 3, none), "sync-domain-concurrent stays 3");
}

CAF_TEST(a host keeps its own ceilings when all hosts change) {
  CAF_CHECK_EQUAL(change_text("x.org", 2, none),
                  "sync-domain-concurrent of x.org 5 -> 2");
  CAF_CHECK(script.told.at(0).host == host_key{"x.org"});
  CAF_CHECK_EQUAL(current().domain_concurrent, 5u);
  CAF_CHECK_EQUAL(change_text("x.org", 4, none),
                  "sync-domain-concurrent of x.org 2 -> 4");
  CAF_CHECK_EQUAL(change_text("y.org", 4, none),
                  "sync-domain-concurrent of y.org 5 -> 4");
  change(none, 8, none);
  CAF_CHECK_EQUAL(change_text("x.org", 1, none),
                  "sync-domain-concurrent of x.org 4 -> 1");
}

CAF_TEST(hour and day have ceilings and nought takes them away) {
  const auto long_windows = [](std::uint32_t hour, std::uint32_t day) {
    set_limits wanted;
    wanted.per_hour = hour;
    wanted.per_day = day;
    return wanted;
  };
  CAF_CHECK_EQUAL(
    ask<limits_set>(uut, long_windows(300, 2000)).message,
    "sync-domain-hour-limit 0 -> 300, sync-domain-day-limit 0 -> 2000");
  CAF_CHECK_EQUAL(script.told.at(0).per_hour.value(), 300u);
  CAF_CHECK_EQUAL(script.told.at(0).per_day.value(), 2000u);
  CAF_CHECK_EQUAL(current().domain_hour_limit, 300u);
  CAF_CHECK(ask<limits_set>(uut, long_windows(0, 0)).accepted);
  CAF_CHECK(current() == config{});
  CAF_CHECK(
    !ask<limits_set>(uut, long_windows(max_domain_hour_limit + 1, 0)).accepted);
}

CAF_TEST(a host that was configured on its own starts from there) {
  config initial;
  initial.host_limits["x.org"] = {2, {}, {}, 50};
  uut = track(sys.spawn(settings, initial, supervisor));
  set_limits wanted{host_key{"x.org"}, 3, {}};
  wanted.per_day = 60;
  CAF_CHECK_EQUAL(ask<limits_set>(uut, wanted).message,
                  "sync-domain-concurrent of x.org 2 -> 3, "
                  "sync-domain-day-limit of x.org 50 -> 60");
}

CAF_TEST(values out of range are all named and nobody is told) {
  const auto answer = change(none, 0, 100'001);
  CAF_CHECK(!answer.accepted);
  CAF_CHECK_EQUAL(
    answer.message,
    "sync-domain-concurrent must be from 1 to 1000, not 0, "
    "sync-domain-rate-limit must be from 1 to 100000, not 100001");
  CAF_CHECK(script.told.empty());
  CAF_CHECK(current() == config{});
}

CAF_TEST(the ends of the ranges are accepted) {
  CAF_CHECK(change(none, 1, 1).accepted);
  CAF_CHECK(change(none, 1000, 100'000).accepted);
  CAF_CHECK(!change(none, 1001, none).accepted);
}

CAF_TEST(a change of nothing and an empty host are refused) {
  CAF_CHECK_EQUAL(change(none, none, none).message, "nothing to change");
  CAF_CHECK_EQUAL(change("", 5, none).message, "the host is empty");
  CAF_CHECK(script.told.empty());
}

CAF_TEST(what the supervisor refuses is not taken over) {
  script.refuses = true;
  const auto answer = change(none, 10, none);
  CAF_CHECK(!answer.accepted);
  CAF_CHECK_EQUAL(answer.message, "busy");
  CAF_CHECK(current() == config{});
}

CAF_TEST(without a supervisor a change is answered and not taken over) {
  kill(supervisor);
  const auto answer = change(none, 10, none);
  CAF_CHECK(!answer.accepted);
  CAF_CHECK(answer.message.find("nothing was changed") == 0);
  CAF_CHECK(current() == config{});
}

CAF_TEST_FIXTURE_SCOPE_END()
