#define CAF_SUITE options

#include "libsync/options.hpp"

#include <caf/test/dsl.hpp>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

using namespace purgatory;
using namespace std::chrono_literals;

namespace {

given_value flag(const std::string& name, const std::string& text) {
  return {name, text, option_source::flag, "command line"};
}

given_value variable(const std::string& name, const std::string& text) {
  return {name, text, option_source::environment, "environment X"};
}

given_value line(const std::string& name, const std::string& text) {
  return {name, text, option_source::file, "file p.conf"};
}

config accepted(std::vector<given_value> values) {
  const auto result = read_config(std::move(values));
  if (const auto* wrong = std::get_if<problems>(&result))
    CAF_FAIL(wrong->front());
  return std::get<config>(result);
}

problems refused(std::vector<given_value> values) {
  const auto result = read_config(std::move(values));
  const auto* wrong = std::get_if<problems>(&result);
  return wrong != nullptr ? *wrong : problems{};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string upper(std::string flag) {
  for (auto& c : flag)
    c = c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return flag;
}

const std::set<std::string> flags_of_the_notes
  = {"sync-loop-interval-ms",
     "sync-domain-concurrent",
     "sync-domain-rate-limit",
     "sync-default-delay-secs",
     "sync-immediate-delay-ms",
     "purgatory-expiry-duration",
     "purgatory-retry-enabled",
     "purgatory-retry-max-attempts",
     "purgatory-retry-backoff-multiplier",
     "initial-sync-mode"};

} // namespace

CAF_TEST(without values the defaults hold) {
  const auto settings = accepted({});
  CAF_CHECK(settings == config{});
  CAF_CHECK(settings.sync_loop_interval == 1s);
  CAF_CHECK_EQUAL(settings.domain_concurrent, 5u);
  CAF_CHECK_EQUAL(settings.domain_rate_limit, 30u);
  CAF_CHECK(settings.default_delay == 180s);
  CAF_CHECK(settings.immediate_delay == 500ms);
}

CAF_TEST(setting an option to its default text changes nothing) {
  for (const auto& row : option_table()) {
    CAF_MESSAGE(row.flag);
    CAF_CHECK(accepted({flag(row.flag, row.default_text)}) == config{});
  }
}

CAF_TEST(each option has a name and a variable of its own and a sentence) {
  std::set<std::string> flags;
  std::set<std::string> variables;
  for (const auto& row : option_table()) {
    CAF_MESSAGE(row.flag);
    CAF_CHECK(flags.insert(row.flag).second);
    CAF_CHECK(variables.insert(row.environment).second);
    CAF_CHECK(row.help.size() > 10 && row.help.back() == '.');
    const auto* prefix
      = flags_of_the_notes.contains(row.flag) ? "NGIT_" : "PURGATORYD_";
    CAF_CHECK_EQUAL(row.environment, prefix + upper(row.flag));
  }
  CAF_CHECK(std::includes(flags.begin(), flags.end(),
                          flags_of_the_notes.begin(),
                          flags_of_the_notes.end()));
}

CAF_TEST(values of every kind are taken over) {
  const auto settings = accepted({
    flag("sync-domain-concurrent", "7"),
    flag("sync-loop-interval-ms", "250"),
    flag("sync-default-delay-secs", "9"),
    flag("backoff-base", "1s"),
    flag("jitter", "0"),
    flag("data-dir", "/var/lib/p"),
    flag("max-pack-bytes", "1GiB"),
    flag("allow-private", "true"),
    flag("allowed-ports", "443, 8080"),
    flag("relay-url", "ws://127.0.0.1:7777"),
    flag("shim-fail", "open"),
    flag("log-level", "debug"),
    flag("log-format", "json"),
  });
  CAF_CHECK_EQUAL(settings.domain_concurrent, 7u);
  CAF_CHECK(settings.sync_loop_interval == 250ms);
  CAF_CHECK(settings.default_delay == 9s);
  CAF_CHECK(settings.backoff_base == 1s);
  CAF_CHECK_EQUAL(settings.jitter, 0.0);
  CAF_CHECK_EQUAL(settings.data_dir, "/var/lib/p");
  CAF_CHECK_EQUAL(settings.max_pack_bytes, 1'073'741'824u);
  CAF_CHECK(settings.allow_private);
  CAF_CHECK((settings.allowed_ports == std::vector<std::uint16_t>{443, 8080}));
  CAF_CHECK_EQUAL(settings.relay_url, "ws://127.0.0.1:7777");
  CAF_CHECK(settings.shim_fail == shim_failure::open);
  CAF_CHECK(settings.log_level == log_threshold::debug);
  CAF_CHECK(settings.log_format == log_shape::json);
}

CAF_TEST(a flag beats the environment and that beats the file) {
  const auto in_file = line("fetch-workers", "10");
  const auto in_environment = variable("fetch-workers", "20");
  const auto on_line = flag("fetch-workers", "30");
  CAF_CHECK_EQUAL(accepted({in_file}).fetch_workers, 10u);
  CAF_CHECK_EQUAL(accepted({in_environment, in_file}).fetch_workers, 20u);
  CAF_CHECK_EQUAL(accepted({on_line, in_environment, in_file}).fetch_workers,
                  30u);
}

CAF_TEST(paths follow the data folder unless they are given) {
  const auto moved = accepted({flag("data-dir", "/srv/p")});
  CAF_CHECK_EQUAL(moved.git_root, "/srv/p/git");
  CAF_CHECK_EQUAL(moved.socket, "/srv/p/purgatoryd.sock");
  const auto given
    = accepted({flag("data-dir", "/srv/p"), flag("git-root", "/srv/git")});
  CAF_CHECK_EQUAL(given.git_root, "/srv/git");
}

CAF_TEST(an own origin makes announcements list it) {
  CAF_CHECK(accepted({}).require_listing == listing::none);
  const auto both
    = accepted({flag("own-origins", "Git.Example.org, x.org:8443")});
  CAF_CHECK(both.require_listing == listing::both);
  CAF_CHECK((both.own_origins
             == std::vector<std::string>{"git.example.org", "x.org:8443"}));
  CAF_CHECK(
    accepted({flag("own-origins", "x.org"), flag("require-listing", "relay")})
      .require_listing
    == listing::relay);
  CAF_CHECK(accepted({flag("require-listing", "both")}).require_listing
            == listing::none);
}

CAF_TEST(all problems come at once and each names its flag and its place) {
  const auto found = refused({
    flag("sync-domain-concurrent", "0"),
    variable("sync-domain-rate-limit", "many"),
    line("backoff-cap", "5"),
    line("colour", "red"),
    flag("fetch-workers", "8"),
  });
  CAF_REQUIRE_EQUAL(found.size(), 4u);
  CAF_CHECK_EQUAL(found[0],
                  "--backoff-cap (file p.conf): needs a duration from 100ms to "
                  "1d such as 500ms, 20s, 30min, 4h, not \"5\"");
  CAF_CHECK_EQUAL(found[1], "--colour (file p.conf): there is no such option");
  CAF_CHECK_EQUAL(found[2],
                  "--sync-domain-rate-limit (environment X): needs a whole "
                  "number from 1 to 100000, not \"many\"");
  CAF_CHECK_EQUAL(found[3],
                  "--sync-domain-concurrent (command line): needs a whole "
                  "number from 1 to 1000, not \"0\"");
}

CAF_TEST(a value that is overridden must be valid too) {
  const auto found
    = refused({line("fetch-workers", "none"), flag("fetch-workers", "8")});
  CAF_REQUIRE_EQUAL(found.size(), 1u);
  CAF_CHECK(contains(found[0], "file p.conf"));
}

CAF_TEST(a value that is given twice in one place is a problem) {
  const auto found
    = refused({flag("fetch-workers", "8"), flag("fetch-workers", "9")});
  CAF_REQUIRE_EQUAL(found.size(), 1u);
  CAF_CHECK_EQUAL(found[0],
                  "--fetch-workers (command line): is given more than once");
}

CAF_TEST(values out of range or of another form are refused) {
  const std::vector<std::pair<const char*, const char*>> wrong = {
    {"sync-loop-interval-ms", "0"},
    {"sync-loop-interval-ms", "1s"},
    {"sync-domain-concurrent", "1001"},
    {"sync-domain-rate-limit", "100001"},
    {"sync-default-delay-secs", "-1"},
    {"fetch-workers", "1025"},
    {"fetch-workers", "4294967297"},
    {"jitter", "0.6"},
    {"jitter", "-0.1"},
    {"data-dir", ""},
    {"data-dir", "a\nb"},
    {"relay-url", "relay.example.org"},
    {"relay-url", "ws://"},
    {"relay-url", "wss://relay.example.org"},
    {"relay-url", "ws://a b"},
    {"own-origins", "a.org,,b.org"},
    {"own-origins", "a/b"},
    {"require-listing", "all"},
    {"shim-deadline", "1ms"},
    {"shim-fail", "ajar"},
    {"max-pack-bytes", "512MB"},
    {"max-event-bytes", "1GiB"},
    {"allowed-ports", ""},
    {"allowed-ports", "80,0"},
    {"allowed-ports", "65536"},
    {"allow-private", "yes"},
    {"proxy", "proxy:3128"},
    {"contact-url", "http://x\r\nA: b"},
    {"purgatory-retry-max-attempts", "17"},
    {"purgatory-retry-backoff-multiplier", "0.5"},
    {"purgatory-retry-schedule", ""},
    {"purgatory-retry-schedule", "4h,1h"},
    {"purgatory-retry-schedule", "1h,1h"},
    {"initial-sync-mode", "maybe"},
    {"host-limits", "a.org"},
    {"host-limits", "a.org=0"},
    {"host-limits", "a.org=1/2/3/4/5"},
    {"host-limits", "a.org=1,A.org=2"},
    {"host-limits", "a b=1"},
    {"deny-hosts", "a b"},
    {"host-block-max-waiting", "30min"},
    {"host-block-max-waiting", "30min,2s"},
    {"log-level", "loud"},
    {"log-format", "xml"},
  };
  for (const auto& [name, text] : wrong) {
    CAF_MESSAGE(name << " = " << text);
    const auto found = refused({flag(name, text)});
    CAF_REQUIRE_EQUAL(found.size(), 1u);
    CAF_CHECK(contains(found[0], name));
    CAF_CHECK(contains(found[0], "needs "));
    CAF_CHECK(found[0].find_first_of("\r\n") == std::string::npos);
  }
}

CAF_TEST(limits of single hosts go by the canonical name) {
  const auto settings
    = accepted({flag("host-limits", "GitHub.com=2/10/300/0, 127.1=7"),
                flag("deny-hosts", "Bad.example., 0x7f000001")});
  CAF_REQUIRE_EQUAL(settings.host_limits.size(), 2u);
  const auto& github = settings.host_limits.at("github.com");
  CAF_CHECK(github == (limits_of_host{2, 10, 300, 0}));
  CAF_CHECK(settings.host_limits.at("127.0.0.1")
            == (limits_of_host{7, {}, {}, {}}));
  CAF_CHECK(settings.deny_hosts
            == (std::vector<std::string>{"bad.example", "127.0.0.1"}));
}

CAF_TEST(a retry schedule is a list of durations) {
  const auto settings
    = accepted({flag("purgatory-retry-schedule", "30min, 2h"),
                flag("initial-sync-mode", "true"),
                flag("purgatory-retry-backoff-multiplier", "1.5")});
  CAF_CHECK(settings.retry_schedule
            == (std::vector<std::chrono::milliseconds>{30min, 2h}));
  CAF_CHECK(settings.initial_sync == sync_mode::on);
  CAF_CHECK_EQUAL(settings.retry_multiplier, 1.5);
}

CAF_TEST(a back off that shrinks is refused) {
  const auto found
    = refused({flag("backoff-base", "60s"), flag("backoff-cap", "10s")});
  CAF_REQUIRE_EQUAL(found.size(), 1u);
  CAF_CHECK_EQUAL(found[0],
                  "--backoff-cap: 10s is shorter than --backoff-base, 1min");
}

CAF_TEST(a socket path that the system can not take is refused) {
  const auto found = refused({flag("data-dir", std::string(100, 'x'))});
  CAF_REQUIRE_EQUAL(found.size(), 1u);
  CAF_CHECK(contains(found[0], "--socket"));
}

CAF_TEST(the help names every option with its variable and default) {
  const auto text = describe_options();
  for (const auto& row : option_table()) {
    CAF_CHECK(contains(text, "--" + row.flag + " "));
    CAF_CHECK(contains(text, row.environment));
    CAF_CHECK(contains(text, row.help));
  }
}
