#pragma once

#include "libsync/option_values.hpp"
#include "libsync/options.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

/// Makers of `option_setter`s: parse, check the range, assign.
namespace purgatory::setters {

/// `needs <what>, not "<text>"`.
std::string needs(std::string_view what, std::string_view text);

/// A whole number from `min` to `max`.
template <class Number>
option_setter whole(Number config::*member, Number min, Number max) {
  return
    [=](config& target, std::string_view text) -> std::optional<std::string> {
      const auto value = parse_whole(text);
      if (!value || *value < min || *value > max)
        return needs("a whole number from " + std::to_string(min) + " to "
                       + std::to_string(max),
                     text);
      target.*member = static_cast<Number>(*value);
      return std::nullopt;
    };
}

/// A size from `min` to `max` bytes.
option_setter size(std::uint64_t config::*member, std::uint64_t min,
                   std::uint64_t max);

/// A duration from `min` to `max`.
option_setter duration(std::chrono::milliseconds config::*member,
                       std::chrono::milliseconds min,
                       std::chrono::milliseconds max);

/// A plain number of `unit`s, from none or one of them to `max`.
option_setter count_of(std::chrono::milliseconds unit,
                       std::chrono::milliseconds config::*member,
                       std::uint64_t min, std::uint64_t max);

option_setter fraction(double config::*member, double max);

/// A decimal number from `min` to `max`.
option_setter factor(double config::*member, double min, double max);

/// Durations from `min` to `max`, each longer than the one before.
option_setter schedule(std::vector<std::chrono::milliseconds> config::*member,
                       std::chrono::milliseconds min,
                       std::chrono::milliseconds max);

/// Two durations from `min` to `max`.
option_setter span_pair(std::chrono::milliseconds config::*first,
                        std::chrono::milliseconds config::*second,
                        std::chrono::milliseconds min,
                        std::chrono::milliseconds max);

/// Canonical host keys.
option_setter hosts(std::vector<std::string> config::*member);

/// `host=concurrent/minute/hour/day`; each host once.
option_setter
host_limits(std::map<std::string, limits_of_host> config::*member);

option_setter toggle(bool config::*member);

/// One of some words.
template <class Enum>
option_setter choice(Enum config::*member,
                     std::vector<std::pair<std::string, Enum>> words) {
  return
    [=](config& target, std::string_view text) -> std::optional<std::string> {
      std::string names;
      for (const auto& [word, value] : words) {
        if (word == text) {
          target.*member = value;
          return std::nullopt;
        }
        names += (names.empty() ? "" : ", ") + word;
      }
      return needs("one of " + names, text);
    };
}

/// A path that is not empty and holds no control character.
option_setter path(std::string config::*member);

/// Empty, or a URL that starts with one of `prefixes` and goes on.
option_setter url(std::string config::*member,
                  std::vector<std::string> prefixes);

option_setter origins(std::vector<std::string> config::*member);

option_setter ports(std::vector<std::uint16_t> config::*member);

} // namespace purgatory::setters
