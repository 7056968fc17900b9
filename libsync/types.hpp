#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

/// Everything of the daemon lives here. Never a namespace `sync`: POSIX has a
/// function of that name.
namespace purgatory {

/// A moment on the monotonic clock. The core never reads a clock: whoever
/// calls it passes `now`.
using time_point = std::chrono::steady_clock::time_point;
using duration = std::chrono::steady_clock::duration;

/// Seconds since 1970-01-01T00:00Z, as in an event's `created_at` (NIP-01).
using unix_seconds = std::int64_t;

/// Seconds that the daemon has run, over all its runs: time in which it was
/// down does not count. Ages and due times are stored on this clock, so that
/// a restart neither forgets nor hurries anything (rules §7).
using live_seconds = std::int64_t;

/// A text with a meaning. Two of them never mix, whatever they hold.
template <class Tag>
struct strong_text {
  std::string value;

  strong_text() = default;
  explicit strong_text(std::string text) : value(std::move(text)) {}

  friend auto operator<=>(const strong_text&, const strong_text&) = default;
};

/// The `d` value under which events and git data belong together.
using identifier = strong_text<struct identifier_tag>;
/// A nostr public key: 64 lower-case hex digits.
using pubkey = strong_text<struct pubkey_tag>;
/// The id of a nostr event: 64 lower-case hex digits.
using event_id = strong_text<struct event_id_tag>;
/// A full git object id: 40 or 64 lower-case hex digits, not all zeros.
using oid = strong_text<struct oid_tag>;
/// The canonical host of a URL, without port (rules §4.2): what limits count.
using host_key = strong_text<struct host_key_tag>;
/// A clone URL in canonical form: equal texts mean the same place.
using remote_url = strong_text<struct remote_url_tag>;

/// Permission to run one request at one host: a slot and a start in the rate
/// window, taken in one step. The upper 32 bits are the serial of the throttle
/// that granted it, so leases of a dead throttle are told apart.
struct lease_id {
  std::uint64_t value = 0;
  friend auto operator<=>(const lease_id&, const lease_id&) = default;
};

/// The serial of the throttle that granted `lease`.
constexpr std::uint32_t throttle_serial(lease_id lease) {
  return static_cast<std::uint32_t>(lease.value >> 32U);
}

/// What is scheduled, fetched and verified as one: the repository of one owner
/// under one identifier.
struct unit_key {
  pubkey owner;
  identifier repo;
  friend auto operator<=>(const unit_key&, const unit_key&) = default;
};

/// How a host stands in the eyes of who waits for it.
struct host_view {
  std::optional<time_point> blocked_until; ///< No turn before.
  std::uint64_t failed_probes = 0;         ///< Ever; each is a real outcome.
  friend bool operator==(const host_view&, const host_view&) = default;
};

/// The bare repository kept for one (owner, identifier).
struct tenant {
  pubkey owner;
  identifier repo;
  friend auto operator<=>(const tenant&, const tenant&) = default;
};

/// Turn of service at a throttle. Fresh and retry are served in turn; debt
/// only when both are empty (rules §8.3).
enum class lane : std::uint8_t { fresh, retry, debt };

/// How a fetch ended, sorted by what has to happen next (rules §8.4). It comes
/// from our own code, never from a server's text.
enum class fetch_class : std::uint8_t {
  ok,          ///< At least one wanted object came and was verified.
  partial,     ///< More exchanges needed than one lease allows.
  redirected,  ///< Another host has it; ask there with a lease of its own.
  not_here,    ///< Server fine, objects absent.
  no_repo,     ///< 404 or 410.
  auth,        ///< 401 or 403: we have no credentials and never prompt.
  limited,     ///< 429, or 503 with Retry-After.
  server,      ///< Other 5xx, or an ERR packet.
  timeout,     ///< First byte, minimum rate or deadline missed.
  refused,     ///< Connection refused, unreachable, or connect time-out.
  dns,         ///< No such name.
  tls,         ///< Handshake or certificate failed.
  policy,      ///< Address, port, scheme or redirect that we do not follow.
  corrupt,     ///< Bad pack, bad object, or history not connected.
  oversize,    ///< Over one of our byte or count budgets.
  unsupported, ///< Dumb HTTP, sha256 remote, or no git answer at all.
  internal,    ///< Our own failure or cancel; says nothing about the URL.
};

/// Number of values in `fetch_class`.
inline constexpr std::size_t fetch_class_count = 17;

/// Lower-case name of a class, as used in logs and metric labels.
const char* to_string(fetch_class value);
const char* to_string(lane value);

/// True for an outcome that says something about the URL (rules §1): all
/// classes but redirected, partial and internal.
bool is_real_outcome(fetch_class value);

/// The coordinate-like text of a unit or tenant, for logs: `<owner>/<d>`.
std::string to_string(const unit_key& unit);
std::string to_string(const tenant& repository);

} // namespace purgatory

template <class Tag>
struct std::hash<purgatory::strong_text<Tag>> {
  std::size_t operator()(const purgatory::strong_text<Tag>& text) const {
    return std::hash<std::string>{}(text.value);
  }
};

template <>
struct std::hash<purgatory::lease_id> {
  std::size_t operator()(purgatory::lease_id lease) const {
    return std::hash<std::uint64_t>{}(lease.value);
  }
};

template <>
struct std::hash<purgatory::unit_key> {
  std::size_t operator()(const purgatory::unit_key& unit) const {
    const std::hash<std::string> text;
    return text(unit.owner.value) * 31U + text(unit.repo.value);
  }
};
