#pragma once

#include "tests/support/eventually.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_dir.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace purgatory::test {

/// One of the relays of tests/peers/nostr-relay, on a free port of loopback.
class relay_process {
public:
  explicit relay_process(std::vector<std::string> script_and_arguments)
    : arguments_(std::move(script_and_arguments)) {
    start();
  }

  std::string url() const { return "ws://127.0.0.1:" + port_; }

  /// All that it has printed, of all its lives.
  std::string output() const {
    std::ifstream file{log_};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

  /// How often it printed `line`.
  std::size_t count(const std::string& line) const {
    const auto text = output();
    std::size_t result = 0;
    for (auto at = text.find(line); at != std::string::npos;
         at = text.find(line, at + 1))
      ++result;
    return result;
  }

  void kill() { process_.reset(); }

  /// Starts it again on the same port, if its script takes one.
  void restart() {
    kill();
    arguments_.push_back(port_);
    start();
  }

private:
  void start() {
    const std::filesystem::path folder{PURGATORY_PEERS "/nostr-relay"};
    if (!std::filesystem::exists(folder / "node_modules"))
      throw std::runtime_error("no node_modules in " + folder.string()
                               + ": run tools/setup test (npm ci)");
    const auto lives = count("listening ");
    command what;
    what.argv = {"node"};
    what.argv.insert(what.argv.end(), arguments_.begin(), arguments_.end());
    what.directory = folder;
    process_.emplace(what, log_);
    std::string text;
    // The line must be whole before the port in it is believed.
    if (!eventually([&] {
          text = output();
          return count("listening ") > lives && text.ends_with('\n');
        }))
      throw std::runtime_error("relay does not start: " + text);
    const auto from = text.rfind("listening ") + 10;
    port_ = text.substr(from, text.find('\n', from) - from);
  }

  temp_dir dir_;
  std::filesystem::path log_ = dir_ / "relay.log";
  std::vector<std::string> arguments_;
  std::optional<background_process> process_;
  std::string port_;
};

} // namespace purgatory::test
