#pragma once

#include "libsync/sim/generate.hpp"

#include <string>
#include <vector>

namespace purgatory::sim {

/// Builds one random world; each function adds one kind of thing.
class random_maker {
public:
  explicit random_maker(const random_options& options)
    : options_(options), dice_(options.seed) {}

  world make();

private:
  struct unit {
    std::string owner;
    std::string repo;
    std::vector<std::string> urls;
  };

  [[nodiscard]] milliseconds last_fault() const {
    return made_.faults_end.value_or(made_.length);
  }

  // random_world.cpp
  void make_daemon();
  outage make_outage(milliseconds least, milliseconds most);
  void make_host(const std::string& name);
  void make_lies(host_model& host);
  void make_troubles();

  // random_units.cpp
  std::string any_host();
  void say(milliseconds at, action what);
  provenance any_provenance();
  milliseconds any_time();
  void make_unit(std::size_t number);
  void make_state(std::size_t number, std::uint64_t version, milliseconds at);
  void place(const unit& of, const std::vector<std::string>& objects,
             milliseconds when);
  void make_pull_request(std::size_t number, milliseconds at);
  void make_change(std::size_t number, announce said, milliseconds at);

  random_options options_;
  dice dice_;
  world made_;
  std::vector<unit> units_;
};

/// Such as `host3`.
std::string numbered(const std::string& word, std::size_t number);

} // namespace purgatory::sim
