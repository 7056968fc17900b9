#pragma once

#include "libsync/git/advertisement.hpp"
#include "libsync/git/transfer_watch.hpp"
#include "libsync/types.hpp"

#include <cstdint>
#include <set>
#include <string>

namespace purgatory::io {

/// What the fetch client may do; defaults of rules §11.1.
struct fetch_settings {
  git::transfer_limits timeouts; ///< Of each HTTP request.
  duration discovery_timeout = std::chrono::seconds{30}; ///< All of the GETs.
  duration job_timeout = std::chrono::minutes{10};

  git::advertisement_limits advertisement;
  std::uint64_t max_pack_bytes = std::uint64_t{512} << 20U; ///< Per exchange.
  std::uint32_t max_pack_objects = 5'000'000;
  /// A larger object is refused where it needs memory: the child that indexes
  /// gets twice this, for a delta and its base.
  std::uint64_t max_object_bytes = std::uint64_t{256} << 20U;

  std::set<std::uint16_t> allowed_ports{80, 443};
  std::set<host_key> deny_hosts;
  /// Connect to loopback and private addresses too. For tests and the demo.
  bool allow_private = false;
  int max_redirects = 3; ///< On the same host, inside one job.

  /// Proxy URL as libcurl takes it; empty: none, whatever the environment
  /// says. With a proxy, checking addresses is the proxy's work.
  std::string proxy;
  std::string user_agent = "purgatoryd/0.1.0"; ///< One word.
  std::string contact_url; ///< Where an annoyed host finds us; may be empty.

  /// How long a host that did not speak v2 is asked in v0 only.
  duration v0_only_memory = std::chrono::hours{6};
};

} // namespace purgatory::io
