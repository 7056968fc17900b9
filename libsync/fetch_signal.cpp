#include "libsync/fetch_signal.hpp"

namespace purgatory {

using engine::host_signal;

engine::host_signal signal_of(fetch_class outcome) {
  switch (outcome) {
  case fetch_class::limited:
    return host_signal::limited;
  case fetch_class::server:
    return host_signal::server;
  case fetch_class::timeout:
    return host_signal::timeout;
  case fetch_class::refused:
    return host_signal::refused;
  case fetch_class::dns:
    return host_signal::dns;
  case fetch_class::tls:
    return host_signal::tls;
  case fetch_class::internal:
  case fetch_class::policy:
  case fetch_class::redirected:
    return host_signal::none;
  case fetch_class::ok:
  case fetch_class::partial:
  case fetch_class::not_here:
  case fetch_class::no_repo:
  case fetch_class::auth:
  case fetch_class::corrupt:
  case fetch_class::oversize:
  case fetch_class::unsupported:
    return host_signal::good;
  }
  return host_signal::none;
}

fetch_class class_of(engine::host_signal signal) {
  switch (signal) {
  case host_signal::limited:
    return fetch_class::limited;
  case host_signal::server:
    return fetch_class::server;
  case host_signal::timeout:
    return fetch_class::timeout;
  case host_signal::refused:
    return fetch_class::refused;
  case host_signal::dns:
    return fetch_class::dns;
  case host_signal::tls:
    return fetch_class::tls;
  case host_signal::none:
  case host_signal::good:
    return fetch_class::ok;
  }
  return fetch_class::ok;
}

host_record to_record(const host_key& host, const engine::host_image& image,
                      const live_clock& at) {
  host_record record;
  record.host = host;
  record.reason = class_of(image.health.reason);
  record.blocks = image.health.blocks;
  record.failed_probes = image.health.failed_probes;
  record.learned_per_minute = image.learned_per_minute;
  if (image.health.blocks > 0)
    record.blocked_until = at.stored(image.health.blocked_until);
  return record;
}

engine::host_image from_record(const host_record& record,
                               const live_clock& at) {
  engine::host_image image;
  image.health.reason = signal_of(record.reason);
  image.health.failed_probes = record.failed_probes;
  image.learned_per_minute = record.learned_per_minute;
  if (image.health.reason <= host_signal::good || record.blocks == 0) {
    image.health.reason = host_signal::none;
    return image;
  }
  image.health.blocks = record.blocks;
  image.health.blocked_until = at.moment_of(record.blocked_until);
  return image;
}

} // namespace purgatory
