#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace purgatory {

/// What an announcement has to list to be ours (rules §2.2).
enum class listing : std::uint8_t {
  both,  ///< A clone URL and a relay of an own origin.
  relay, ///< A relay of an own origin.
  none,
};

/// What the shim answers for held kinds when the daemon can't be asked.
enum class shim_failure : std::uint8_t { closed, open };

enum class log_threshold : std::uint8_t { debug, info, warn, error };
enum class log_shape : std::uint8_t { text, json };

/// Whether a first filling is under way.
enum class sync_mode : std::uint8_t { automatic, on, off };

/// Limits of one host; nothing: as for all.
struct limits_of_host {
  std::optional<std::uint32_t> concurrent;
  std::optional<std::uint32_t> per_minute;
  std::optional<std::uint32_t> per_hour;
  std::optional<std::uint32_t> per_day;
  friend bool operator==(const limits_of_host&, const limits_of_host&)
    = default;
};

/// How the daemon runs. A value of this type is valid: it comes from the
/// defaults or from `read_config`. Meaning, range and default text of each
/// member are in the option table (options.cpp).
struct config {
  using milliseconds = std::chrono::milliseconds;
  using seconds = std::chrono::seconds;
  using minutes = std::chrono::minutes;
  using hours = std::chrono::hours;

  milliseconds sync_loop_interval{1000};
  std::uint32_t domain_concurrent = 5;
  std::uint32_t domain_rate_limit = 30; ///< Starts per sliding 60 s.
  milliseconds default_delay{180'000};
  milliseconds immediate_delay{500};
  milliseconds backoff_base{20'000};
  milliseconds backoff_cap{120'000};
  double jitter = 0.1; ///< Back-off is multiplied by 1 ± this.
  milliseconds expiry{minutes{30}};
  bool retry_enabled = true;
  std::uint32_t retry_max_attempts = 5;
  double retry_multiplier = 2;
  std::vector<milliseconds> retry_schedule{hours{1}, hours{4}, hours{12},
                                           hours{24}};
  milliseconds retry_horizon{hours{7 * 24}};
  sync_mode initial_sync = sync_mode::automatic;
  milliseconds initial_sync_expiry{hours{4}};
  milliseconds announcement_retention{hours{24}};
  milliseconds orphan_ttl{hours{7 * 24}};
  milliseconds tombstone_ttl{hours{30 * 24}};
  milliseconds max_future_skew{minutes{15}};
  milliseconds window_guard{200};
  std::uint32_t domain_hour_limit = 0;               ///< 0: none.
  std::uint32_t domain_day_limit = 0;                ///< 0: none.
  std::map<std::string, limits_of_host> host_limits; ///< By host key.
  std::vector<std::string> deny_hosts;               ///< Host keys.
  std::uint32_t prefix_concurrent = 20;
  milliseconds hedge_delay{seconds{10}};
  milliseconds host_block_down{minutes{30}}; ///< While something waits.
  milliseconds host_block_unknown{hours{2}}; ///< Names, certificates.

  std::string data_dir = "./data";
  std::string git_root = "./data/git";
  std::string socket = "./data/purgatoryd.sock";

  std::string relay_url; ///< Empty: a file takes what is released.
  std::vector<std::string> own_origins; ///< Canonical (git::parse_origin).
  listing require_listing = listing::none;
  milliseconds shim_deadline{250};
  shim_failure shim_fail = shim_failure::closed;

  std::uint32_t fetch_workers = 128;
  std::uint32_t unit_concurrent = 3;
  std::uint32_t git_io = 0; ///< Threads; 0: one for each core.

  milliseconds timeout_dns{seconds{5}};
  milliseconds timeout_connect{seconds{10}};
  milliseconds timeout_first_byte{seconds{90}};
  milliseconds timeout_discovery{seconds{30}};
  milliseconds timeout_relay_ok{seconds{10}};
  milliseconds timeout_job{minutes{10}};
  std::uint64_t min_rate = 1024; ///< Bytes per second, over 30 s.

  std::uint64_t max_pack_bytes = std::uint64_t{512} << 20U;
  std::uint64_t max_event_bytes = std::uint64_t{256} << 10U;
  std::uint32_t max_refs = 10'000;
  std::uint32_t max_unconfirmed = 4096;
  std::uint32_t max_redirects = 3;

  std::vector<std::uint16_t> allowed_ports{80, 443};
  bool allow_private = false;
  std::string proxy;
  std::string contact_url;

  log_threshold log_level = log_threshold::info;
  log_shape log_format = log_shape::text;

  friend bool operator==(const config&, const config&) = default;
};

/// The ranges of what can change while the daemon runs.
inline constexpr std::uint32_t max_domain_concurrent = 1000;
inline constexpr std::uint32_t max_domain_rate_limit = 100'000;
inline constexpr std::uint32_t max_domain_hour_limit = 10'000'000;
inline constexpr std::uint32_t max_domain_day_limit = 100'000'000;

} // namespace purgatory
