#pragma once

#include "libsync/engine/host_schedule.hpp"
#include "libsync/git/plan_settings.hpp"
#include "libsync/journal.hpp"
#include "libsync/types.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// A scripted world for the simulator: who serves what, who says what, what
/// goes wrong and when. Plain values; docs/simulation.md describes their JSON.
namespace purgatory::sim {

using milliseconds = std::chrono::milliseconds;

/// A stretch of time in which something does not work; times count from the
/// begin of the simulation.
struct outage {
  milliseconds from{0};
  milliseconds to{0}; ///< Exclusive.
  fetch_class as = fetch_class::refused;
  friend bool operator==(const outage&, const outage&) = default;
};

/// From `from` on the host bears `per_minute` requests (0: any number) and
/// answers 429 to more; with Retry-After if `tells`.
struct hidden_limit {
  milliseconds from{0};
  std::uint32_t per_minute = 0;
  bool tells = false;
  friend bool operator==(const hidden_limit&, const hidden_limit&) = default;
};

/// A share of the jobs ends wrongly, whatever the host has.
struct wrong_answer {
  double share = 0; ///< 0 to 1.
  fetch_class as = fetch_class::timeout;
  friend bool operator==(const wrong_answer&, const wrong_answer&) = default;
};

/// A git server. A job takes min + an exponential time, `mean` on average,
/// cut at `max`.
struct host_model {
  milliseconds latency_min{200};
  milliseconds latency_mean{1000};
  milliseconds latency_max{60'000};
  std::vector<outage> down;
  std::vector<hidden_limit> limits;
  std::vector<wrong_answer> errors;
  std::uint32_t objects_per_job = 0; ///< Then the job is *partial*; 0: all.
  std::string redirect_to;           ///< Another host; empty: serves itself.
  friend bool operator==(const host_model&, const host_model&) = default;
};

/// Our relay. While it is down a release gets no answer.
struct relay_model {
  milliseconds latency{50};
  std::vector<outage> down;         ///< `as` means nothing here.
  std::vector<std::string> refuses; ///< Names of events.
  friend bool operator==(const relay_model&, const relay_model&) = default;
};

/// A repository at a host and what it holds, from `at` on. Several of one URL
/// add up.
struct content {
  std::string url;
  milliseconds at{0};
  std::vector<std::string> objects; ///< Names, or 40 hex digits.
  friend bool operator==(const content&, const content&) = default;
};

// -- what happens -------------------------------------------------------------

/// Events get their `created_at` from the moment at which they are offered,
/// moved by `created`; authors and events go by names.
struct announce {
  std::string name;
  std::string author;
  std::string repository;
  std::vector<std::string> clone;
  std::vector<std::string> maintainers;
  provenance from = provenance::sync;
  std::chrono::seconds created{0};
  friend bool operator==(const announce&, const announce&) = default;
};

struct push_state {
  std::string name;
  std::string author;
  std::string repository;
  std::map<std::string, std::string> refs; ///< Ref name, object.
  provenance from = provenance::sync;
  std::chrono::seconds created{0};
  friend bool operator==(const push_state&, const push_state&) = default;
};

struct propose {
  std::string name;
  std::string author;
  std::string owner; ///< Of the repository that it is for.
  std::string repository;
  std::string tip;
  std::vector<std::string> clone;
  provenance from = provenance::sync;
  std::chrono::seconds created{0};
  friend bool operator==(const propose&, const propose&) = default;
};

/// Takes back earlier events of the same author, by name.
struct take_back {
  std::string author;
  std::string repository;
  std::vector<std::string> events;
  friend bool operator==(const take_back&, const take_back&) = default;
};

/// The same event is offered once more.
struct repeat {
  std::string event;
  provenance from = provenance::sync;
  friend bool operator==(const repeat&, const repeat&) = default;
};

/// Somebody pushes to our git server.
struct push {
  std::string owner;
  std::string repository;
  std::vector<std::string> objects;
  friend bool operator==(const push&, const push&) = default;
};

/// The operator changes limits: of one host, or of all without own limits.
struct configure {
  std::string host;
  engine::start_limits limits;
  friend bool operator==(const configure&, const configure&) = default;
};

/// The operator says `retry`.
struct operator_retry {
  friend bool operator==(const operator_retry&, const operator_retry&)
    = default;
};

/// The wall clock jumps.
struct set_clock {
  std::chrono::seconds by{0};
  friend bool operator==(const set_clock&, const set_clock&) = default;
};

/// The process ends: `after_steps` steps later, for `down`.
struct crash {
  milliseconds down{1000};
  std::uint32_t after_steps = 0;
  bool clean = false; ///< Stopped by the operator, with all records written.
  friend bool operator==(const crash&, const crash&) = default;
};

using action = std::variant<announce, push_state, propose, take_back, repeat,
                            push, configure, operator_retry, set_clock, crash>;

struct happening {
  milliseconds at{0};
  action what;
  friend bool operator==(const happening&, const happening&) = default;
};

/// How the daemon is configured.
struct daemon_settings {
  engine::start_limits limits;
  std::map<std::string, engine::start_limits> host_limits;
  std::uint32_t fetch_workers = 128;
  milliseconds default_delay{180'000};
  milliseconds immediate_delay{500};
  milliseconds expiry{30 * 60'000};
  milliseconds horizon{7 * 24 * 3600 * std::int64_t{1000}};
  std::uint32_t max_attempts = 5;
  bool retry_enabled = true;
  std::uint32_t unit_concurrent = 3;
  double jitter = 0.1;
  milliseconds initial_sync{0};  ///< Events of that time get the long window.
  milliseconds journal_delay{2}; ///< One commit.
  milliseconds git_delay{1};     ///< One step on a repository.
  friend bool operator==(const daemon_settings&, const daemon_settings&)
    = default;
};

struct world {
  std::uint64_t seed = 1;
  milliseconds length{24 * 3600 * std::int64_t{1000}};
  /// From here on every host is up, answers rightly and no process dies:
  /// nothing reachable may be missing at the end (liveness mode).
  std::optional<milliseconds> faults_end;
  daemon_settings daemon;
  relay_model relay;
  std::map<std::string, host_model> hosts; ///< By canonical name.
  std::vector<content> contents;
  std::vector<happening> script; ///< In order of `at`.
  friend bool operator==(const world&, const world&) = default;
};

/// The settings that the plans get.
git::plan_settings plan_settings_of(const daemon_settings& settings);

} // namespace purgatory::sim
