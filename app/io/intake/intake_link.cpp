#include "app/io/intake/intake_link.hpp"

#include "app/io/intake/unix_socket.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace purgatory::io {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t max_answer_bytes = 64 * 1024;

bool would_block() {
  return errno == EAGAIN || errno == EWOULDBLOCK;
}

int milliseconds_until(time_point deadline) {
  const auto left = std::chrono::ceil<milliseconds>(
    deadline - std::chrono::steady_clock::now());
  return static_cast<int>(
    std::clamp<milliseconds::rep>(left.count(), 0, 3'600'000));
}

} // namespace

intake_link::intake_link(std::filesystem::path path)
  : path_(std::move(path)), answers_(max_answer_bytes) {
  // nop
}

intake_link::result intake_link::ask(std::string_view line,
                                     const std::string& raw_id,
                                     time_point deadline) {
  nostr::strfry_answer answer;
  const auto end = on_connection([&] {
    const auto sent = send(line, deadline);
    const auto got = sent == step::done ? next_answer(deadline, answer) : sent;
    return got == step::done && answer.raw_id != raw_id ? step::closed : got;
  });
  if (end != step::done)
    return {{}, end == step::late ? failure::late : failure::down};
  return {std::move(answer), {}};
}

bool intake_link::tell(std::string_view line, time_point deadline) {
  const auto end = on_connection([&] {
    // Answers left lying would one day make the daemon stop reading us.
    const auto drained = drain();
    return drained == step::done ? send(line, deadline) : drained;
  });
  if (end == step::done)
    ++unneeded_;
  return end == step::done;
}

/// A connection that was left over may be that of a daemon which is gone: then
/// once more on a new one. Events are known by their id, so saying one twice
/// does no harm.
template <class Exchange>
intake_link::step intake_link::on_connection(Exchange exchange) {
  auto end = step::closed;
  if (socket_) {
    end = exchange();
    if (end != step::done)
      disconnect();
    if (end != step::closed)
      return end;
  }
  socket_ = connect_unix(path_);
  if (!socket_)
    return would_block() ? step::late : step::closed;
  end = exchange();
  if (end != step::done)
    disconnect();
  return end;
}

intake_link::step intake_link::send(std::string_view line,
                                    time_point deadline) {
  std::string text{line};
  text += '\n';
  for (std::string_view left = text; !left.empty();) {
    const auto sent
      = ::send(socket_.get(), left.data(), left.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      left.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    if (!would_block() && errno != EINTR)
      return step::closed;
    if (const auto ready = wait_for(POLLOUT, deadline); ready != step::done)
      return ready;
  }
  return step::done;
}

/// Takes what has come, or waits for more.
intake_link::step intake_link::receive(time_point deadline) {
  for (;;) {
    std::array<char, 16 * 1024> chunk{};
    const auto got = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
    if (got > 0) {
      answers_.append({chunk.data(), static_cast<std::size_t>(got)});
      return step::done;
    }
    if (got == 0 || (!would_block() && errno != EINTR))
      return step::closed;
    if (const auto ready = wait_for(POLLIN, deadline); ready != step::done)
      return ready;
  }
}

intake_link::step intake_link::next_answer(time_point deadline,
                                           nostr::strfry_answer& answer) {
  for (;;) {
    if (const auto line = answers_.next()) {
      if (unneeded_ > 0) {
        --unneeded_;
        continue;
      }
      auto parsed = nostr::parse_strfry_answer(line->text);
      if (!parsed)
        return step::closed;
      answer = std::move(*parsed);
      return step::done;
    }
    if (const auto more = receive(deadline); more != step::done)
      return more;
  }
}

/// Drops the answers that are here and not needed.
intake_link::step intake_link::drain() {
  for (;;) {
    while (unneeded_ > 0 && answers_.next())
      --unneeded_;
    const auto more = receive(time_point::min());
    if (more != step::done)
      return more == step::late ? step::done : more;
  }
}

intake_link::step intake_link::wait_for(short what, time_point deadline) const {
  if (deadline <= std::chrono::steady_clock::now())
    return step::late;
  pollfd ready{socket_.get(), what, 0};
  if (::poll(&ready, 1, milliseconds_until(deadline)) < 0 && errno != EINTR)
    return step::closed;
  return step::done;
}

void intake_link::disconnect() {
  socket_.reset();
  answers_ = line_buffer{max_answer_bytes};
  unneeded_ = 0;
}

} // namespace purgatory::io
