#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace purgatory::io {

/// Cuts a stream of bytes into lines, with bounded memory: of a line over the
/// limit its first bytes are given once, the rest is skipped.
class line_buffer {
public:
  struct line {
    std::string text;    ///< Without line end.
    bool is_cut = false; ///< There was more than the limit.
  };

  explicit line_buffer(std::size_t max_line_bytes) : max_(max_line_bytes) {
    // nop
  }

  void append(std::string_view bytes) {
    if (begin_ > bytes_.size() / 2) {
      bytes_.erase(0, begin_);
      seen_ -= begin_;
      begin_ = 0;
    }
    bytes_ += bytes;
  }

  /// The next line, if all of it, or more than the limit, is here.
  std::optional<line> next() {
    if (is_skipping_ && !skip())
      return std::nullopt;
    const auto end = bytes_.find('\n', seen_);
    if (end != std::string::npos)
      return take(end, end + 1);
    seen_ = bytes_.size();
    if (bytes_.size() - begin_ <= max_)
      return std::nullopt;
    is_skipping_ = true;
    return take(seen_, seen_);
  }

  /// What is left when the stream has ended: a last line without line end.
  std::optional<line> rest() {
    if (begin_ == bytes_.size() || is_skipping_)
      return std::nullopt;
    return take(bytes_.size(), bytes_.size());
  }

private:
  line take(std::size_t end, std::size_t next) {
    const auto length = end - begin_;
    line result{bytes_.substr(begin_, std::min(length, max_)), length > max_};
    begin_ = seen_ = next;
    return result;
  }

  bool skip() {
    const auto end = bytes_.find('\n', begin_);
    is_skipping_ = end == std::string::npos;
    begin_ = seen_ = is_skipping_ ? bytes_.size() : end + 1;
    return !is_skipping_;
  }

  std::size_t max_;
  std::string bytes_;
  std::size_t begin_ = 0; ///< Of the first line not taken.
  std::size_t seen_ = 0;  ///< No line end between `begin_` and here.
  bool is_skipping_ = false;
};

} // namespace purgatory::io
