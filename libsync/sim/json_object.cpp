#include "libsync/sim/json_object.hpp"

#include "libsync/option_values.hpp"

#include <nlohmann/json.hpp>

#include <optional>

namespace purgatory::sim {

namespace {

using nlohmann::json;

constexpr std::size_t max_problems = 100;
constexpr auto longest = std::chrono::hours{24 * 3650};

} // namespace

void problem_list::add(const std::string& place, const std::string& text) {
  if (all_.size() < max_problems)
    all_.push_back(place + ": " + text);
}

json_object::json_object(const json& value, std::string place,
                         problem_list& problems)
  : value_(value), place_(std::move(place)), problems_(problems) {
  if (!value_.is_object())
    problem("", "no object");
}

json_object::~json_object() {
  if (!value_.is_object())
    return;
  for (const auto& [name, member] : value_.items())
    if (!asked_.contains(name))
      problem(name, "unknown");
}

std::string json_object::place_of(const std::string& name) const {
  if (place_.empty() || name.empty())
    return place_ + name;
  return place_ + "." + name;
}

void json_object::problem(const std::string& name, const std::string& text) {
  problems_.add(place_of(name), text);
}

const json* json_object::find(const char* name) {
  asked_.insert(name);
  if (!value_.is_object())
    return nullptr;
  const auto i = value_.find(name);
  return i == value_.end() ? nullptr : &*i;
}

const json* json_object::found(const char* name, bool required) {
  const auto* member = find(name);
  if (member == nullptr && required)
    problem(name, "missing");
  return member;
}

void json_object::read(const char* name, std::string& to, bool required) {
  const auto* member = found(name, required);
  if (member == nullptr)
    return;
  if (!member->is_string() || (required && member->get<std::string>().empty()))
    problem(name, "no text");
  else
    to = member->get<std::string>();
}

void json_object::read(const char* name, bool& to) {
  const auto* member = find(name);
  if (member == nullptr)
    return;
  if (!member->is_boolean())
    problem(name, "neither true nor false");
  else
    to = member->get<bool>();
}

void json_object::read_number(const char* name, std::uint64_t& to,
                              std::uint64_t least, std::uint64_t most) {
  const auto* member = find(name);
  if (member == nullptr)
    return;
  const auto value = member->is_number_unsigned()
                       ? std::optional{member->get<std::uint64_t>()}
                       : std::nullopt;
  if (!value || *value < least || *value > most)
    problem(name, "no whole number from " + std::to_string(least) + " to "
                    + std::to_string(most));
  else
    to = *value;
}

void json_object::read_share(const char* name, double& to) {
  const auto* member = find(name);
  if (member == nullptr)
    return;
  if (!member->is_number() || !(member->get<double>() >= 0)
      || !(member->get<double>() <= 1))
    problem(name, "no number from 0 to 1");
  else
    to = member->get<double>();
}

void json_object::read_time(const char* name, std::chrono::milliseconds& to,
                            bool required) {
  const auto* member = found(name, required);
  if (member == nullptr)
    return;
  const auto time = member->is_string()
                      ? parse_duration(member->get<std::string>())
                      : std::nullopt;
  if (!time || *time > longest)
    problem(name, "no duration such as 500ms, 20s, 30min, 6h, 2d");
  else
    to = *time;
}

void json_object::read_seconds(const char* name, std::chrono::seconds& to) {
  const auto* member = find(name);
  if (member == nullptr)
    return;
  constexpr auto most = std::chrono::seconds{longest}.count();
  if (!member->is_number_integer() || member->get<std::int64_t>() < -most
      || member->get<std::int64_t>() > most)
    problem(name, "no whole number of seconds");
  else
    to = std::chrono::seconds{member->get<std::int64_t>()};
}

void json_object::read_list(const char* name, std::vector<std::string>& to,
                            bool required) {
  const auto* member = found(name, required);
  if (member == nullptr)
    return;
  if (!member->is_array()) {
    problem(name, "no list of texts");
    return;
  }
  to.clear();
  for (const auto& each : *member)
    if (each.is_string())
      to.push_back(each.get<std::string>());
    else
      problem(name, "no list of texts");
}

void json_object::inside(const char* name,
                         const std::function<void(json_object&)>& use) {
  const auto* member = find(name);
  if (member == nullptr)
    return;
  json_object object{*member, place_of(name), problems_};
  use(object);
}

void json_object::each(const char* name,
                       const std::function<void(json_object&)>& use) {
  const auto* member = find(name);
  if (member == nullptr)
    return;
  if (!member->is_array()) {
    problem(name, "no list");
    return;
  }
  std::size_t number = 0;
  for (const auto& element : *member) {
    json_object object{element,
                       place_of(name) + "[" + std::to_string(number++) + "]",
                       problems_};
    use(object);
  }
}

void json_object::each_member(
  const char* name,
  const std::function<void(const std::string&, json_object&)>& use) {
  const auto* member = find(name);
  if (member == nullptr)
    return;
  if (!member->is_object()) {
    problem(name, "no object");
    return;
  }
  for (const auto& [key, element] : member->items()) {
    json_object object{element, place_of(name) + "." + key, problems_};
    use(key, object);
  }
}

} // namespace purgatory::sim
