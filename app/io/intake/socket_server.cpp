#include "app/io/intake/socket_server.hpp"

#include "app/io/intake/line_buffer.hpp"
#include "app/io/intake/unix_socket.hpp"
#include "libsync/nostr/strfry_line.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

namespace purgatory::io {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using protocol = asio::local::stream_protocol;

/// A client that does not read its answers is not read either.
constexpr std::size_t max_unsent_bytes = 1024 * 1024;

provenance provenance_of(const std::string& source_type) {
  if (source_type == "IP4" || source_type == "IP6")
    return provenance::direct;
  if (source_type == "Import")
    return provenance::import;
  return provenance::sync;
}

std::string answer_line(std::string raw_id, admission decision) {
  static constexpr std::array actions
    = {nostr::strfry_action::accept, nostr::strfry_action::shadow_reject,
       nostr::strfry_action::reject};
  const auto action = actions.at(static_cast<std::size_t>(decision.what));
  return nostr::format_strfry_answer(
           {std::move(raw_id), action, std::move(decision.message)})
         + '\n';
}

admission failure(const std::string& reason) {
  return {action::reject, "error: " + reason};
}

} // namespace

/// All members but `answer` are used on the server's thread only. Handlers
/// capture `this`: the io_context that keeps them is a member.
class socket_server::core : public std::enable_shared_from_this<core> {
public:
  core(socket_options options, admission_handler handler)
    : options_(std::move(options)), handler_(std::move(handler)),
      listener_(listen_unix(options_.path)),
      acceptor_(context_, ::fcntl(listener_.socket.get(), F_DUPFD_CLOEXEC, 0)) {
    // nop
  }

  void start() {
    accept();
    thread_ = std::thread{[this] { context_.run(); }};
  }

  void stop() {
    if (!thread_.joinable())
      return;
    asio::post(context_, [this] {
      error_code ignored;
      acceptor_.close(ignored);
      for (const auto& one : std::exchange(clients_, {}))
        one->socket.close(ignored);
      context_.stop();
    });
    thread_.join();
    remove_socket_file(options_.path, listener_);
    listener_.socket.reset();
  }

private:
  /// One line and its answer, kept until all answers before it are sent.
  struct slot {
    std::string raw_id;
    std::optional<std::string> answer;
  };

  struct client {
    client(protocol::socket from, std::size_t max_line)
      : socket(std::move(from)), lines(max_line) {}
    protocol::socket socket;
    line_buffer lines;
    std::array<char, 64 * 1024> chunk{};
    std::deque<slot> slots;
    std::uint64_t first = 0; ///< The number of the first slot.
    std::string unsent;
    std::string sending;
    bool is_reading = false;
    bool has_ended = false;  ///< No more lines will be taken from the socket.
    bool is_waiting = false; ///< For room among all requests.
  };
  using client_ptr = std::shared_ptr<client>;

  /// The promise to answer one line.
  class ticket {
  public:
    ticket(std::weak_ptr<core> owner, client_ptr from, std::uint64_t number)
      : owner_(std::move(owner)), from_(std::move(from)), number_(number) {}
    ticket(const ticket&) = delete;
    ticket& operator=(const ticket&) = delete;
    ~ticket() { answer({action::reject, unavailable_text}); }

    void answer(admission decision) {
      if (is_answered_.exchange(true))
        return;
      const auto owner = owner_.lock();
      if (!owner)
        return;
      asio::post(owner->context_,
                 [to = owner.get(), from = std::move(from_), number = number_,
                  decision = std::move(decision)] {
                   to->on_answer(from, number, decision);
                 });
    }

  private:
    std::weak_ptr<core> owner_;
    client_ptr from_;
    std::uint64_t number_;
    std::atomic<bool> is_answered_{false};
  };

