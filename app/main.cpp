#include "actors/log.hpp"
#include "app/options.hpp"
#include "app/settings_of.hpp"
#include "app/simulate.hpp"
#include "app/wiring.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

extern char** environ;

namespace {

using namespace purgatory;

constexpr int exit_ok = 0;
constexpr int exit_failed = 1;
constexpr int exit_usage = 2;

constexpr const char* usage
  = "Usage: purgatoryd serve [OPTION…]            run the daemon\n"
    "       purgatoryd submit [OPTION…] [FILE…]   offer events, one JSON a "
    "line;\n"
    "                                             without FILE from stdin\n"
    "       purgatoryd strfry-plugin [OPTION…]    write policy plugin of "
    "strfry\n"
    "       purgatoryd simulate [OPTION…] [FILE]  a scripted world on a "
    "virtual clock\n"
    "       purgatoryd --help | --version\n";

/// Blocks the stop signals in this thread and all that it starts later.
sigset_t block_stop_signals() {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigaddset(&stop, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  return stop;
}

int serve(const config& settings) {
  const auto stop_signals = block_stop_signals();
  std::signal(SIGPIPE, SIG_IGN);
  log::configure(log_settings_of(settings));
  daemon_process running{settings};
  log::info("Ready", {{"socket", settings.socket},
                      {"data_dir", settings.data_dir},
                      {"relay", settings.relay_url}});
  int received = 0;
  sigwait(&stop_signals, &received);
  log::info("Stopping");
  running.stop();
  return running.is_broken() ? exit_failed : exit_ok;
}

int submit(const config& settings, const std::vector<std::string>& files) {
  const auto options = submit_options_of(settings);
  const auto from = [&](std::istream& in) {
    return io::run_submit(options, in, std::cout, std::cerr);
  };
  auto worst = io::submit_result::kept;
  if (files.empty())
    worst = from(std::cin);
  for (const auto& path : files) {
    std::ifstream file{path};
    if (!file)
      throw std::runtime_error("can not read " + path);
    worst = std::max(worst, from(file));
  }
  return static_cast<int>(worst);
}

int strfry_plugin(const config& settings) {
  return io::run_strfry_shim(shim_options_of(settings), STDIN_FILENO,
                             STDOUT_FILENO);
}

int run(std::string_view command, const parsed_options& parsed) {
  if (command == "serve")
    return serve(parsed.settings);
  if (command == "submit")
    return submit(parsed.settings, parsed.files);
  return strfry_plugin(parsed.settings);
}

} // namespace

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "--version") {
    std::cout << "purgatoryd " << PURGATORYD_VERSION << "\n";
    return exit_ok;
  }
  if (command == "--help" || command == "help") {
    std::cout << usage << "\n" << help_text();
    return exit_ok;
  }
  if (command == "simulate")
    return run_simulate(argc - 1, argv + 1, std::cout, std::cerr);
  constexpr std::array<std::string_view, 3> commands
    = {"serve", "submit", "strfry-plugin"};
  if (std::find(commands.begin(), commands.end(), command) == commands.end()) {
    std::cerr << usage;
    return exit_usage;
  }
  const auto read
    = parse_options(argc - 1, argv + 1, environ,
                    command == "submit" ? arguments::files : arguments::none);
  if (const auto* bad = std::get_if<problems>(&read)) {
    std::cerr << to_message(*bad) << "\n";
    return exit_usage;
  }
  const auto& parsed = std::get<parsed_options>(read);
  if (parsed.version) {
    std::cout << "purgatoryd " << PURGATORYD_VERSION << "\n";
    return exit_ok;
  }
  if (parsed.help) {
    std::cout << usage << "\n" << help_text();
    return exit_ok;
  }
  try {
    return run(command, parsed);
  } catch (const std::exception& reason) {
    std::cerr << "purgatoryd: " << reason.what() << "\n";
    return exit_failed;
  }
}
