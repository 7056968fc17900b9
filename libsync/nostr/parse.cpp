#include "libsync/nostr/parse.hpp"

#include "libsync/hex.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace purgatory::nostr {

namespace {

constexpr std::size_t max_depth = 4;
constexpr std::uint64_t max_kind = 65535;
/// 9999-12-31T23:59:59Z: far below 2^53, where JavaScript signers would round.
constexpr std::uint64_t max_created_at = 253'402'300'799;

enum class field { id, pubkey, created_at, kind, tags, content, sig, unknown };

constexpr std::array<const char*, 7> field_names
  = {"id", "pubkey", "created_at", "kind", "tags", "content", "sig"};

field field_of(std::string_view key) {
  const auto found = std::find(field_names.begin(), field_names.end(), key);
  return static_cast<field>(found - field_names.begin());
}

/// Receives the parser's callbacks. After a wrong value it reads on, so that
/// the answer can still name id and kind; it stops at once where reading on
/// could cost memory or has no meaning.
class event_reader {
public:
  using json = nlohmann::json;

  bool null() { return wrong_type(); }
  bool boolean(bool) { return wrong_type(); }
  bool number_integer(json::number_integer_t) { return wrong_type(); }
  bool number_float(json::number_float_t, const std::string&) {
    return wrong_type();
  }
  bool binary(json::binary_t&) { return wrong_type(); }
  bool number_unsigned(json::number_unsigned_t number);
  bool string(std::string& text);
  bool key(std::string& name);
  bool start_object(std::size_t);
  bool end_object();
  bool start_array(std::size_t);
  bool end_array();
  template <class Exception>
  bool parse_error(std::size_t, const std::string&, const Exception&) {
    return stop("event is not valid JSON in UTF-8");
  }

  /// The first problem found; empty for an event of the right form.
  const std::string& problem() const { return problem_; }
  /// Notes a field that never came.
  void finish();

  event value;
  std::string raw_id;

private:
  bool note(std::string problem) {
    if (problem_.empty())
      problem_ = std::move(problem);
    return true;
  }
  bool stop(std::string problem) {
    note(std::move(problem));
    return false;
  }
  bool enter() {
    return ++depth_ <= max_depth || stop("event is nested deeper than 4");
  }
  bool wrong_type();

  std::size_t depth_ = 0;
  field field_ = field::unknown;
  std::array<bool, 7> seen_{};
  std::vector<std::set<std::string>> open_objects_; ///< Keys of each.
  std::string problem_;
};

bool event_reader::wrong_type() {
  if (depth_ == 0)
    return stop("event is not a JSON object");
  if (field_ == field::unknown)
    return true;
  const std::string name = field_names.at(static_cast<std::size_t>(field_));
  if (field_ == field::created_at || field_ == field::kind)
    return note("field " + name + " is not an unsigned integer in range");
  return note("field " + name + " has the wrong type");
}

bool event_reader::number_unsigned(json::number_unsigned_t number) {
  if (depth_ == 1 && field_ == field::created_at && number <= max_created_at) {
    value.created_at = static_cast<unix_seconds>(number);
    return true;
  }
  if (depth_ == 1 && field_ == field::kind && number <= max_kind) {
    value.kind = static_cast<std::uint32_t>(number);
    return true;
  }
  return wrong_type();
}

bool event_reader::string(std::string& text) {
  if (depth_ == 3 && field_ == field::tags && problem_.empty()) {
    value.tags.back().push_back(std::move(text));
    return true;
  }
  if (depth_ != 1)
    return wrong_type();
  switch (field_) {
  case field::id:
    raw_id = std::move(text);
    return true;
  case field::pubkey:
    value.author.value = std::move(text);
    return true;
  case field::content:
    value.content = std::move(text);
    return true;
  case field::sig:
    value.sig = std::move(text);
    return true;
  default:
    return wrong_type();
  }
}

bool event_reader::key(std::string& name) {
  if (!open_objects_.back().insert(name).second)
    return stop("event has a duplicate key");
  if (depth_ != 1)
    return true;
  field_ = field_of(name);
  if (field_ != field::unknown)
    seen_.at(static_cast<std::size_t>(field_)) = true;
  return true;
}

bool event_reader::start_object(std::size_t) {
  if (depth_ > 0)
    wrong_type();
  open_objects_.emplace_back();
  return enter();
}

bool event_reader::end_object() {
  open_objects_.pop_back();
  --depth_;
  return true;
}

bool event_reader::start_array(std::size_t) {
  const bool is_tags = field_ == field::tags;
  if (is_tags && depth_ == 2 && problem_.empty())
    value.tags.emplace_back();
  else if (!is_tags || depth_ != 1)
    if (!wrong_type())
      return false;
  return enter();
}

bool event_reader::end_array() {
  --depth_;
  return true;
}

void event_reader::finish() {
  for (std::size_t i = 0; i < seen_.size(); ++i)
    if (!seen_.at(i))
      note(std::string{"field "} + field_names.at(i) + " is missing");
}

/// What can be refused before any parsing. A NUL would end the parser's input
/// early, a byte order mark would be skipped by it.
std::string_view text_problem(std::string_view json,
                              const event_limits& limits) {
  if (json.size() > limits.max_bytes)
    return "event is too large";
  if (json.find('\0') != std::string_view::npos)
    return "event is not valid JSON in UTF-8";
  if (json.starts_with("\xEF\xBB\xBF"))
    return "event is not valid JSON in UTF-8";
  return {};
}

/// Brings `text` to lower case; false when it is not `digits` hex digits.
bool normalise_hex(std::string& text, std::size_t digits) {
  auto lower = lower_hex(text, digits);
  if (!lower)
    return false;
  text = std::move(*lower);
  return true;
}

bool has_del(const event& ev) {
  const auto in = [](const std::string& text) {
    return text.find('\x7f') != std::string::npos;
  };
  return in(ev.content)
         || std::any_of(ev.tags.begin(), ev.tags.end(), [&](const tag& entry) {
              return std::any_of(entry.begin(), entry.end(), in);
            });
}

bool has_right_id(const event& ev) {
  return compute_id(ev) == ev.id
         || (has_del(ev) && compute_id(ev, true) == ev.id);
}

std::string hex_problem(event& ev) {
  if (!normalise_hex(ev.id.value, 64))
    return "id is not 64 hex digits";
  if (!normalise_hex(ev.author.value, 64))
    return "pubkey is not 64 hex digits";
  if (!normalise_hex(ev.sig, 128))
    return "sig is not 128 hex digits";
  return {};
}

} // namespace

std::variant<parsed_event, parse_failure>
parse_event(std::string_view json, const event_limits& limits) {
  if (const auto problem = text_problem(json, limits); !problem.empty())
    return parse_failure{std::string{problem}, {}, 0};
  event_reader reader;
  if (nlohmann::json::sax_parse(json.begin(), json.end(), &reader))
    reader.finish();
  auto& ev = reader.value;
  const auto refused = [&](std::string reason) {
    return parse_failure{std::move(reason), reader.raw_id, ev.kind};
  };
  if (!reader.problem().empty())
    return refused(reader.problem());
  ev.id.value = reader.raw_id;
  if (auto problem = hex_problem(ev); !problem.empty())
    return refused(std::move(problem));
  if (!has_right_id(ev))
    return refused("id does not match the event");
  return parsed_event{std::move(ev), std::move(reader.raw_id), json.size()};
}

} // namespace purgatory::nostr
