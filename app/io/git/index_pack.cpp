#include "app/io/git/index_pack.hpp"

#include "app/io/git/git_environment.hpp"

#include <sys/statvfs.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <semaphore>
#include <thread>

namespace purgatory::io {

namespace {

constexpr std::size_t spawn_after = std::size_t{1} << 20U;
constexpr std::size_t pack_header_bytes = 12;
constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;

// About 5 s per GB of inflated data is normal; packs inflate six to tenfold.
constexpr std::uint64_t cpu_floor_seconds = 30;
constexpr std::uint64_t cpu_mebibytes_per_second = 2;
constexpr std::uint64_t max_cpu_seconds = 300;

constexpr int max_children = 1024;

std::counting_semaphore<max_children>& child_slots() {
  static std::counting_semaphore<max_children> slots{std::clamp(
    static_cast<int>(std::thread::hardware_concurrency()), 1, max_children)};
  return slots;
}

std::uint32_t big_endian(std::string_view four) {
  std::uint32_t value = 0;
  for (const char c : four)
    value = value << 8U | static_cast<unsigned char>(c);
  return value;
}

std::vector<std::string> arguments(const fetch_settings& settings) {
  return {"-c", "core.bigFileThreshold=64m", "index-pack", "--stdin",
          "--fix-thin", "--threads=1",
          "--max-input-size=" + std::to_string(settings.max_pack_bytes),
          // Both are common in old, honest histories.
          "--strict=zeroPaddedFilemode=ignore,missingSpaceBeforeDate=ignore"};
}

bool disk_is_full(const std::string& directory) {
  struct statvfs disk {};
  return ::statvfs(directory.c_str(), &disk) == 0
         && disk.f_bavail * disk.f_frsize < 16 * mebibyte;
}

} // namespace

class index_pack::slot {
public:
  slot() = default;
  slot(const slot&) = delete;
  slot& operator=(const slot&) = delete;
  ~slot() { child_slots().release(); }

  /// Null when the guard broke first.
  static std::unique_ptr<slot> wait(const job_guard& guard) {
    while (!child_slots().try_acquire_for(job_guard::poll_interval))
      if (guard.broken())
        return nullptr;
    return std::make_unique<slot>();
  }
};

index_pack::index_pack(const fetch_settings& settings,
                       std::filesystem::path repository,
                       std::shared_ptr<fetch_quarantine> into,
                       const job_guard& guard)
  : settings_(settings), repository_(std::move(repository)),
    into_(std::move(into)), guard_(guard) {
  into_->keep();
}

index_pack::~index_pack() {
  if (verdict_ == fetch_class::ok)
    return;
  child_.reset(); // Ended before its files go.
  into_->drop();
}

bool index_pack::write(std::string_view bytes) {
  if (verdict_ || !admit(bytes))
    return false;
  if (child_)
    return write_to_child(bytes);
  buffer_ += bytes;
  if (buffer_.size() < spawn_after)
    return true;
  return start_child();
}

/// Checks what can be known before the child sees it.
bool index_pack::admit(std::string_view bytes) {
  const bool header_was_seen = bytes_ >= pack_header_bytes;
  bytes_ += bytes.size();
  if (bytes_ > settings_.max_pack_bytes)
    verdict_ = fetch_class::oversize;
  else if (!header_was_seen && bytes_ >= pack_header_bytes) {
    const auto header = (buffer_ + std::string{bytes.substr(0, 12)});
    if (!header.starts_with("PACK"))
      verdict_ = fetch_class::corrupt;
    else if (big_endian(std::string_view{header}.substr(8, 4))
             > settings_.max_pack_objects)
      verdict_ = fetch_class::oversize;
  }
  return !verdict_;
}

bool index_pack::start_child() {
  slot_ = slot::wait(guard_);
  if (!slot_) {
    verdict_ = guard_.broken().value_or(fetch_class::internal);
    return false;
  }
  child_ = git_child::start(
    arguments(settings_),
    git_environment(repository_, into_->directory(), {repository_ / "objects"}),
    {2 * settings_.max_object_bytes,
     settings_.max_pack_bytes + settings_.max_object_bytes, max_cpu_seconds});
  if (!child_) {
    verdict_ = fetch_class::internal;
    detail_ = "git does not start";
    return false;
  }
  const auto first = std::move(buffer_);
  buffer_.clear();
  return write_to_child(first);
}

bool index_pack::write_to_child(std::string_view bytes) {
  if (bytes_ >= next_allowance_) {
    child_->allow_cpu(cpu_allowance());
    next_allowance_ = bytes_ + mebibyte;
  }
  return child_->write(bytes, guard_);
}

std::uint64_t index_pack::cpu_allowance() const {
  return std::min(max_cpu_seconds,
                  cpu_floor_seconds
                    + bytes_ / mebibyte / cpu_mebibytes_per_second);
}

fetch_class index_pack::finish() {
  if (!verdict_ && bytes_ < pack_header_bytes)
    verdict_ = fetch_class::corrupt;
  if (!verdict_ && !child_)
    start_child(); // A child that stops reading has a reason: its status.
  if (!verdict_)
    verdict_ = judge(child_->finish(guard_));
  child_.reset();
  slot_.reset();
  return *verdict_;
}

fetch_class index_pack::judge(int status) {
  detail_ = child_->errors();
  if (const auto broken = guard_.broken())
    return *broken;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return fetch_class::ok;
  if (disk_is_full(into_->directory()))
    return fetch_class::internal;
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGXCPU || signal == SIGXFSZ || signal == SIGKILL)
    return fetch_class::oversize; // A limit, as we did not kill it ourselves.
  return fetch_class::corrupt;
}

} // namespace purgatory::io
