#pragma once

#include "libsync/nostr/event.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace purgatory::nostr {

/// What becomes of U+007F: one relay family hashes and sends it escaped.
enum class del_form : bool { verbatim, escaped };

/// Appends `text`, valid UTF-8, as a JSON string. Escapes are those that
/// everybody hashes with: the seven of NIP-01 and lower-case `\u00xx` for the
/// other control characters; all else stands verbatim.
void append_json_string(std::string& out, std::string_view text,
                        del_form del = del_form::verbatim);

/// Appends `tags` as a JSON array of arrays of strings, without spaces.
void append_json_tags(std::string& out, const std::vector<tag>& tags,
                      del_form del = del_form::verbatim);

} // namespace purgatory::nostr
