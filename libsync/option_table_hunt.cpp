// Options of the long horizon and of politeness.

#include "libsync/option_groups.hpp"
#include "libsync/option_setters.hpp"

namespace purgatory {

using namespace std::chrono_literals;
using namespace setters;
using kind = option_kind;

namespace {

constexpr auto day = 24h;

} // namespace

std::vector<option> horizon_options() {
  return {
    {"purgatory-expiry-duration", "NGIT_PURGATORY_EXPIRY_DURATION", "30min",
     "How long an event is hunted for before it is parked, and held when no "
     "repository can ever satisfy it.",
     kind::time_span, duration(&config::expiry, 1s, 30 * day)},
    {"purgatory-retry-enabled", "NGIT_PURGATORY_RETRY_ENABLED", "true",
     "Parked events are tried again for days; false gives them up when they "
     "would be parked.",
     kind::toggle, toggle(&config::retry_enabled)},
    {"purgatory-retry-max-attempts", "NGIT_PURGATORY_RETRY_MAX_ATTEMPTS", "5",
     "Full rounds, and answers of each clone URL, before a parked event is "
     "given up.",
     kind::number, whole(&config::retry_max_attempts, 1U, 16U)},
    {"purgatory-retry-backoff-multiplier",
     "NGIT_PURGATORY_RETRY_BACKOFF_MULTIPLIER", "2",
     "After the retry schedule each distance from parking is so many times the "
     "one before, but at most a day more.",
     kind::fraction, factor(&config::retry_multiplier, 1.0, 10.0)},
    {"purgatory-retry-schedule", "PURGATORYD_PURGATORY_RETRY_SCHEDULE",
     "1h,4h,12h,24h",
     "When a parked event is tried again, counted from its parking; ascending, "
     "with commas between.",
     kind::list, schedule(&config::retry_schedule, 1min, 30 * day)},
    {"purgatory-retry-horizon", "PURGATORYD_PURGATORY_RETRY_HORIZON", "7d",
     "No parked event is given up before.", kind::time_span,
     duration(&config::retry_horizon, 1h, 365 * day)},
    {"initial-sync-mode", "NGIT_INITIAL_SYNC_MODE", "auto",
     "Longer hunts and progress lines while a new journal is filled: auto, "
     "when the journal is new; true or false.",
     kind::choice,
     choice(&config::initial_sync, {{"auto", sync_mode::automatic},
                                    {"true", sync_mode::on},
                                    {"false", sync_mode::off}})},
    {"initial-sync-expiry", "PURGATORYD_INITIAL_SYNC_EXPIRY", "4h",
     "The same as purgatory-expiry-duration, in an initial sync.",
     kind::time_span, duration(&config::initial_sync_expiry, 1s, 30 * day)},
    {"announcement-retention", "PURGATORYD_ANNOUNCEMENT_RETENTION", "24h",
     "How long an announcement that got no data in its window stays a source "
     "of clone URLs.",
     kind::time_span, duration(&config::announcement_retention, 0s, 30 * day)},
    {"orphan-ttl", "PURGATORYD_ORPHAN_TTL", "7d",
     "How long a state or pull request waits for its announcement.",
     kind::time_span, duration(&config::orphan_ttl, 1min, 365 * day)},
    {"tombstone-ttl", "PURGATORYD_TOMBSTONE_TTL", "30d",
     "How long a deletion is remembered that came before its event.",
     kind::time_span, duration(&config::tombstone_ttl, 1min, 365 * day)},
  };
}

std::vector<option> politeness_options() {
  return {
    {"sync-domain-hour-limit", "PURGATORYD_SYNC_DOMAIN_HOUR_LIMIT", "0",
     "Most fetches started at one host in any hour; 0 means no limit.",
     kind::number,
     whole(&config::domain_hour_limit, 0U, max_domain_hour_limit)},
    {"sync-domain-day-limit", "PURGATORYD_SYNC_DOMAIN_DAY_LIMIT", "0",
     "Most fetches started at one host in any day; 0 means no limit.",
     kind::number, whole(&config::domain_day_limit, 0U, max_domain_day_limit)},
    {"host-limits", "PURGATORYD_HOST_LIMITS", "",
     "Limits of single hosts, with commas between them: "
     "host=concurrent/minute/hour/day, such as github.com=2/10/300/0; left out "
     "at the end: as for all.",
     kind::list, host_limits(&config::host_limits)},
    {"deny-hosts", "PURGATORYD_DENY_HOSTS", "",
     "Hosts that are never asked, with commas between them.", kind::list,
     hosts(&config::deny_hosts)},
    {"prefix-concurrent", "PURGATORYD_PREFIX_CONCURRENT", "20",
     "Most fetches in flight at one block of addresses, /24 or /48.",
     kind::number, whole(&config::prefix_concurrent, 1U, 1024U)},
    {"hedge-delay", "PURGATORYD_HEDGE_DELAY", "10s",
     "A second clone URL is asked for the same objects when the first one has "
     "sent no byte of a pack for so long.",
     kind::time_span, duration(&config::hedge_delay, 1s, 1h)},
    {"host-block-max-waiting", "PURGATORYD_HOST_BLOCK_MAX_WAITING", "30min,2h",
     "Longest block of a host while something waits for it: when it is down, "
     "and when its name or certificate is bad.",
     kind::list,
     span_pair(&config::host_block_down, &config::host_block_unknown, 1min,
               day)},
  };
}

} // namespace purgatory
