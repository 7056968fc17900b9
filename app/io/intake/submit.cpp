#include "app/io/intake/submit.hpp"

#include "app/io/intake/line_buffer.hpp"
#include "app/io/intake/socket_server.hpp"
#include "app/io/intake/unix_socket.hpp"
#include "libsync/nostr/strfry_line.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <variant>

namespace purgatory::io {

namespace {

/// Enough for the daemon to commit in batches, few enough to leave its room
/// to others.
constexpr std::size_t window = 256;
constexpr std::size_t max_answer_bytes = 64 * 1024;
class submission {
public:
  submission(const submit_options& options, unique_fd socket, std::istream& in,
             std::ostream& out)
    : options_(options), socket_(std::move(socket)), in_(in), out_(out) {}

  /// False when the daemon went away or fell silent.
  bool run() {
    const auto limit
      = static_cast<int>(std::chrono::milliseconds{options_.patience}.count());
    for (;;) {
      fill();
      if (unanswered_ == 0)
        return true;
      const auto wanted
        = static_cast<short>(unsent_.empty() ? POLLIN : POLLIN | POLLOUT);
      pollfd ready{socket_.get(), wanted, 0};
      const auto count = ::poll(&ready, 1, limit);
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0 || !send() || !receive())
        return false;
    }
  }

  std::size_t unanswered() const { return unanswered_; }
  bool has_rejected() const { return has_rejected_; }

private:
  void fill() {
    std::string event;
    while (unanswered_ < window) {
      if (oversized_ && unanswered_ > 0)
        return;
      if (oversized_)
        refuse_oversized();
      if (!std::getline(in_, event))
        return;
      if (event.find_first_not_of(" \t\r") != std::string::npos)
        take_event(event);
    }
  }

  void take_event(const std::string& event) {
    auto line
      = nostr::format_strfry_request(event, "Import", "", std::time(nullptr));
    if (line.size() > options_.max_event_bytes + line_overhead_bytes) {
      oversized_ = std::move(line);
      return;
    }
    unsent_ += line + '\n';
    ++unanswered_;
  }

  /// The daemon would hang up on such a line: told here, in its turn.
  void refuse_oversized() {
    const auto parsed = nostr::parse_strfry_request(*oversized_);
    oversized_.reset();
    print({std::visit([](const auto& part) { return part.raw_id; }, parsed),
           nostr::strfry_action::reject, "invalid: event is too large"});
  }

  bool send() {
    while (!unsent_.empty()) {
      const auto sent
        = ::send(socket_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
      if (sent < 0)
        return errno == EAGAIN || errno == EINTR || errno == EPIPE;
      unsent_.erase(0, static_cast<std::size_t>(sent));
    }
    return true;
  }

  bool receive() {
    std::array<char, 64 * 1024> chunk{};
    const auto got = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
    if (got < 0)
      return errno == EAGAIN || errno == EINTR;
    answers_.append({chunk.data(), static_cast<std::size_t>(got)});
    while (const auto line = answers_.next())
      if (!take_answer(line->text))
        return false;
    return got > 0;
  }

  bool take_answer(const std::string& line) {
    const auto answer = nostr::parse_strfry_answer(line);
    if (!answer || unanswered_ == 0)
      return false;
    --unanswered_;
    print(*answer);
    return true;
  }

  void print(const nostr::strfry_answer& answer) {
    static constexpr std::array names = {"accept", "reject", "hold"};
    if (answer.action == nostr::strfry_action::reject)
      has_rejected_ = true;
    out_ << (answer.raw_id.empty() ? "-" : answer.raw_id) << ' '
         << names.at(static_cast<std::size_t>(answer.action))
         << (answer.message.empty() ? "" : " ") << answer.message << std::endl;
  }

  const submit_options& options_;
  unique_fd socket_;
  std::istream& in_;
  std::ostream& out_;
  std::string unsent_;
  std::optional<std::string> oversized_; ///< Waits for the answers before it.
  line_buffer answers_{max_answer_bytes};
  std::size_t unanswered_ = 0;
  bool has_rejected_ = false;
};

} // namespace

submit_result run_submit(const submit_options& options, std::istream& in,
                         std::ostream& out, std::ostream& errors) {
  auto connection = connect_unix(options.socket);
  if (!connection) {
    errors << "no daemon listens on " << options.socket.string() << '\n';
    return submit_result::unreachable;
  }
  submission all{options, std::move(connection), in, out};
  if (!all.run()) {
    errors << "the daemon went away; events sent without an answer: "
           << all.unanswered() << '\n';
    return submit_result::unreachable;
  }
  return all.has_rejected() ? submit_result::rejected : submit_result::kept;
}

} // namespace purgatory::io
