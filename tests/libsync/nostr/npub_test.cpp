#define CAF_SUITE npub

#include "libsync/nostr/npub.hpp"

#include <caf/test/dsl.hpp>

#include <utility>

using namespace purgatory;
using namespace purgatory::nostr;

namespace {

// From NIP-19.
const std::pair<const char*, const char*> vectors[] = {
  {"7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e",
   "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg"},
  {"3bf0c63fcb93463407af97a5e5ee64fa883d107ef9e558472c4eb9aaaefa459d",
   "npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsyjh6w6"},
};

const std::string good
  = "npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsyjh6w6";

} // namespace

CAF_TEST(keys_and_npub_texts_translate_both_ways) {
  for (const auto& [hex, npub] : vectors) {
    CAF_CHECK_EQUAL(to_npub(pubkey{hex}), npub);
    CAF_CHECK(parse_npub(npub) == pubkey{hex});
  }
}

CAF_TEST(an_npub_in_capitals_is_the_same_key) {
  std::string shouted = good;
  for (auto& letter : shouted)
    letter = static_cast<char>(std::toupper(letter));
  CAF_CHECK(parse_npub(shouted) == parse_npub(good));
}

CAF_TEST(every_key_survives_the_way_there_and_back) {
  for (int digit = 0; digit < 16; ++digit) {
    const pubkey key{std::string(64, "0123456789abcdef"[digit])};
    CAF_CHECK(parse_npub(to_npub(key)) == key);
  }
}

CAF_TEST(each_single_wrong_letter_is_noticed) {
  for (std::size_t i = 0; i < good.size(); ++i)
    for (const char letter :
         std::string_view{"qpzry9x8gf2tvdw0s3jn54khce6mua7l1bio"}) {
      auto text = good;
      text[i] = letter;
      CAF_CHECK_EQUAL(parse_npub(text).has_value(), text == good);
    }
}

CAF_TEST(other_texts_are_no_npub) {
  auto mixed = good;
  mixed[8] = 'V';
  auto swapped = good;
  std::swap(swapped[20], swapped[21]);
  const std::string cases[] = {
    "",
    "npub1",
    mixed,
    swapped,
    good.substr(1),
    good + "q",
    " " + good.substr(1),
    good.substr(0, good.size() - 1),
    // A secret key and a note id are no public keys (NIP-19).
    "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5",
    // BIP-173: invalid checksum, separator, length, empty parts.
    "split1checkupstagehandshakeupstreamerranterredcaperredlc445v",
    "pzry9x0s0muk",
    "1pzry9x0s0muk",
    "x1b4n0q5v",
    "li1dgmt3",
    "A1G7SGD8",
    "10a06t8",
    "1qzzfhee",
    // What the length hides: valid BIP-173 texts of other prefixes.
    "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw",
    std::string(63, 'q'),
    std::string(63, '\xff'),
    std::string(63, '\0'),
  };
  for (const auto& text : cases)
    CAF_CHECK(!parse_npub(text));
}

CAF_TEST(right_checksums_do_not_excuse_other_faults) {
  // The same key with BIP-350's checksum, with a padding bit set, and with
  // another prefix; each made by another implementation.
  for (const auto* text :
       {"npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkws3w8ktc",
        "npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkw3eyr0ng",
        "mpub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsjkpll9"})
    CAF_CHECK(!parse_npub(text));
}

CAF_TEST(what_is_no_key_has_no_npub) {
  CAF_CHECK(to_npub(pubkey{"not hex"}).empty());
}
