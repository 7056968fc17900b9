#pragma once

#include "app/io/git/unique_fd.hpp"
#include "app/io/intake/line_buffer.hpp"
#include "libsync/nostr/strfry_line.hpp"
#include "libsync/types.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace purgatory::io {

/// A client's end of the daemon's socket. The daemon answers in order, so an
/// answer is known by its place; a connection with an answer that nobody waits
/// for any more is closed, and the next request opens a new one.
class intake_link {
public:
  explicit intake_link(std::filesystem::path path);

  /// Why there is no answer.
  enum class failure : std::uint8_t {
    down, ///< Nobody listens, or the daemon went away.
    late, ///< No answer at the deadline.
  };
  struct result {
    std::optional<nostr::strfry_answer> answer;
    failure why = failure::down; ///< Meaningful without answer.
  };

  /// Sends a request line (without line end) about the event `raw_id` and waits
  /// for its answer; an answer about another event counts as none.
  result ask(std::string_view line, const std::string& raw_id,
             time_point deadline);

  /// Sends a request whose answer nobody needs. False when it was not sent.
  bool tell(std::string_view line, time_point deadline);

private:
  enum class step : std::uint8_t { done, closed, late };

  template <class Exchange>
  step on_connection(Exchange exchange);
  step send(std::string_view line, time_point deadline);
  step receive(time_point deadline);
  step next_answer(time_point deadline, nostr::strfry_answer& answer);
  step drain();
  step wait_for(short what, time_point deadline) const;
  void disconnect();

  std::filesystem::path path_;
  unique_fd socket_;
  line_buffer answers_;
  std::uint64_t unneeded_ = 0; ///< Answers to come that nobody needs.
};

} // namespace purgatory::io
