#pragma once

#include "libsync/ports.hpp"
#include "libsync/types.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace purgatory::io {

/// Checks BIP-340 signatures with libsecp256k1. Holds no state.
std::unique_ptr<signature_verifier> make_schnorr_verifier();

/// A secret key that signs events: for tools and tests, the daemon itself
/// signs nothing.
class schnorr_key {
public:
  /// A fresh key from the kernel's random source. Throws std::system_error
  /// when that fails.
  static schnorr_key generate();

  /// The key of 64 hex digits; nothing unless 0 < key < curve order.
  static std::optional<schnorr_key> from_hex(std::string_view hex);

  pubkey public_key() const;
  std::string secret_hex() const;

  /// BIP-340 signature of the 32 bytes whose hex is `digest`, as 128 hex
  /// digits. Same key and digest, same signature: auxiliary data is all zero.
  /// Throws std::invalid_argument when `digest` is no such hex.
  std::string sign(const event_id& digest) const;

private:
  using secret_bytes = std::array<std::uint8_t, 32>;

  explicit schnorr_key(const secret_bytes& secret) : secret_(secret) {}

  secret_bytes secret_;
};

} // namespace purgatory::io
