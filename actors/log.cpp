#include "actors/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <memory>
#include <utility>

namespace purgatory::log {

namespace {

spdlog::level::level_enum to_spdlog(level value) {
  switch (value) {
  case level::debug:
    return spdlog::level::debug;
  case level::info:
    return spdlog::level::info;
  case level::warn:
    return spdlog::level::warn;
  case level::error:
    break;
  }
  return spdlog::level::err;
}

spdlog::sink_ptr make_sink(std::ostream* out) {
  if (out == nullptr)
    return std::make_shared<spdlog::sinks::stderr_sink_mt>();
  return std::make_shared<spdlog::sinks::ostream_sink_mt>(*out, true);
}

struct backend {
  format shape = format::text;
  std::unique_ptr<spdlog::logger> logger;

  explicit backend(const settings& wanted) : shape(wanted.shape) {
    const auto* pattern
      = shape == format::json
          ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","message":%v})"
          : "%Y-%m-%dT%H:%M:%S.%eZ %l %v";
    logger
      = std::make_unique<spdlog::logger>("purgatoryd", make_sink(wanted.out));
    logger->set_formatter(std::make_unique<spdlog::pattern_formatter>(
      pattern, spdlog::pattern_time_type::utc));
    logger->set_level(to_spdlog(wanted.threshold));
  }
};

backend& current() {
  static backend instance{settings{}};
  return instance;
}

/// Length of the well-formed, printable UTF-8 character at the start of
/// `text`, or 0 (RFC 3629; C0 and C1 controls and U+2028/9 do not print).
std::size_t printable_prefix(std::string_view text) {
  const auto at = [text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows
    = [&at](std::size_t i) { return (at(i) & 0xC0U) == 0x80U; };
  const auto lead = at(0);
  if (lead < 0x80)
    return lead >= 0x20 && lead != 0x7F ? 1 : 0;
  if (lead >= 0xC2 && lead <= 0xDF)
    return follows(1) && !(lead == 0xC2 && at(1) < 0xA0) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const bool overlong = lead == 0xE0 && at(1) < 0xA0;
    const bool surrogate = lead == 0xED && at(1) >= 0xA0;
    const bool separator
      = lead == 0xE2 && at(1) == 0x80 && (at(2) == 0xA8 || at(2) == 0xA9);
    const bool bad = overlong || surrogate || separator;
    return follows(1) && follows(2) && !bad ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const bool overlong = lead == 0xF0 && at(1) < 0x90;
    const bool beyond = lead == 0xF4 && at(1) >= 0x90;
    const bool bad = overlong || beyond;
    return follows(1) && follows(2) && follows(3) && !bad ? 4 : 0;
  }
  return 0;
}

void append_escape(std::string& out, char c, format shape) {
  static constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (c == '\n') {
    out += "\\n";
    return;
  }
  if (shape == format::json && byte >= 0x80) {
    out += "\\ufffd";
    return;
  }
  out += shape == format::json ? "\\u00" : "\\x";
  out += digits[byte >> 4U];
  out += digits[byte & 0xFU];
}

void append_value(std::string& out, const field& fact, format shape) {
  if (const auto* text = std::get_if<std::string_view>(&fact.value))
    out += quoted(*text, shape);
  else if (const auto* number = std::get_if<std::int64_t>(&fact.value))
    out += std::to_string(*number);
  else
    out += std::to_string(std::get<std::uint64_t>(fact.value));
}

} // namespace

void configure(const settings& wanted) {
  current() = backend{wanted};
}

void set_level(level threshold) {
  current().logger->set_level(to_spdlog(threshold));
}

bool enabled(level wanted) {
  return current().logger->should_log(to_spdlog(wanted));
}

void write(level how, std::string_view text, fields facts) {
  if (!enabled(how))
    return;
  const auto shape = current().shape;
  const bool json = shape == format::json;
  std::string line = json ? quoted(text, shape) : std::string{text};
  for (const auto& fact : facts) {
    line += json ? ",\"" : " ";
    line += fact.key;
    line += json ? "\":" : "=";
    append_value(line, fact, shape);
  }
  current().logger->log(to_spdlog(how), spdlog::string_view_t{line});
}

std::string quoted(std::string_view value, format shape) {
  std::string out = "\"";
  while (!value.empty()) {
    const auto whole = printable_prefix(value);
    if (value[0] == '"' || value[0] == '\\')
      out += '\\';
    if (whole == 0)
      append_escape(out, value[0], shape);
    else
      out += value.substr(0, whole);
    value.remove_prefix(whole == 0 ? 1 : whole);
  }
  out += '"';
  return out;
}

} // namespace purgatory::log
