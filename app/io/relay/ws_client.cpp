#include "app/io/relay/ws_client.hpp"

#include "app/io/relay/ws_url.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/websocket.hpp>
#include <fcntl.h>
#include <netdb.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace purgatory::io {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

using endpoints = std::vector<tcp::endpoint>;

endpoints resolve_name(const ws_target& target) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(target.host.c_str(), nullptr, &hints, &found) != 0)
    return {};
  endpoints result;
  for (const auto* item = found; item != nullptr; item = item->ai_next) {
    tcp::endpoint where;
    if (item->ai_addrlen > where.capacity())
      continue;
    std::copy_n(reinterpret_cast<const char*>(item->ai_addr), item->ai_addrlen,
                reinterpret_cast<char*>(where.data()));
    where.resize(item->ai_addrlen);
    where.port(target.port);
    result.push_back(where);
  }
  ::freeaddrinfo(found);
  return result;
}

/// Everything here but `start`, `post` and `stop` runs on the session's thread.
/// Handlers capture `this`: the io_context that keeps them is a member.
class session : public std::enable_shared_from_this<session> {
public:
  session(relay_socket_events events, ws_limits limits)
    : events_(std::move(events)), limits_(limits) {
    // nop
  }

  void start(const std::string& url) {
    post([this, url] { connect(url); });
    thread_ = std::thread{[this] { context_.run(); }};
  }

  template <class Function>
  void post(Function function) {
    asio::post(context_, std::move(function));
  }

  void stop() {
    post([this] { close(); });
    thread_.join();
  }

  void send(std::string message) {
    if (!is_open_)
      return;
    outgoing_.push_back(std::move(message));
    if (outgoing_.size() == 1)
      write();
  }

  void permit(std::size_t messages) {
    permits_ += messages;
    read();
  }

private:
  void connect(const std::string& url) {
    const auto target = parse_ws_url(url);
    if (!target)
      return finish("not a ws:// URL");
    target_ = *target;
    error_code error;
    const auto address = asio::ip::make_address(target_.host, error);
    if (!error)
      return connect_to({tcp::endpoint{address, target_.port}});
    timer_.expires_after(limits_.resolve);
    timer_.async_wait([this](error_code cancelled) {
      if (!cancelled)
        finish("name not resolved in time");
    });
    // getaddrinfo can not be cancelled: a thread that nobody waits for keeps
    // the session's memory, and finds it finished if it took too long.
    std::thread{[self = shared_from_this(), where = target_] {
      self->post([self_ptr = self.get(), found = resolve_name(where)] {
        self_ptr->on_resolved(found);
      });
    }}.detach();
  }

  void on_resolved(const endpoints& found) {
    if (is_finished_)
      return;
    timer_.cancel();
    if (found.empty())
      return finish("no such host");
    connect_to(found);
  }

  void connect_to(endpoints where) {
    if (is_finished_)
      return;
    candidates_ = std::move(where);
    auto& stream = beast::get_lowest_layer(socket_);
    stream.expires_after(limits_.connect);
    stream.async_connect(
      candidates_, [this](error_code error, const tcp::endpoint&) {
        error ? finish("connect: " + error.message()) : shake_hands();
      });
  }

  void shake_hands() {
    if (is_finished_)
      return;
    auto& stream = beast::get_lowest_layer(socket_);
    stream.expires_never();
    error_code ignored;
    stream.socket().set_option(tcp::no_delay{true}, ignored);
    // Children must not keep the connection alive; asio does not see to it.
    ::fcntl(stream.socket().native_handle(), F_SETFD, FD_CLOEXEC);
    websocket::stream_base::timeout timeout;
    timeout.handshake_timeout = limits_.handshake;
    timeout.idle_timeout = limits_.idle;
    timeout.keep_alive_pings = true;
    socket_.set_option(timeout);
    socket_.read_message_max(limits_.max_message_bytes);
    socket_.text(true);
    socket_.async_handshake(
      target_.header, target_.path, [this](error_code error) {
        error ? finish("handshake: " + error.message()) : on_open();
      });
  }

  void on_open() {
    if (is_finished_)
      return;
    is_open_ = true;
    events_.opened();
    read();
  }

  void read() {
    if (!is_open_ || is_reading_ || permits_ == 0)
      return;
    is_reading_ = true;
    socket_.async_read(incoming_, [this](error_code error, std::size_t) {
      is_reading_ = false;
      error ? finish("read: " + error.message()) : on_message();
    });
  }

  void on_message() {
    if (is_finished_)
      return;
    const bool is_text = socket_.got_text();
    std::string message = beast::buffers_to_string(incoming_.data());
    incoming_.consume(incoming_.size());
    // NIP-01 knows no binary messages.
    if (is_text) {
      --permits_;
      events_.text(std::move(message));
    }
    read();
  }

  void write() {
    socket_.async_write(
      asio::buffer(outgoing_.front()), [this](error_code error, std::size_t) {
        error ? finish("write: " + error.message()) : on_written();
      });
  }

  void on_written() {
    if (!is_open_)
      return;
    outgoing_.pop_front();
    if (!outgoing_.empty())
      write();
  }

  void finish(const std::string& reason) {
    if (std::exchange(is_finished_, true))
      return;
    is_open_ = false;
    timer_.cancel();
    beast::get_lowest_layer(socket_).close();
    events_.closed(reason);
  }

  /// Says good-bye if there is somebody; the timer ends it in any case.
  void close() {
    work_.reset();
    const bool was_open = std::exchange(is_open_, false);
    if (std::exchange(is_finished_, true) || !was_open)
      return context_.stop();
    timer_.expires_after(limits_.close);
    timer_.async_wait([this](error_code) { context_.stop(); });
    socket_.async_close(websocket::close_code::going_away,
                        [this](error_code) { context_.stop(); });
  }

  relay_socket_events events_;
  ws_limits limits_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{
    context_.get_executor()};
  asio::steady_timer timer_{context_};
  websocket::stream<beast::tcp_stream> socket_{context_};
  std::thread thread_;
  ws_target target_;
  endpoints candidates_;
  beast::flat_buffer incoming_;
  std::deque<std::string> outgoing_;
  std::size_t permits_ = 0;
  bool is_open_ = false;
  bool is_reading_ = false;
  bool is_finished_ = false; ///< Nothing is reported any more.
};

class ws_client final : public relay_socket {
public:
  ws_client(const std::string& url, relay_socket_events events,
            ws_limits limits)
    : session_(std::make_shared<session>(std::move(events), limits)) {
    session_->start(url);
  }
  ws_client(const ws_client&) = delete;
  ws_client& operator=(const ws_client&) = delete;
  ~ws_client() override { session_->stop(); }

  void send(std::string message) override {
    session_->post(
      [to = session_.get(), message = std::move(message)]() mutable {
        to->send(std::move(message));
      });
  }

  void permit(std::size_t messages) override {
    session_->post([to = session_.get(), messages] { to->permit(messages); });
  }

private:
  std::shared_ptr<session> session_;
};

} // namespace

relay_socket_factory make_ws_factory(ws_limits limits) {
  return [limits](const std::string& url, relay_socket_events events) {
    return std::make_unique<ws_client>(url, std::move(events), limits);
  };
}

} // namespace purgatory::io
