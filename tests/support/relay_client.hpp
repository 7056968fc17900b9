#pragma once

#include "app/io/relay/ws_client.hpp"
#include "libsync/nostr/event.hpp"
#include "tests/support/eventually.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace purgatory::test {

/// A client that asks a relay once for all that it has, and may publish.
class relay_client {
public:
  explicit relay_client(const std::string& url)
    : socket_(io::make_ws_factory()(url, events())) {
    if (!eventually([this] { return count("opened") > 0; }))
      return;
    socket_->permit(1000);
    socket_->send(R"(["REQ","all",{}])");
    eventually([this] { return count("[\"EOSE\"") > 0; });
  }

  /// True when the relay says OK within the deadline.
  bool publish(const nostr::event& ev) {
    socket_->send("[\"EVENT\"," + nostr::to_json(ev) + "]");
    return eventually(
      [&] { return count("[\"OK\",\"" + ev.id.value + "\",true") > 0; });
  }

  /// Messages that contain `part`.
  std::size_t count(const std::string& part) const {
    const std::lock_guard lock{mutex_};
    std::size_t result = 0;
    for (const auto& text : seen_)
      if (text.find(part) != std::string::npos)
        ++result;
    return result;
  }

private:
  relay_socket_events events() {
    return {[this] { add("opened"); }, [this](std::string text) { add(text); },
            [this](std::string reason) { add("closed " + reason); }};
  }

  void add(const std::string& text) {
    const std::lock_guard lock{mutex_};
    seen_.push_back(text);
  }

  mutable std::mutex mutex_;
  std::vector<std::string> seen_; ///< Guarded by `mutex_`.
  std::unique_ptr<relay_socket> socket_;
};

} // namespace purgatory::test
