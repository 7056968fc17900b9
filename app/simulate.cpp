#include "app/simulate.hpp"

#include "libsync/sim/generate.hpp"
#include "libsync/sim/light_world.hpp"
#include "libsync/sim/plain_model.hpp"
#include "libsync/sim/run.hpp"
#include "libsync/sim/world_text.hpp"

#include <boost/program_options.hpp>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace purgatory {

namespace {

namespace po = boost::program_options;

constexpr int exit_ok = 0;
constexpr int exit_failed = 1;
constexpr int exit_usage = 2;

struct arguments {
  std::string file;
  std::string generate;
  std::uint64_t seed = 1;
  std::size_t units = 20;
  std::size_t repositories = 1858;
  std::size_t hosts = 0;
  std::size_t days = 7;
  std::uint64_t starts = 1'000'000;
  std::uint64_t check_every = 100;
  bool liveness = false;
  bool compare = false;
  bool json = false;
  bool write = false;
  bool light = false;
  bool log = false;
  bool help = false;
};

po::options_description described(arguments& to) {
  po::options_description all{"Options"};
  auto add = all.add_options();
  add("generate", po::value(&to.generate),
      "a world instead of a file: migration or random");
  add("seed", po::value(&to.seed), "of a generated world (1)");
  add("units", po::value(&to.units), "of a random world (20)");
  add("repositories", po::value(&to.repositories), "of a migration (1858)");
  add("hosts", po::value(&to.hosts), "how many (migration 11, else 6)");
  add("days", po::value(&to.days), "how long (7)");
  add("liveness", po::bool_switch(&to.liveness),
      "random: faults end after four sevenths of the time");
  add("write", po::bool_switch(&to.write), "print the world, do not run it");
  add("compare", po::bool_switch(&to.compare),
      "also run the plain model of the same algorithm");
  add("light", po::bool_switch(&to.light),
      "schedules of hosts alone, without events");
  add("starts", po::value(&to.starts), "of a light run (1000000)");
  add("check-every", po::value(&to.check_every),
      "steps between checks of everything (100)");
  add("log", po::bool_switch(&to.log), "what the daemon would log, first");
  add("json", po::bool_switch(&to.json), "the summary as JSON");
  add("help", po::bool_switch(&to.help), "print this");
  return all;
}

constexpr const char* usage
  = "Usage: purgatoryd simulate [OPTION…] FILE\n"
    "       purgatoryd simulate [OPTION…] --generate migration|random\n"
    "       purgatoryd simulate [OPTION…] --light\n\n";

std::vector<std::string> problems_of(const arguments& from) {
  std::vector<std::string> result;
  const int sources = (from.file.empty() ? 0 : 1)
                      + (from.generate.empty() ? 0 : 1) + (from.light ? 1 : 0);
  if (sources != 1)
    result.emplace_back("name one file, or --generate, or --light");
  if (!from.generate.empty() && from.generate != "migration"
      && from.generate != "random")
    result.emplace_back("--generate: neither migration nor random");
  const auto check
    = [&](const char* name, std::size_t value, std::size_t most) {
        if (value < 1 || value > most)
          result.push_back(std::string{name} + ": not from 1 to "
                           + std::to_string(most));
      };
  check("--units", from.units, 1'000'000);
  check("--repositories", from.repositories, 1'000'000);
  check("--hosts", std::max<std::size_t>(from.hosts, 1), 10'000);
  check("--days", from.days, 3650);
  check("--check-every", from.check_every, 1'000'000'000);
  return result;
}

std::optional<arguments> parse(int argc, const char* const* argv,
                               std::ostream& err) {
  arguments result;
  const auto options = described(result);
  std::vector<std::string> files;
  po::options_description hidden;
  hidden.add(options);
  hidden.add_options()("file", po::value(&files));
  po::positional_options_description place;
  place.add("file", -1);
  std::vector<std::string> problems;
  try {
    po::variables_map values;
    po::store(po::command_line_parser(argc, argv)
                .options(hidden)
                .positional(place)
                .run(),
              values);
    po::notify(values);
  } catch (const po::error& reason) {
    problems.emplace_back(reason.what());
  }
  if (result.help)
    return result;
  if (files.size() > 1)
    problems.emplace_back("more than one file");
  if (!files.empty())
    result.file = files.front();
  if (problems.empty())
    problems = problems_of(result);
  if (problems.empty())
    return result;
  for (const auto& each : problems)
    err << "purgatoryd simulate: " << each << "\n";
  err << usage;
  return std::nullopt;
}

std::optional<sim::world> world_of(const arguments& from, std::ostream& err) {
  if (from.generate == "migration")
    return sim::generate_migration({from.seed, from.repositories,
                                    from.hosts > 0 ? from.hosts : 11,
                                    from.days});
  if (from.generate == "random") {
    sim::random_options options;
    options.seed = from.seed;
    options.units = from.units;
    options.hosts = from.hosts > 0 ? from.hosts : 6;
    options.days = from.days;
    options.liveness = from.liveness;
    options.plain = from.compare;
    return sim::generate_random(options);
  }
  std::ifstream in{from.file, std::ios::binary};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  if (!in) {
    err << "purgatoryd simulate: can not read " << from.file << "\n";
    return std::nullopt;
  }
  auto read = sim::read_world(text);
  if (auto* found = std::get_if<sim::world>(&read))
    return std::move(*found);
  for (const auto& problem : std::get<sim::world_problems>(read))
    err << from.file << ": " << problem << "\n";
  return std::nullopt;
}

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// How fast it was: starts by CPU time.
void put_speed(std::ostream& err, std::uint64_t starts, double seconds) {
  err << std::fixed << std::setprecision(2) << "simulated " << starts
      << " starts in " << seconds << " CPU seconds, " << std::setprecision(0)
      << (seconds > 0 ? static_cast<double>(starts) / seconds : 0)
      << " per CPU-second\n";
}

void put_line(std::ostream& out, duration at, const git::fact& line) {
  out << std::fixed << std::setprecision(3)
      << std::chrono::duration<double>(at).count() << " " << line.text;
  for (const auto& [name, value] : line.fields)
    out << " " << name << "=" << value;
  out << "\n";
}

int run_light(const arguments& from, std::ostream& out, std::ostream& err) {
  sim::light_options options;
  options.seed = from.seed;
  options.starts = from.starts;
  options.changes = true;
  if (from.hosts > 0)
    options.hosts = from.hosts;
  const auto before = cpu_seconds();
  const auto found = sim::run_light(options);
  put_speed(err, found.starts, cpu_seconds() - before);
  out << found.starts << " starts, " << found.violations << " violations";
  if (found.violations > 0)
    out << ", the first: " << found.first_violation;
  out << "\n";
  return found.violations == 0 ? exit_ok : exit_failed;
}

int run_compared(const arguments& from, const sim::world& what,
                 std::ostream& out) {
  const auto found = sim::compare(what);
  out << (from.json ? to_json(found) : to_text(found));
  const bool is_better = found.lost.empty() && found.latest_after <= found.bound
                         && found.ours.violation_count == 0;
  return is_better ? exit_ok : exit_failed;
}

} // namespace

int run_simulate(int argc, const char* const* argv, std::ostream& out,
                 std::ostream& err) {
  const auto given = parse(argc, argv, err);
  if (!given)
    return exit_usage;
  if (given->help) {
    arguments defaults;
    out << usage << described(defaults);
    return exit_ok;
  }
  if (given->light)
    return run_light(*given, out, err);
  const auto what = world_of(*given, err);
  if (!what)
    return exit_failed;
  if (given->write) {
    out << sim::write_world(*what);
    return exit_ok;
  }
  if (given->compare)
    return run_compared(*given, *what, out);
  const auto before = cpu_seconds();
  sim::run_options options;
  options.check_every = given->check_every;
  if (given->log)
    options.log
      = [&](duration at, const git::fact& line) { put_line(out, at, line); };
  const auto found = sim::run(*what, options);
  put_speed(err, found.starts, cpu_seconds() - before);
  out << (given->json ? to_json(found) : to_text(found));
  return found.violation_count == 0 ? exit_ok : exit_failed;
}

} // namespace purgatory
