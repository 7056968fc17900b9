#include "app/io/git/git_child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace purgatory::io {

namespace {

constexpr std::size_t max_errors = 4096;
constexpr int pipe_bytes = 1 << 20;

struct pipe_ends {
  unique_fd read;
  unique_fd write;
};

std::optional<pipe_ends> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return std::nullopt;
  return pipe_ends{unique_fd{ends[0]}, unique_fd{ends[1]}};
}

// glibc 2.36 declares pidfd_open without C linkage.
int open_pidfd(pid_t pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

void set_nonblocking(const unique_fd& fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const auto& text : texts)
    result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

void limit(pid_t pid, __rlimit_resource what, std::uint64_t soft,
           std::uint64_t hard) {
  const rlimit64 value{soft, hard};
  ::prlimit64(pid, what, &value, nullptr);
}

pid_t spawn(const std::vector<std::string>& arguments,
            const std::vector<std::string>& environment, int in, int err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, err, 2);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> words{"git"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  auto argv = pointers(words);
  auto env = pointers(environment);
  pid_t pid = -1;
  const int rc = ::posix_spawnp(&pid, "git", &actions, &attributes, argv.data(),
                                env.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return rc == 0 ? pid : -1;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

} // namespace

std::unique_ptr<git_child>
git_child::start(const std::vector<std::string>& arguments,
                 const std::vector<std::string>& environment,
                 const child_limits& limits) {
  auto in = open_pipe();
  auto err = open_pipe();
  if (!in || !err)
    return nullptr;
  const auto pid
    = spawn(arguments, environment, in->read.get(), err->write.get());
  if (pid < 0)
    return nullptr;
  limit(pid, RLIMIT_AS, limits.memory_bytes, limits.memory_bytes);
  limit(pid, RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes);
  limit(pid, RLIMIT_CPU, limits.max_cpu_seconds, limits.max_cpu_seconds);
  limit(pid, RLIMIT_CORE, 0, 0);
  unique_fd exited{open_pidfd(pid)};
  if (!exited) {
    ::kill(pid, SIGKILL);
    wait_for(pid);
    return nullptr;
  }
  ::fcntl(in->write.get(), F_SETPIPE_SZ, pipe_bytes); // Fewer wake-ups.
  set_nonblocking(in->write);
  set_nonblocking(err->read);
  std::unique_ptr<git_child> child{new git_child{
    pid, std::move(exited), std::move(in->write), std::move(err->read)}};
  child->max_cpu_seconds_ = limits.max_cpu_seconds;
  return child;
}

git_child::git_child(pid_t pid, unique_fd exited, unique_fd in, unique_fd err)
  : pid_(pid), exited_(std::move(exited)), in_(std::move(in)),
    err_(std::move(err)) {}

git_child::~git_child() {
  if (pid_ < 0)
    return;
  kill();
  reap();
}

void git_child::allow_cpu(std::uint64_t seconds) const {
  limit(pid_, RLIMIT_CPU, std::min(seconds, max_cpu_seconds_),
        max_cpu_seconds_);
}

bool git_child::write(std::string_view bytes, const job_guard& guard) {
  while (!bytes.empty()) {
    const auto n = ::write(in_.get(), bytes.data(), bytes.size());
    if (n >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
      continue;
    }
    if (errno != EAGAIN && errno != EINTR)
      return false;
    if (guard.broken())
      return false;
    std::array<pollfd, 2> watched{
      {{in_.get(), POLLOUT, 0}, {err_.get(), POLLIN, 0}}};
    ::poll(watched.data(), watched.size(),
           static_cast<int>(job_guard::poll_interval.count()));
    read_errors(); // A child that blocks on a full stderr would never read.
  }
  return true;
}

int git_child::finish(const job_guard& guard) {
  in_.reset();
  bool ended = false;
  while (!ended && !guard.broken()) {
    std::array<pollfd, 2> watched{
      {{exited_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}}};
    ::poll(watched.data(), watched.size(),
           static_cast<int>(job_guard::poll_interval.count()));
    read_errors();
    ended = watched[0].revents != 0;
  }
  if (!ended)
    kill();
  return reap();
}

void git_child::read_errors() {
  std::array<char, 4096> block{};
  while (err_) {
    const auto n = ::read(err_.get(), block.data(), block.size());
    if (n > 0)
      errors_.append(block.data(), std::min(static_cast<std::size_t>(n),
                                            max_errors - errors_.size()));
    else if (n == 0)
      err_.reset(); // Closed by the child; poll skips a negative descriptor.
    else if (errno != EINTR)
      return;
  }
}

void git_child::kill() {
  ::kill(pid_, SIGKILL);
}

int git_child::reap() {
  const int status = wait_for(pid_);
  read_errors();
  pid_ = -1;
  return status;
}

} // namespace purgatory::io
