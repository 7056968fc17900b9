#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace purgatory {

/// Bounds the values of one metric label. The first `cap` distinct texts keep
/// their own name for ever, so that a series never changes its meaning; all
/// others count under `other` (rules §11.2).
class label_set {
public:
  explicit label_set(std::size_t cap) : cap_(cap) {}

  /// The name to count `text` under.
  std::string name_for(const std::string& text);

private:
  std::size_t cap_;
  std::set<std::string> own_;
};

} // namespace purgatory
