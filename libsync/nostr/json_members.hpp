#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace purgatory::nostr {

/// Walks the members of the JSON object that `text` holds, without building
/// values: calls `visit(key, value)` with each value's exact text, in order.
/// Keys are unescaped. Only structure is checked: a value's own text may still
/// be no JSON. Linear in time, no recursion, no memory beyond one key.
///
/// False when `text` is not one whole object, or when `visit` returned false.
/// Members before the fault have been visited; a last value that does not end
/// is visited with the rest of `text`, so that a cut line still yields its id.
bool visit_members(std::string_view text,
                   const std::function<bool(const std::string& key,
                                            std::string_view value)>& visit);

/// The unescaped text of a JSON string; nothing for any other JSON text.
std::optional<std::string> parse_json_string(std::string_view text);

} // namespace purgatory::nostr
