#pragma once

#include "libsync/types.hpp"

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>
#include <variant>

/// What the daemon tells its operator: a fixed text plus key/value fields, one
/// line per fact (rules §11.3). Thread-safe, except `configure`.
namespace purgatory::log {

enum class level : std::uint8_t { debug, info, warn, error };

/// text: `2026-01-31T12:00:00.000Z warning Fetch failed url="https://x/r.git"`;
/// json: one object per line with time, level, message and the fields.
enum class format : std::uint8_t { text, json };

/// One fact beside the text. Views only: valid until the end of the call.
struct field {
  std::string_view key; ///< From our own code: letters, digits, `_`.
  std::variant<std::string_view, std::int64_t, std::uint64_t> value;

  field(std::string_view name, std::string_view text)
    : key(name), value(text) {}
  field(std::string_view name, const char* text)
    : key(name), value(std::string_view{text}) {}
  field(std::string_view name, const std::string& text)
    : key(name), value(std::string_view{text}) {}
  template <class Tag>
  field(std::string_view name, const strong_text<Tag>& text)
    : key(name), value(std::string_view{text.value}) {}
  template <std::signed_integral T>
  field(std::string_view name, T number)
    : key(name), value(std::int64_t{number}) {}
  template <std::unsigned_integral T>
  field(std::string_view name, T number)
    : key(name), value(std::uint64_t{number}) {}
};

using fields = std::initializer_list<field>;

struct settings {
  level threshold = level::info;
  format shape = format::text;
  std::ostream* out = nullptr; ///< Nothing: stderr. Must outlive the logging.
};

/// Sets everything; to be called before other threads log.
void configure(const settings& wanted);

/// Changes the threshold at any time.
void set_level(level threshold);

/// True if a line of that level would be written.
bool enabled(level wanted);

void write(level how, std::string_view text, fields facts);

inline void debug(std::string_view text, fields facts = {}) {
  write(level::debug, text, facts);
}
inline void info(std::string_view text, fields facts = {}) {
  write(level::info, text, facts);
}
inline void warn(std::string_view text, fields facts = {}) {
  write(level::warn, text, facts);
}
inline void error(std::string_view text, fields facts = {}) {
  write(level::error, text, facts);
}

/// `value` in double quotes, safe to print on one line whatever it holds:
/// quotes, backslashes, control characters and bytes that are no UTF-8 are
/// escaped. The json form is a valid JSON string.
std::string quoted(std::string_view value, format shape = format::text);

} // namespace purgatory::log
