#pragma once

#include "app/io/git/unique_fd.hpp"
#include "app/io/intake/line_buffer.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace purgatory::test {

/// Writes and reads lines on descriptors, with a deadline.
class line_client {
public:
  /// A socket, or the two ends of pipes.
  explicit line_client(io::unique_fd both) : in_(std::move(both)) {}
  line_client(io::unique_fd in, io::unique_fd out)
    : in_(std::move(in)), out_(std::move(out)) {}

  /// False when the other side is gone. Waits when it does not read.
  bool write(std::string_view text) {
    while (!text.empty()) {
      const auto sent = ::write(writer(), text.data(), text.size());
      if (sent > 0)
        text.remove_prefix(static_cast<std::size_t>(sent));
      else if (errno == EAGAIN)
        wait(writer(), POLLOUT);
      else if (errno != EINTR)
        return false;
    }
    return true;
  }

  bool write_line(const std::string& line) { return write(line + '\n'); }

  /// Throws at the end of the stream.
  std::string read_line() {
    auto line = try_read_line();
    if (!line)
      throw std::runtime_error("the other side hung up");
    return std::move(*line);
  }

  /// Nothing at the end of the stream.
  std::optional<std::string> try_read_line() {
    for (;;) {
      if (auto line = lines_.next())
        return std::move(line->text);
      wait(in_.get(), POLLIN);
      std::array<char, 65536> chunk{};
      const auto got = ::read(in_.get(), chunk.data(), chunk.size());
      if (got == 0 || (got < 0 && errno == ECONNRESET))
        return std::nullopt;
      if (got > 0)
        lines_.append({chunk.data(), static_cast<std::size_t>(got)});
    }
  }

  void close_writer() { out_.reset(); }
  int descriptor() const { return in_.get(); }

private:
  int writer() const { return out_ ? out_.get() : in_.get(); }

  static void wait(int fd, short what) {
    pollfd ready{fd, what, 0};
    if (::poll(&ready, 1, 20'000) == 0)
      throw std::runtime_error("nothing happened in 20 s");
  }

  io::unique_fd in_;
  io::unique_fd out_;
  io::line_buffer lines_{1024 * 1024};
};

} // namespace purgatory::test
