#include "app/io/crypto/schnorr.hpp"

#include "libsync/hex.hpp"

#include <secp256k1.h>
#include <secp256k1_extrakeys.h>
#include <secp256k1_schnorrsig.h>
#include <sys/random.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace purgatory::io {

namespace {

class schnorr_verifier : public signature_verifier {
public:
  bool verify(const pubkey& key, const event_id& digest,
              const std::string& sig) const override {
    std::array<std::uint8_t, 32> key_bytes{};
    std::array<std::uint8_t, 32> message{};
    std::array<std::uint8_t, 64> signature{};
    if (!from_hex(key.value, key_bytes) || !from_hex(digest.value, message)
        || !from_hex(sig, signature))
      return false;
    // The static context is read-only, hence safe to share.
    secp256k1_xonly_pubkey point;
    return secp256k1_xonly_pubkey_parse(secp256k1_context_static, &point,
                                        key_bytes.data())
             == 1
           && secp256k1_schnorrsig_verify(secp256k1_context_static,
                                          signature.data(), message.data(),
                                          message.size(), &point)
                == 1;
  }
};

/// The context that keys are made with; immutable once made.
const secp256k1_context* signing_context() {
  struct destroy {
    void operator()(secp256k1_context* context) const {
      secp256k1_context_destroy(context);
    }
  };
  static const std::unique_ptr<secp256k1_context, destroy> context{
    secp256k1_context_create(SECP256K1_CONTEXT_NONE)};
  return context.get();
}

secp256k1_keypair make_keypair(const std::array<std::uint8_t, 32>& secret) {
  secp256k1_keypair pair;
  if (secp256k1_keypair_create(signing_context(), &pair, secret.data()) != 1)
    throw std::logic_error("secret key out of range");
  return pair;
}

bool is_valid_secret(const std::array<std::uint8_t, 32>& secret) {
  return secp256k1_ec_seckey_verify(signing_context(), secret.data()) == 1;
}

void fill_random(std::array<std::uint8_t, 32>& bytes) {
  // Up to 256 bytes come whole or not at all (getrandom(2)).
  while (getrandom(bytes.data(), bytes.size(), 0)
         != static_cast<ssize_t>(bytes.size()))
    if (errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "getrandom");
}

} // namespace

std::unique_ptr<signature_verifier> make_schnorr_verifier() {
  return std::make_unique<schnorr_verifier>();
}

schnorr_key schnorr_key::generate() {
  secret_bytes secret{};
  do
    fill_random(secret);
  while (!is_valid_secret(secret));
  return schnorr_key{secret};
}

std::optional<schnorr_key> schnorr_key::from_hex(std::string_view hex) {
  secret_bytes secret{};
  if (!purgatory::from_hex(hex, secret) || !is_valid_secret(secret))
    return std::nullopt;
  return schnorr_key{secret};
}

pubkey schnorr_key::public_key() const {
  const auto pair = make_keypair(secret_);
  secp256k1_xonly_pubkey point;
  std::array<std::uint8_t, 32> bytes{};
  if (secp256k1_keypair_xonly_pub(signing_context(), &point, nullptr, &pair)
        != 1
      || secp256k1_xonly_pubkey_serialize(signing_context(), bytes.data(),
                                          &point)
           != 1)
    throw std::logic_error("no public key for a valid secret key");
  return pubkey{to_hex(bytes)};
}

std::string schnorr_key::secret_hex() const {
  return to_hex(secret_);
}

std::string schnorr_key::sign(const event_id& digest) const {
  std::array<std::uint8_t, 32> message{};
  if (!purgatory::from_hex(digest.value, message))
    throw std::invalid_argument("digest is not 64 hex digits");
  const auto pair = make_keypair(secret_);
  std::array<std::uint8_t, 64> signature{};
  if (secp256k1_schnorrsig_sign32(signing_context(), signature.data(),
                                  message.data(), &pair, nullptr)
      != 1)
    throw std::logic_error("signing failed");
  return to_hex(signature);
}

} // namespace purgatory::io
