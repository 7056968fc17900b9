#include "libsync/label_set.hpp"

namespace purgatory {

std::string label_set::name_for(const std::string& text) {
  if (own_.contains(text))
    return text;
  if (own_.size() >= cap_)
    return "other";
  own_.insert(text);
  return text;
}

} // namespace purgatory
