#define CAF_SUITE fetch_signal
#include "libsync/fetch_signal.hpp"

#include <caf/test/dsl.hpp>

using namespace purgatory;
using namespace std::chrono_literals;
using engine::host_signal;

CAF_TEST(only throttling and failures of the host say something bad of it) {
  for (std::size_t i = 0; i < fetch_class_count; ++i) {
    const auto outcome = static_cast<fetch_class>(i);
    switch (outcome) {
    case fetch_class::internal:
    case fetch_class::policy:
    case fetch_class::redirected:
      CAF_CHECK(signal_of(outcome) == host_signal::none);
      break;
    case fetch_class::limited:
    case fetch_class::server:
    case fetch_class::timeout:
    case fetch_class::refused:
    case fetch_class::dns:
    case fetch_class::tls:
      CAF_CHECK(signal_of(outcome) > host_signal::good);
      CAF_CHECK(class_of(signal_of(outcome)) == outcome);
      break;
    default:
      CAF_CHECK(signal_of(outcome) == host_signal::good);
    }
  }
}

CAF_TEST(a block is stored in live time and never ends early) {
  const live_clock stored{time_point{10h}, 5000};
  const live_clock later{time_point{90h}, 5100};
  engine::host_image image;
  image.health = {host_signal::dns, 3, 17, stored.start + 300s + 1ns};
  image.learned_per_minute = 12;
  const auto record = to_record(host_key{"h"}, image, stored);
  CAF_CHECK_EQUAL(record.host, host_key{"h"});
  CAF_CHECK(record.reason == fetch_class::dns);
  CAF_CHECK_EQUAL(record.blocks, 3u);
  CAF_CHECK_EQUAL(record.failed_probes, 17u);
  CAF_CHECK_EQUAL(record.blocked_until, 5301);
  CAF_CHECK_EQUAL(record.learned_per_minute, 12u);
  const auto back = from_record(record, later);
  CAF_CHECK(back.health.blocked_until == later.start + 201s);
  image.health.blocked_until = back.health.blocked_until;
  CAF_CHECK(back == image);
}

CAF_TEST(a host without block stays one) {
  const live_clock at{time_point{10h}, 5000};
  engine::host_image image;
  image.health.failed_probes = 2;
  CAF_CHECK(from_record(to_record(host_key{"h"}, image, at), at) == image);
  // What makes no sense is no block.
  host_record odd;
  odd.reason = fetch_class::corrupt;
  odd.blocks = 3;
  odd.blocked_until = 9000;
  CAF_CHECK_EQUAL(from_record(odd, at).health.blocks, 0u);
}
