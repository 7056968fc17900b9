#include "app/settings_of.hpp"

namespace purgatory {

git::plan_settings plan_settings_of(const config& c) {
  git::plan_settings s;
  s.direct_delay = c.default_delay;
  s.sync_delay = c.immediate_delay;
  s.backoff_base = c.backoff_base;
  s.backoff_cap = c.backoff_cap;
  s.jitter = c.jitter;
  s.loop_interval = c.sync_loop_interval;
  s.life.window = c.expiry;
  s.life.initial_window = c.initial_sync_expiry;
  s.life.retry_enabled = c.retry_enabled;
  s.life.max_attempts = c.retry_max_attempts;
  s.life.multiplier = c.retry_multiplier;
  s.life.schedule = {c.retry_schedule.begin(), c.retry_schedule.end()};
  s.life.horizon = c.retry_horizon;
  s.life.jitter = c.jitter;
  s.announcement_retention = c.announcement_retention;
  s.orphan_ttl = c.orphan_ttl;
  s.tombstone_ttl
    = std::chrono::duration_cast<std::chrono::seconds>(c.tombstone_ttl).count();
  s.hedge_delay = c.hedge_delay;
  s.deny_hosts = {c.deny_hosts.begin(), c.deny_hosts.end()};
  s.max_future_skew
    = std::chrono::duration_cast<std::chrono::seconds>(c.max_future_skew)
        .count();
  s.unit_concurrent = c.unit_concurrent;
  s.max_refs = c.max_refs;
  s.require_listing = c.require_listing;
  s.own_origins = {c.own_origins.begin(), c.own_origins.end()};
  return s;
}

io::fetch_settings fetch_settings_of(const config& c) {
  io::fetch_settings s;
  s.timeouts.dns = c.timeout_dns;
  s.timeouts.connect = c.timeout_connect;
  s.timeouts.first_byte = c.timeout_first_byte;
  s.timeouts.min_rate = c.min_rate;
  s.discovery_timeout = c.timeout_discovery;
  s.job_timeout = c.timeout_job;
  s.max_pack_bytes = c.max_pack_bytes;
  s.allowed_ports = {c.allowed_ports.begin(), c.allowed_ports.end()};
  s.allow_private = c.allow_private;
  s.max_redirects = static_cast<int>(c.max_redirects);
  s.proxy = c.proxy;
  s.user_agent = "purgatoryd/" PURGATORYD_VERSION;
  s.contact_url = c.contact_url;
  return s;
}

io::socket_options socket_options_of(const config& c) {
  io::socket_options s;
  s.path = c.socket;
  s.max_event_bytes = c.max_event_bytes;
  s.max_outstanding = c.max_unconfirmed;
  return s;
}

io::shim_options shim_options_of(const config& c) {
  io::shim_options s;
  s.socket = c.socket;
  s.deadline = c.shim_deadline;
  s.fail_open = c.shim_fail == shim_failure::open;
  s.max_event_bytes = c.max_event_bytes;
  return s;
}

io::submit_options submit_options_of(const config& c) {
  io::submit_options s;
  s.socket = c.socket;
  s.max_event_bytes = c.max_event_bytes;
  return s;
}

relay_link_config relay_link_config_of(const config& c) {
  relay_link_config s;
  s.url = c.relay_url;
  s.outbox.answer_deadline = c.timeout_relay_ok;
  return s;
}

log::settings log_settings_of(const config& c) {
  log::settings s;
  switch (c.log_level) {
  case log_threshold::debug:
    s.threshold = log::level::debug;
    break;
  case log_threshold::info:
    s.threshold = log::level::info;
    break;
  case log_threshold::warn:
    s.threshold = log::level::warn;
    break;
  case log_threshold::error:
    s.threshold = log::level::error;
    break;
  }
  s.shape
    = c.log_format == log_shape::json ? log::format::json : log::format::text;
  return s;
}

} // namespace purgatory