  /// Not asio's accept: that one lets children inherit the connection.
  void accept() {
    acceptor_.async_wait(
      asio::posix::stream_descriptor::wait_read, [this](error_code error) {
        if (error)
          return;
        const int from = ::accept4(listener_.socket.get(), nullptr, nullptr,
                                   SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (from < 0 && errno != EAGAIN && errno != ECONNABORTED)
          return accept_later();
        if (from >= 0)
          welcome(protocol::socket{context_, protocol{}, from});
        accept();
      });
  }

  /// Out of descriptors, most likely: trying again at once would spin.
  void accept_later() {
    timer_.expires_after(std::chrono::milliseconds{100});
    timer_.async_wait([this](error_code error) {
      if (!error)
        accept();
    });
  }

  void welcome(protocol::socket from) {
    if (clients_.size() >= options_.max_clients)
      return;
    auto one = std::make_shared<client>(
      std::move(from), options_.max_event_bytes + line_overhead_bytes);
    clients_.insert(one);
    pump(one);
  }

  bool has_room(const client& one) const {
    return outstanding_ < options_.max_outstanding
           && one.slots.size() < options_.max_outstanding_per_client
           && one.unsent.size() < max_unsent_bytes;
  }

  /// Takes lines while there is room, reads on when there are no more, and
  /// says good-bye when all is said.
  void pump(const client_ptr& one) {
    if (clients_.count(one) == 0)
      return;
    while (has_room(*one)) {
      auto line = one->lines.next();
      if (!line && one->has_ended)
        line = one->lines.rest();
      if (!line)
        break;
      take_line(one, *line);
    }
    write(one);
    if (outstanding_ >= options_.max_outstanding && !one->is_waiting) {
      one->is_waiting = true;
      waiting_.push_back(one);
    }
    if (has_room(*one) && !one->has_ended && !one->is_reading)
      return read(one);
    if (one->has_ended && has_room(*one) && one->slots.empty()
        && one->unsent.empty() && one->sending.empty())
      drop(one);
  }

  void read(const client_ptr& one) {
    one->is_reading = true;
    one->socket.async_read_some(asio::buffer(one->chunk),
                                [this, one](error_code error, std::size_t n) {
                                  one->is_reading = false;
                                  if (error)
                                    one->has_ended = true;
                                  else
                                    one->lines.append({one->chunk.data(), n});
                                  pump(one);
                                });
  }

  void take_line(const client_ptr& one, const line_buffer::line& line) {
    const auto number = one->first + one->slots.size();
    one->slots.emplace_back();
    auto parsed = nostr::parse_strfry_request(line.text);
    if (auto* failed = std::get_if<nostr::strfry_failure>(&parsed)) {
      one->slots.back().raw_id = std::move(failed->raw_id);
      if (line.is_cut)
        end_after(one);
      return settle(one, number,
                    failure(line.is_cut ? "line too long" : failed->reason));
    }
    auto& request = std::get<nostr::strfry_request>(parsed);
    one->slots.back().raw_id = std::move(request.raw_id);
    if (request.type != "new")
      return settle(one, number, failure("unknown type"));
    ++outstanding_;
    auto promise = std::make_shared<ticket>(weak_from_this(), one, number);
    handler_(
      {std::move(request.event_json), provenance_of(request.source_type)},
      [promise = std::move(promise)](admission decision) {
        promise->answer(std::move(decision));
      });
  }

  /// No further line of this client is taken.
  static void end_after(const client_ptr& one) {
    one->has_ended = true;
    one->lines = line_buffer{0};
    error_code ignored;
    one->socket.shutdown(protocol::socket::shutdown_receive, ignored);
  }

  void on_answer(const client_ptr& one, std::uint64_t number,
                 const admission& decision) {
    --outstanding_;
    if (clients_.count(one) > 0) {
      settle(one, number, decision);
      pump(one);
    }
    wake_waiting();
  }

  /// Notes an answer and passes on what has no unanswered line before it.
  static void settle(const client_ptr& one, std::uint64_t number,
                     const admission& decision) {
    auto& answered = one->slots.at(number - one->first);
    answered.answer = answer_line(std::move(answered.raw_id), decision);
    while (!one->slots.empty() && one->slots.front().answer) {
      one->unsent += *one->slots.front().answer;
      one->slots.pop_front();
      ++one->first;
    }
  }

  void wake_waiting() {
    while (!waiting_.empty() && outstanding_ < options_.max_outstanding) {
      const auto one = std::move(waiting_.front());
      waiting_.pop_front();
      one->is_waiting = false;
      if (clients_.count(one) > 0)
        pump(one);
    }
  }

  void write(const client_ptr& one) {
    if (!one->sending.empty() || one->unsent.empty())
      return;
    std::swap(one->sending, one->unsent);
    asio::async_write(one->socket, asio::buffer(one->sending),
                      [this, one](error_code error, std::size_t) {
                        one->sending.clear();
                        error ? drop(one) : pump(one);
                      });
  }

  void drop(const client_ptr& one) {
    if (clients_.erase(one) == 0)
      return;
    error_code ignored;
    one->socket.close(ignored);
  }

  socket_options options_;
  admission_handler handler_;
  unix_listener listener_;
  asio::io_context context_{1};
  asio::posix::stream_descriptor acceptor_;
  asio::steady_timer timer_{context_};
  std::set<client_ptr> clients_;
  std::deque<client_ptr> waiting_;
  std::size_t outstanding_ = 0; ///< Tickets not answered, of dead clients too.
  std::thread thread_;
};

socket_server::socket_server(socket_options options, admission_handler handler)
  : core_(std::make_shared<core>(std::move(options), std::move(handler))) {
  core_->start();
}

socket_server::~socket_server() {
  stop();
}

void socket_server::stop() {
  core_->stop();
}

} // namespace purgatory::io
