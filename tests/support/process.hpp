#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// Child processes of tests.
namespace purgatory::test {

/// What to start. `argv[0]` is looked up in PATH.
struct command {
  std::vector<std::string> argv;
  /// `NAME=value`; nothing: the test's own environment.
  std::optional<std::vector<std::string>> environment;
  std::filesystem::path directory; ///< Empty: the test's own.
  std::string input;               ///< Given to stdin by `run`.
};

/// How a child ended.
struct finished {
  int status = -1; ///< Exit code, or 128 + signal number.
  std::string output;
  std::string errors;
};

/// Runs to the end and captures; kills the child at `deadline` and throws.
finished run(const command& what,
             std::chrono::seconds deadline = std::chrono::seconds{60});

/// The same, and throws with the child's errors unless it exits with 0.
/// Returns stdout without its last newline.
std::string run_ok(const command& what);

/// A child that runs beside the test, in a process group of its own. The
/// destructor kills the group and waits for the child.
class background_process {
public:
  /// stdout and stderr go to `log` (appended); stdin is /dev/null.
  background_process(const command& what, const std::filesystem::path& log);
  background_process(background_process&& other) noexcept;
  background_process& operator=(background_process&&) = delete;
  ~background_process();

  pid_t pid() const { return pid_; }
  /// The exit status if it has ended (as in `finished`).
  std::optional<int> poll();
  /// Sends a signal to the child alone.
  void signal(int number) const;
  /// Waits for the end; nothing when it still runs at the deadline.
  std::optional<int> wait(std::chrono::milliseconds deadline);

private:
  pid_t pid_ = -1;
  std::optional<int> status_;
};

} // namespace purgatory::test
