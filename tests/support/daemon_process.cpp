#include "tests/support/daemon_process.hpp"

#include "app/io/intake/unix_socket.hpp"
#include "libsync/nostr/npub.hpp"
#include "libsync/nostr/strfry_line.hpp"
#include "tests/support/eventually.hpp"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace purgatory::test {

namespace fs = std::filesystem;

namespace {

std::string read_file(const fs::path& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::string list_of(const std::vector<std::uint16_t>& ports) {
  std::string result;
  for (const auto port : ports)
    result += (result.empty() ? "" : ",") + std::to_string(port);
  return result.empty() ? "80" : result;
}

std::string text_of(const nostr::strfry_answer& answer) {
  const std::string action = nostr::to_string(answer.action);
  return answer.message.empty() ? action : action + " " + answer.message;
}

} // namespace

std::string daemon_binary() {
  return PURGATORYD;
}

daemon_process::daemon_process(const std::vector<std::uint16_t>& ports,
                               std::vector<std::string> flags)
  : argv_{daemon_binary(),
          "serve",
          "--data-dir=" + folder().string(),
          "--allow-private=true",
          "--allowed-ports=" + list_of(ports),
          "--log-format=json",
          "--log-level=debug"} {
  const auto is_delay = [](const std::string& flag) {
    return flag.starts_with("--sync-immediate-delay-ms");
  };
  if (std::none_of(flags.begin(), flags.end(), is_delay))
    flags.emplace_back("--sync-immediate-delay-ms=50");
  argv_.insert(argv_.end(), flags.begin(), flags.end());
  start();
}

void daemon_process::start() {
  process_.emplace(command{argv_, std::nullopt, {}, {}}, dir_ / "log");
  if (!eventually([&] { return answers() || process_->poll(); })
      || process_->poll())
    throw std::runtime_error("purgatoryd does not start: " + log());
}

bool daemon_process::answers() const {
  return static_cast<bool>(io::connect_unix(socket()));
}

daemon_process::ending daemon_process::stop() {
  const auto before = std::chrono::steady_clock::now();
  process_->signal(SIGTERM);
  const auto status = process_->wait(std::chrono::seconds{20});
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
    std::chrono::steady_clock::now() - before);
  return {status.value_or(-1), took};
}

void daemon_process::kill() {
  process_->signal(SIGKILL);
  process_->wait(std::chrono::seconds{20});
}

std::string daemon_process::offer(const nostr::event& ev,
                                  const std::string& source) {
  return offer(std::vector{ev}, source).front();
}

std::vector<std::string>
daemon_process::offer(const std::vector<nostr::event>& events,
                      const std::string& source) {
  auto connected = io::connect_unix(socket());
  if (!connected)
    throw std::runtime_error("purgatoryd does not listen: " + log());
  line_client client{std::move(connected)};
  std::string lines;
  for (const auto& ev : events)
    lines += nostr::format_strfry_request(nostr::to_json(ev), source,
                                          "127.0.0.1", std::time(nullptr))
             + '\n';
  client.write(lines);
  std::vector<std::string> result;
  for (const auto& ev : events) {
    const auto line = client.read_line();
    const auto answer = nostr::parse_strfry_answer(line);
    if (!answer || answer->raw_id != ev.id.value)
      throw std::runtime_error("no answer to " + ev.id.value + ": " + line);
    result.push_back(text_of(*answer));
  }
  return result;
}

std::string daemon_process::log() const {
  return read_file(dir_ / "log");
}

std::vector<std::string>
daemon_process::logged(std::initializer_list<std::string> parts) const {
  std::vector<std::string> result;
  std::istringstream lines{log()};
  for (std::string line; std::getline(lines, line);)
    if (std::all_of(parts.begin(), parts.end(), [&](const auto& part) {
          return line.find(part) != std::string::npos;
        }))
      result.push_back(line);
  return result;
}

bool daemon_process::logs(std::initializer_list<std::string> parts,
                          std::chrono::milliseconds deadline) const {
  return eventually([&] { return !logged(parts).empty(); }, deadline);
}

std::vector<std::string> daemon_process::released() const {
  std::vector<std::string> result;
  std::istringstream lines{read_file(folder() / "released.jsonl")};
  constexpr std::string_view before = "\"id\":\"";
  for (std::string line; std::getline(lines, line);)
    if (const auto at = line.find(before); at != std::string::npos)
      result.push_back(line.substr(at + before.size(), 64));
  return result;
}

std::size_t daemon_process::times_released(const nostr::event& ev) const {
  const auto ids = released();
  return static_cast<std::size_t>(
    std::count(ids.begin(), ids.end(), ev.id.value));
}

bool daemon_process::releases(const std::vector<nostr::event>& events,
                              std::chrono::milliseconds deadline) const {
  const bool done = eventually(
    [&] {
      return std::all_of(events.begin(), events.end(), [&](const auto& ev) {
        // The journal must know of it too, not only the file.
        return times_released(ev) > 0
               && !logged({"Event released", ev.id.value}).empty();
      });
    },
    deadline);
  if (!done)
    std::cerr << log();
  return done;
}

git_repo daemon_process::repository(const pubkey& owner,
                                    const std::string& d) const {
  return git_repo::at(folder() / "git" / nostr::to_npub(owner) / (d + ".git"));
}

std::map<std::string, std::string>
daemon_process::refs(const pubkey& owner, const std::string& d) const {
  std::istringstream lines{repository(owner, d).git(
    {"for-each-ref", "--format=%(refname) %(objectname)", "refs/heads",
     "refs/tags", "refs/nostr"})};
  std::map<std::string, std::string> result;
  for (std::string name, value; lines >> name >> value;)
    result.emplace(name, value);
  return result;
}

std::string daemon_process::head(const pubkey& owner,
                                 const std::string& d) const {
  return repository(owner, d).git({"symbolic-ref", "HEAD"});
}

std::size_t daemon_process::quarantines() const {
  std::size_t result = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder() / "git"))
    if (entry.path().filename().string().starts_with("tmp_fetch-"))
      ++result;
  return result;
}

} // namespace purgatory::test
