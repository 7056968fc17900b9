#include "actors/metrics.hpp"

#include "actors/harden.hpp"

namespace purgatory {

namespace {

/// Labels other than domains come from our own fixed sets; the bound only
/// guards against a mistake.
constexpr std::size_t max_labels = 64;

/// The label keys of a counter (rules §11.2); a second key takes what follows
/// the first blank.
struct label_keys {
  const char* first = nullptr;
  const char* second = nullptr;
};

label_keys keys_of(counter what) {
  switch (what) {
  case counter::sync_attempts:
  case counter::fetch_bytes:
    return {"class"};
  case counter::domain_requests:
  case counter::wire_requests:
    return {"domain"};
  case counter::fates:
    return {"kind", "fate"};
  case counter::refused:
    return {"reason"};
  case counter::oids_fetched:
    break;
  }
  return {};
}

/// `key="value"`, escaped as in Prometheus' text format.
std::string label_text(const char* key, const std::string& value) {
  std::string text = std::string{key} + "=\"";
  for (const char c : value) {
    if (c == '\\' || c == '"')
      text += '\\';
    text += c == '\n' ? "\\n" : std::string(1, c);
  }
  return text + '"';
}

std::string full_name(counter what, const std::string& label) {
  const auto keys = keys_of(what);
  if (keys.first == nullptr || label.empty())
    return to_string(what);
  if (keys.second == nullptr)
    return to_string(what) + ("{" + label_text(keys.first, label) + "}");
  const auto blank = label.find(' ');
  const auto rest
    = blank == std::string::npos ? label : label.substr(blank + 1);
  return to_string(what)
         + ("{" + label_text(keys.first, label.substr(0, blank)) + ","
            + label_text(keys.second, rest) + "}");
}

} // namespace

label_set& metrics_state::labels_of(counter what) {
  if (what == counter::domain_requests || what == counter::wire_requests)
    return domains;
  return others.try_emplace(what, max_labels).first->second;
}

void metrics_state::add(const count& happened) {
  const bool is_plain
    = keys_of(happened.what).first == nullptr || happened.label.empty();
  const auto label = is_plain
                       ? std::string{}
                       : labels_of(happened.what).name_for(happened.label);
  values[{happened.what, label}] += happened.by;
}

metrics_snapshot metrics_state::snapshot() const {
  metrics_snapshot shown;
  for (const auto& [key, value] : values)
    shown.values[full_name(key.first, key.second)] += value;
  return shown;
}

metrics_actor::behavior_type metrics(metrics_state::pointer self) {
  harden(self);
  auto& state = self->state;
  // A counter without labels is there from the start, or a rate over it would
  // miss its first step.
  state.add({counter::oids_fetched, "", 0});
  return {
    [&state](const count& happened) { state.add(happened); },
    [&state](scrape) { return state.snapshot(); },
  };
}

} // namespace purgatory
