#pragma once

#include "tests/support/git_repo.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_dir.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace purgatory::test {

/// One line of a server's log.
struct logged_request {
  std::int64_t started_us = 0; ///< Microseconds since 1970, on arrival.
  std::int64_t ended_us = 0;   ///< When the last byte was sent.
  std::string method;
  std::string target;       ///< Path and query.
  int status = 0;           ///< Of the answer.
  std::string git_protocol; ///< The Git-Protocol header; `-` when absent.
};

struct git_server_options {
  /// Drop the Git-Protocol header, as some front ends do: v0 only.
  bool strip_git_protocol = false;
  /// Where it listens; port 0: on an address of its own.
  std::string address = {};
  std::uint16_t port = 0;
};

/// A real git server: Debian's apache2 with `git http-backend`, on an address
/// of its own, serving every bare repository below `root()`. Ends with the
/// object; everything it wrote goes too.
class git_server {
public:
  /// Returns when it answers; throws with its log when it does not.
  explicit git_server(git_server_options options = {});
  ~git_server();

  /// Where repositories are put: `root() / "name.git"`.
  std::filesystem::path root() const { return files_ / "repos"; }
  const std::string& address() const { return address_; }
  std::uint16_t port() const { return port_; }
  /// `http://<address>:<port>/<name>`
  std::string url(const std::string& name) const;

  /// The requests that are finished, in the order of their ends.
  std::vector<logged_request> requests() const;

private:
  void write_config(const git_server_options& options) const;
  void wait_until_ready();

  temp_dir files_;
  std::string address_;
  std::uint16_t port_;
  std::unique_ptr<background_process> process_;
};

} // namespace purgatory::test
