#pragma once

#include "libsync/git/admission.hpp"
#include "libsync/types.hpp"

#include <cstdint>
#include <string_view>

/// What a relay's answer to EVENT means for a release (rules §6.7).
namespace purgatory::nostr {

/// What to do next with a published event.
enum class publish_step : std::uint8_t {
  read_back,  ///< Accepted or already there: ask for it by id.
  superseded, ///< Final.
  deleted,    ///< Final.
  refused,    ///< Final: policy, size or form; asking again changes nothing.
  wait,       ///< Too many at once: again after `rate_limited_wait`.
  retry,      ///< The relay is in trouble: again with back-off.
};

/// Sorts an OK by its flag and the word before the first colon of `message`
/// (NIP-01; `auth-required` of NIP-42). Accepted with the word `purgatory`
/// means that our own hook did not recognise the release: retry.
publish_step classify_ok(bool accepted, std::string_view message);

/// How long to leave a relay alone that said `rate-limited`.
inline constexpr duration rate_limited_wait = std::chrono::seconds{65};

/// Wait after the `failures`-th failure in a row (1 is the first): 5 s doubling
/// up to 1 h (rules §6.7).
duration retry_delay(std::uint32_t failures);

/// Wait before connecting again after `losses` connections in a row that
/// brought nothing: 1 s, then as `retry_delay`.
duration reconnect_delay(std::uint32_t losses);

const char* to_string(publish_step value);

} // namespace purgatory::nostr
