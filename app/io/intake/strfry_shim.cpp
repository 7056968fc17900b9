#include "app/io/intake/strfry_shim.hpp"

#include "app/io/intake/intake_link.hpp"
#include "app/io/intake/line_buffer.hpp"
#include "app/io/intake/socket_server.hpp"
#include "libsync/nostr/event.hpp"
#include "libsync/nostr/strfry_line.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>
#include <variant>

namespace purgatory::io {

namespace {

using nostr::strfry_action;
using nostr::strfry_answer;
using nostr::strfry_request;

strfry_answer accept(std::string id) {
  return {std::move(id), strfry_action::accept, ""};
}

strfry_answer reject(std::string id, std::string message) {
  return {std::move(id), strfry_action::reject, std::move(message)};
}

/// The daemon wants to know of them, but never withholds them.
bool is_copied_kind(std::uint32_t kind) {
  return kind == nostr::kind_deletion || kind == nostr::kind_vanish;
}

class shim {
public:
  shim(const shim_options& options, int in, int out)
    : options_(options), in_(in), out_(out), daemon_(options.socket),
      lines_(options.max_line_bytes) {
    // nop
  }

  int run() {
    std::array<char, 64 * 1024> chunk{};
    for (;;) {
      const auto got = ::read(in_, chunk.data(), chunk.size());
      if (got < 0 && errno == EINTR)
        continue;
      if (got <= 0)
        return finish(got == 0);
      lines_.append({chunk.data(), static_cast<std::size_t>(got)});
      while (auto line = lines_.next())
        take(*line);
      if (!flush())
        return 1;
    }
  }

private:
  int finish(bool has_ended) {
    if (auto line = lines_.rest())
      take(*line);
    return flush() && has_ended ? 0 : 1;
  }

  void take(const line_buffer::line& line) {
    auto parsed = nostr::parse_strfry_request(line.text);
    if (auto* failed = std::get_if<nostr::strfry_failure>(&parsed))
      return answer(reject(std::move(failed->raw_id),
                           line.is_cut ? "error: line too long"
                                       : "error: " + failed->reason));
    auto& request = std::get<strfry_request>(parsed);
    // A kind that is no number may be any kind: the daemon says what is wrong.
    if (!request.kind || nostr::is_held_kind(*request.kind))
      return answer(decide(line.text, request));
    answer(accept(std::move(request.raw_id)));
    if (is_copied_kind(*request.kind)) {
      flush();
      daemon_.tell(line.text, deadline());
    }
  }

  strfry_answer decide(const std::string& line, strfry_request& request) {
    if (line.size() > options_.max_event_bytes + line_overhead_bytes)
      return reject(std::move(request.raw_id), "invalid: event is too large");
    // Nobody may wait for an answer that is ready.
    flush();
    auto result = daemon_.ask(line, request.raw_id, deadline());
    if (result.answer)
      return std::move(*result.answer);
    if (result.why == intake_link::failure::late)
      return reject(std::move(request.raw_id),
                    "error: purgatory busy, try again");
    return options_.fail_open
             ? accept(std::move(request.raw_id))
             : reject(std::move(request.raw_id), unavailable_text);
  }

  time_point deadline() const {
    return std::chrono::steady_clock::now() + options_.deadline;
  }

  void answer(const strfry_answer& decision) {
    unsent_ += nostr::format_strfry_answer(decision);
    unsent_ += '\n';
    if (unsent_.size() > max_unsent_bytes)
      flush();
  }

  bool flush() {
    std::size_t done = 0;
    while (!is_broken_ && done < unsent_.size()) {
      const auto written
        = ::write(out_, unsent_.data() + done, unsent_.size() - done);
      if (written > 0)
        done += static_cast<std::size_t>(written);
      else if (errno != EINTR)
        is_broken_ = true;
    }
    unsent_.clear();
    return !is_broken_;
  }

  static constexpr std::size_t max_unsent_bytes = 64 * 1024;

  const shim_options& options_;
  int in_;
  int out_;
  intake_link daemon_;
  line_buffer lines_;
  std::string unsent_;
  bool is_broken_ = false;
};

} // namespace

int run_strfry_shim(const shim_options& options, int in, int out) {
  return shim{options, in, out}.run();
}

} // namespace purgatory::io
