#include "tests/support/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>

extern char** environ;

namespace purgatory::test {

namespace {

using clock = std::chrono::steady_clock;

struct pipe_pair {
  int read = -1;
  int write = -1;

  pipe_pair() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      throw std::runtime_error("pipe2 failed");
    read = ends[0];
    write = ends[1];
  }
  pipe_pair(const pipe_pair&) = delete;
  pipe_pair& operator=(const pipe_pair&) = delete;
  ~pipe_pair() {
    close_read();
    close_write();
  }
  void close_read() { close_end(read); }
  void close_write() { close_end(write); }

private:
  static void close_end(int& end) {
    if (end >= 0)
      ::close(end);
    end = -1;
  }
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const auto& text : texts)
    result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

pid_t spawn(const command& what, int in, int out, int err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, err, 2);
  if (!what.directory.empty())
    posix_spawn_file_actions_addchdir_np(&actions, what.directory.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  auto argv = pointers(what.argv);
  auto env = pointers(what.environment.value_or(std::vector<std::string>{}));
  pid_t pid = -1;
  const int rc
    = ::posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(),
                     what.environment ? env.data() : environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (rc != 0)
    throw std::runtime_error("cannot start " + what.argv.at(0) + ": "
                             + std::strerror(rc));
  return pid;
}

int status_of(int raw) {
  return WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
}

int reap(pid_t pid) {
  int raw = 0;
  while (::waitpid(pid, &raw, 0) < 0 && errno == EINTR) {
  }
  return status_of(raw);
}

/// Reads what is there; false at the end of the stream.
bool drain(int fd, std::string& into) {
  std::array<char, 65536> block{};
  const auto n = ::read(fd, block.data(), block.size());
  if (n > 0)
    into.append(block.data(), static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

} // namespace

finished run(const command& what, std::chrono::seconds deadline) {
  pipe_pair in;
  pipe_pair out;
  pipe_pair err;
  const auto pid = spawn(what, in.read, out.write, err.write);
  in.close_read();
  out.close_write();
  err.close_write();
  std::thread feeder{[fd = std::exchange(in.write, -1), text = what.input] {
    // A child that does not read all of it is no error here.
    sigset_t pipe_signal;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);
    std::size_t at = 0;
    while (at < text.size()) {
      const auto n = ::write(fd, text.data() + at, text.size() - at);
      if (n <= 0)
        break;
      at += static_cast<std::size_t>(n);
    }
    ::close(fd);
  }};
  finished result;
  const auto end = clock::now() + deadline;
  bool late = false;
  std::array<pollfd, 2> watched{{{out.read, POLLIN, 0}, {err.read, POLLIN, 0}}};
  while ((watched[0].fd >= 0 || watched[1].fd >= 0) && !late) {
    ::poll(watched.data(), watched.size(), 100);
    if (watched[0].revents != 0 && !drain(out.read, result.output))
      watched[0].fd = -1;
    if (watched[1].revents != 0 && !drain(err.read, result.errors))
      watched[1].fd = -1;
    late = clock::now() > end;
  }
  if (late)
    ::kill(-pid, SIGKILL);
  result.status = reap(pid);
  feeder.join();
  if (late)
    throw std::runtime_error(what.argv.at(0)
                             + " ran into its deadline: " + result.errors);
  return result;
}

std::string run_ok(const command& what) {
  auto done = run(what);
  if (done.status != 0) {
    std::string line;
    for (const auto& word : what.argv)
      line += word + " ";
    throw std::runtime_error(line + "failed with " + std::to_string(done.status)
                             + ": " + done.errors);
  }
  if (!done.output.empty() && done.output.back() == '\n')
    done.output.pop_back();
  return done.output;
}

background_process::background_process(const command& what,
                                       const std::filesystem::path& log) {
  const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int out
    = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (in < 0 || out < 0)
    throw std::runtime_error("cannot open the log " + log.string());
  pid_ = spawn(what, in, out, out);
  ::close(in);
  ::close(out);
}

background_process::background_process(background_process&& other) noexcept
  : pid_(std::exchange(other.pid_, -1)), status_(other.status_) {}

background_process::~background_process() {
  if (pid_ < 0)
    return;
  ::kill(-pid_, SIGKILL);
  if (!status_)
    reap(pid_);
}

std::optional<int> background_process::poll() {
  if (status_ || pid_ < 0)
    return status_;
  int raw = 0;
  if (::waitpid(pid_, &raw, WNOHANG) == pid_)
    status_ = status_of(raw);
  return status_;
}

void background_process::signal(int number) const {
  if (pid_ > 0 && !status_)
    ::kill(pid_, number);
}

std::optional<int>
background_process::wait(std::chrono::milliseconds deadline) {
  const auto end = clock::now() + deadline;
  while (!poll() && clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  return status_;
}

} // namespace purgatory::test
