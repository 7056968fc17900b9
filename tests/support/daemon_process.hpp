#pragma once

#include "libsync/nostr/event.hpp"
#include "tests/support/git_repo.hpp"
#include "tests/support/line_client.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_dir.hpp"

#include <chrono>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace purgatory::test {

/// Where the binary under test lies.
std::string daemon_binary();

/// What is told about an event that waits.
inline constexpr const char* held
  = "shadowReject purgatory: won't be served until git data arrives";
inline constexpr const char* still_held
  = "shadowReject duplicate: in purgatory";

/// The real daemon with a data folder of its own, run as a user runs it. It is
/// killed with the object and its folder removed.
class daemon_process {
public:
  /// How it ended when asked to.
  struct ending {
    int status = -1;
    std::chrono::milliseconds took{};
  };

  /// Starts `purgatoryd serve`, allowed to fetch from these loopback ports, at
  /// once (a debounce of 50 ms) unless `flags` say otherwise; returns when its
  /// socket answers, throws with its log when it does not.
  explicit daemon_process(const std::vector<std::uint16_t>& ports,
                          std::vector<std::string> flags = {});

  /// Starts it on the same folder again.
  void start();
  /// SIGTERM, and the wait for the end.
  ending stop();
  /// kill -9.
  void kill();

  /// Offers one event as a client of strfry would see it decided: action and
  /// message with a space between.
  std::string offer(const nostr::event& ev,
                    const std::string& source = "Import");
  /// Offers all of them in one write; the answers in the same order.
  std::vector<std::string> offer(const std::vector<nostr::event>& events,
                                 const std::string& source = "Import");

  std::filesystem::path folder() const { return dir_ / "data"; }
  std::filesystem::path socket() const { return folder() / "purgatoryd.sock"; }

  /// stdout and stderr of all its lives.
  std::string log() const;
  /// Lines of the log that contain all of these texts.
  std::vector<std::string>
  logged(std::initializer_list<std::string> parts) const;
  /// Waits for such a line; false at the deadline.
  bool logs(std::initializer_list<std::string> parts,
            std::chrono::milliseconds deadline
            = std::chrono::seconds{20}) const;

  /// Ids in released.jsonl, in order; one that is there twice twice.
  std::vector<std::string> released() const;
  std::size_t times_released(const nostr::event& ev) const;
  /// Waits until all of them are there; false, with the log on stderr, at the
  /// deadline.
  bool releases(const std::vector<nostr::event>& events,
                std::chrono::milliseconds deadline
                = std::chrono::seconds{20}) const;

  /// The repository kept for (owner, d).
  git_repo repository(const pubkey& owner, const std::string& d) const;
  /// Its branches, tags and refs/nostr as the real git sees them.
  std::map<std::string, std::string> refs(const pubkey& owner,
                                          const std::string& d) const;
  std::string head(const pubkey& owner, const std::string& d) const;
  /// Quarantines of all repositories, running or left behind.
  std::size_t quarantines() const;

private:
  bool answers() const;

  temp_dir dir_;
  std::vector<std::string> argv_;
  std::optional<background_process> process_;
};

} // namespace purgatory::test
