// purgatoryd-sign: makes keys and signs events, for the demo and for trying
// things out. The daemon itself signs nothing.
#include "app/io/crypto/schnorr.hpp"
#include "libsync/nostr/npub.hpp"
#include "libsync/nostr/parse.hpp"

#include <nlohmann/json.hpp>

#include <ctime>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace purgatory;
using nlohmann::json;

constexpr int exit_ok = 0;
constexpr int exit_failed = 1;
constexpr int exit_usage = 2;

constexpr const char* usage
  = "Usage:\n"
    "  purgatoryd-sign key                  print a new key: secret, pubkey, "
    "npub\n"
    "  purgatoryd-sign event --secret HEX   sign the events on stdin\n"
    "  purgatoryd-sign --help\n"
    "\n"
    "Each line on stdin is one JSON object {\"kind\", \"tags\", \"content\",\n"
    "\"created_at\"}; only kind is required, created_at defaults to now. Each\n"
    "signed event is printed as one line. Exit codes: 0 ok, 1 failed, 2 "
    "usage.\n"
    "Other users of this machine can see a secret on a command line: use "
    "keys\nthat you made for trials.\n";

int print_key() {
  const auto key = io::schnorr_key::generate();
  const auto public_key = key.public_key();
  const json line{{"secret", key.secret_hex()},
                  {"pubkey", public_key.value},
                  {"npub", nostr::to_npub(public_key)}};
  std::cout << line.dump() << '\n';
  return exit_ok;
}

/// Throws unless `given` is an unsigned integer of at most `max`.
std::uint64_t read_number(const json& given, const char* name,
                          std::uint64_t max) {
  if (!given.is_number_unsigned() || given.get<std::uint64_t>() > max)
    throw std::runtime_error(std::string{name}
                             + " is not an unsigned integer in range");
  return given.get<std::uint64_t>();
}

/// Throws nlohmann::json::exception or std::runtime_error for a bad template.
nostr::event from_template(const std::string& line) {
  const auto given = json::parse(line);
  for (const auto& [name, value] : given.get<json::object_t>())
    if (name != "kind" && name != "tags" && name != "content"
        && name != "created_at")
      throw std::runtime_error("unknown member " + name);
  nostr::event ev;
  ev.kind
    = static_cast<std::uint32_t>(read_number(given.at("kind"), "kind", 65535));
  ev.tags = given.value("tags", ev.tags);
  ev.content = given.value("content", ev.content);
  ev.created_at = std::time(nullptr);
  if (given.contains("created_at"))
    ev.created_at = static_cast<unix_seconds>(
      read_number(given["created_at"], "created_at", 253'402'300'799));
  return ev;
}

std::string sign(nostr::event ev, const io::schnorr_key& key) {
  ev.author = key.public_key();
  ev.id = nostr::compute_id(ev);
  ev.sig = key.sign(ev.id);
  auto text = nostr::to_json(ev);
  const auto checked = nostr::parse_event(text, {});
  if (const auto* failure = std::get_if<nostr::parse_failure>(&checked))
    throw std::runtime_error(failure->reason);
  return text;
}

int sign_lines(const io::schnorr_key& key) {
  std::size_t number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos)
      continue;
    try {
      std::cout << sign(from_template(line), key) << std::endl;
    } catch (const std::exception& error) {
      std::cerr << "purgatoryd-sign: line " << number << ": " << error.what()
                << '\n';
      return exit_failed;
    }
  }
  return std::cout ? exit_ok : exit_failed;
}

int refuse_usage(const char* problem) {
  std::cerr << "purgatoryd-sign: " << problem << "\n\n" << usage;
  return exit_usage;
}

int run(const std::vector<std::string_view>& words) {
  if (words.size() == 1 && (words[0] == "--help" || words[0] == "-h")) {
    std::cout << usage;
    return exit_ok;
  }
  if (words.size() == 1 && words[0] == "key")
    return print_key();
  if (words.size() != 3 || words[0] != "event" || words[1] != "--secret")
    return refuse_usage("expected key, event --secret HEX or --help");
  const auto key = io::schnorr_key::from_hex(words[2]);
  if (!key)
    return refuse_usage("the secret is not a key of 64 hex digits");
  return sign_lines(*key);
}

} // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "purgatoryd-sign: " << error.what() << '\n';
    return exit_failed;
  }
}
