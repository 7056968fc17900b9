#include "libsync/option_groups.hpp"
#include "libsync/option_setters.hpp"

namespace purgatory {

namespace {

using namespace std::chrono_literals;
using namespace setters;
using kind = option_kind;

constexpr auto day = 24h;
constexpr std::uint64_t kib = std::uint64_t{1} << 10U;
constexpr std::uint64_t mib = std::uint64_t{1} << 20U;
constexpr std::uint64_t gib = std::uint64_t{1} << 30U;

std::vector<option> scheduling_options() {
  return {
    {"sync-loop-interval-ms", "NGIT_SYNC_LOOP_INTERVAL_MS", "1000",
     "Back-off times are rounded up to a multiple of this, in milliseconds.",
     kind::number, count_of(1ms, &config::sync_loop_interval, 1, 3'600'000)},
    {"sync-domain-concurrent", "NGIT_SYNC_DOMAIN_CONCURRENT", "5",
     "Most fetches in flight at one host.", kind::number,
     whole(&config::domain_concurrent, 1U, max_domain_concurrent)},
    {"sync-domain-rate-limit", "NGIT_SYNC_DOMAIN_RATE_LIMIT", "30",
     "Most fetches started at one host in any 60 seconds.", kind::number,
     whole(&config::domain_rate_limit, 1U, max_domain_rate_limit)},
    {"sync-default-delay-secs", "NGIT_SYNC_DEFAULT_DELAY_SECS", "180",
     "Seconds before the hunt for an event of a client of our relay, whose "
     "data is probably being pushed.",
     kind::number, count_of(1s, &config::default_delay, 0, 86'400)},
    {"sync-immediate-delay-ms", "NGIT_SYNC_IMMEDIATE_DELAY_MS", "500",
     "Milliseconds before the hunt for an event from elsewhere, so that a "
     "burst "
     "is one attempt.",
     kind::number, count_of(1ms, &config::immediate_delay, 0, 3'600'000)},
    {"backoff-base", "PURGATORYD_BACKOFF_BASE", "20s",
     "Wait after the first failed round; doubles with each round.",
     kind::time_span, duration(&config::backoff_base, 100ms, day)},
    {"backoff-cap", "PURGATORYD_BACKOFF_CAP", "120s",
     "Longest wait after a failed round.", kind::time_span,
     duration(&config::backoff_cap, 100ms, day)},
    {"jitter", "PURGATORYD_JITTER", "0.1",
     "Each wait is longer or shorter by up to this part of it.", kind::fraction,
     fraction(&config::jitter, 0.5)},
    {"max-future-skew", "PURGATORYD_MAX_FUTURE_SKEW", "15min",
     "An event whose time is further ahead is held until it has come.",
     kind::time_span, duration(&config::max_future_skew, 0ms, day)},
    {"window-guard", "PURGATORYD_WINDOW_GUARD", "200ms",
     "Added to the 60 seconds of the rate limit, for jitter on the way.",
     kind::time_span, duration(&config::window_guard, 0ms, 10s)},
    {"fetch-workers", "PURGATORYD_FETCH_WORKERS", "128",
     "Most fetches in flight in all.", kind::number,
     whole(&config::fetch_workers, 1U, 1024U)},
    {"unit-concurrent", "PURGATORYD_UNIT_CONCURRENT", "3",
     "Most fetches in flight for one repository.", kind::number,
     whole(&config::unit_concurrent, 1U, 128U)},
    {"git-io", "PURGATORYD_GIT_IO", "0",
     "Threads that work on repositories; 0 means one for each core.",
     kind::number, whole(&config::git_io, 0U, 256U)},
  };
}

std::vector<option> place_options() {
  return {
    {"data-dir", "PURGATORYD_DATA_DIR", "./data",
     "Folder of the journal and of released.jsonl.", kind::text,
     path(&config::data_dir)},
    {"git-root", "PURGATORYD_GIT_ROOT", "<data_dir>/git",
     "Folder of the bare repositories; a leading <data_dir> stands for "
     "data-dir.",
     kind::text, path(&config::git_root)},
    {"socket", "PURGATORYD_SOCKET", "<data_dir>/purgatoryd.sock",
     "Unix socket where events are offered.", kind::text,
     path(&config::socket)},
    {"relay-url", "PURGATORYD_RELAY_URL", "",
     "Our relay, ws://host:port; when empty, released events are appended to "
     "released.jsonl.",
     kind::text, url(&config::relay_url, {"ws://"})},
    {"own-origins", "PURGATORYD_OWN_ORIGINS", "",
     "Our own host[:port] values, with commas between them; nothing is fetched "
     "from there.",
     kind::list, origins(&config::own_origins)},
    {"require-listing", "PURGATORYD_REQUIRE_LISTING", "both",
     "What an announcement has to list of our origins: both, relay or none; "
     "none while own-origins is empty.",
     kind::choice,
     choice(&config::require_listing, {{"both", listing::both},
                                       {"relay", listing::relay},
                                       {"none", listing::none}})},
    {"shim-deadline", "PURGATORYD_SHIM_DEADLINE", "250ms",
     "Longest wait of the relay's plugin for our answer.", kind::time_span,
     duration(&config::shim_deadline, 10ms, 60s)},
    {"shim-fail", "PURGATORYD_SHIM_FAIL", "closed",
     "What the plugin does with git events when we do not answer: closed "
     "refuses them, open accepts them.",
     kind::choice,
     choice(&config::shim_fail,
            {{"closed", shim_failure::closed}, {"open", shim_failure::open}})},
  };
}

std::vector<option> fetch_options() {
  return {
    {"timeout-dns", "PURGATORYD_TIMEOUT_DNS", "5s",
     "Longest look-up of a host name.", kind::time_span,
     duration(&config::timeout_dns, 100ms, 1h)},
    {"timeout-connect", "PURGATORYD_TIMEOUT_CONNECT", "10s",
     "Longest wait for a connection.", kind::time_span,
     duration(&config::timeout_connect, 100ms, 1h)},
    {"timeout-first-byte", "PURGATORYD_TIMEOUT_FIRST_BYTE", "90s",
     "Longest wait for the first byte of an answer.", kind::time_span,
     duration(&config::timeout_first_byte, 100ms, 1h)},
    {"timeout-discovery", "PURGATORYD_TIMEOUT_DISCOVERY", "30s",
     "Longest time for the list of a server's refs.", kind::time_span,
     duration(&config::timeout_discovery, 100ms, 1h)},
    {"timeout-relay-ok", "PURGATORYD_TIMEOUT_RELAY_OK", "10s",
     "Longest wait for our relay's OK.", kind::time_span,
     duration(&config::timeout_relay_ok, 100ms, 1h)},
    {"timeout-job", "PURGATORYD_TIMEOUT_JOB", "10min",
     "Longest time for one fetch.", kind::time_span,
     duration(&config::timeout_job, 1s, day)},
    {"min-rate", "PURGATORYD_MIN_RATE", "1KiB",
     "A fetch ends that brings fewer bytes per second over 30 seconds.",
     kind::size, size(&config::min_rate, 1, gib)},
    {"max-pack-bytes", "PURGATORYD_MAX_PACK_BYTES", "512MiB",
     "Largest pack that is taken.", kind::size,
     size(&config::max_pack_bytes, kib, 64 * gib)},
    {"max-event-bytes", "PURGATORYD_MAX_EVENT_BYTES", "256KiB",
     "Largest event that is taken.", kind::size,
     size(&config::max_event_bytes, kib, 16 * mib)},
    {"max-refs", "PURGATORYD_MAX_REFS", "10000",
     "Most refs in one state event.", kind::number,
     whole(&config::max_refs, 1U, 1'000'000U)},
    {"max-unconfirmed", "PURGATORYD_MAX_UNCONFIRMED", "4096",
     "Most offered events without an answer; beyond, nothing more is read.",
     kind::number, whole(&config::max_unconfirmed, 1U, 1'000'000U)},
    {"max-redirects", "PURGATORYD_MAX_REDIRECTS", "3",
     "Most redirects that one fetch follows.", kind::number,
     whole(&config::max_redirects, 0U, 10U)},
    {"allowed-ports", "PURGATORYD_ALLOWED_PORTS", "80,443",
     "Ports of git servers that are asked.", kind::list,
     ports(&config::allowed_ports)},
    {"allow-private", "PURGATORYD_ALLOW_PRIVATE", "false",
     "Asks servers on loopback and private addresses too; for tests and the "
     "demo only.",
     kind::toggle, toggle(&config::allow_private)},
    {"proxy", "PURGATORYD_PROXY", "",
     "Proxy for all fetches; the environment's proxy variables are ignored.",
     kind::text,
     url(&config::proxy, {"http://", "https://", "socks5://", "socks5h://"})},
    {"contact-url", "PURGATORYD_CONTACT_URL", "",
     "Where a git server's operator reaches us; sent with each request.",
     kind::text, url(&config::contact_url, {"http://", "https://", "mailto:"})},
  };
}

std::vector<option> log_options() {
  return {
    {"log-level", "PURGATORYD_LOG_LEVEL", "info",
     "Least important lines that are written: debug, info, warn or error.",
     kind::choice,
     choice(&config::log_level, {{"debug", log_threshold::debug},
                                 {"info", log_threshold::info},
                                 {"warn", log_threshold::warn},
                                 {"error", log_threshold::error}})},
    {"log-format", "PURGATORYD_LOG_FORMAT", "text",
     "text, or json for one object per line.", kind::choice,
     choice(&config::log_format,
            {{"text", log_shape::text}, {"json", log_shape::json}})},
  };
}

std::vector<option> all_options() {
  std::vector<option> all = place_options();
  for (auto group : {scheduling_options(), horizon_options(),
                     politeness_options(), fetch_options(), log_options()})
    for (auto& row : group)
      all.push_back(std::move(row));
  return all;
}

} // namespace

const std::vector<option>& option_table() {
  static const auto table = all_options();
  return table;
}

} // namespace purgatory
