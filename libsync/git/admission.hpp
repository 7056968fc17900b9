#pragma once

#include <cstdint>
#include <string>

namespace purgatory {

/// What the relay shall do with an event.
enum class action : std::uint8_t {
  accept, ///< Store and serve it.
  hold,   ///< Answer OK true with the message, neither store nor serve.
  reject, ///< Answer OK false with the message.
};

const char* to_string(action value);

/// The decision about one offered event.
struct admission {
  action what = action::reject;
  std::string message; ///< Exact text for the client; may be empty on accept.
};

/// The relay's final word on a release.
enum class publish_outcome : std::uint8_t {
  released,   ///< Served: confirmed by reading it back.
  superseded, ///< The relay serves a newer one of that author.
  deleted,    ///< The relay knows a deletion.
  refused,    ///< The relay will not have it.
};

const char* to_string(publish_outcome value);

/// The exact texts of rules §2.1: clients and tests compare them.
namespace answer_text {

inline constexpr const char* held
  = "purgatory: won't be served until git data arrives";
inline constexpr const char* orphan
  = "purgatory: won't be served until its repository announcement arrives";
inline constexpr const char* in_purgatory = "duplicate: in purgatory";
inline constexpr const char* already_have
  = "duplicate: already have this event";
inline constexpr const char* have_newer = "duplicate: have newer event";
inline constexpr const char* deleted = "blocked: deleted by its author";
inline constexpr const char* previously_expired
  = "invalid: previously expired from purgatory without git data";
inline constexpr const char* refused_by_relay
  = "blocked: our relay refused this event";
inline constexpr const char* not_listed
  = "blocked: announcement does not list this service in clone and relays";
inline constexpr const char* too_far_ahead
  = "invalid: created_at is more than a day ahead";
inline constexpr const char* no_reference
  = "invalid: PR event must reference an accepted repository or accepted event";
inline constexpr const char* quota_states
  = "rate-limited: purgatory quota: states of one author";
inline constexpr const char* quota_entries
  = "rate-limited: purgatory quota: entries of one repository";
inline constexpr const char* quota_orphans
  = "rate-limited: purgatory quota: orphans of one author";
inline constexpr const char* quota_pull_requests
  = "rate-limited: purgatory quota: pull requests of one author";

} // namespace answer_text

} // namespace purgatory
