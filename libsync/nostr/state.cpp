#include "libsync/nostr/tag_values.hpp"

#include <algorithm>
#include <map>

namespace purgatory::nostr {

namespace {

constexpr std::string_view symbolic_prefix = "ref: ";
/// A component becomes a file name, and `.lock` is appended while it changes.
constexpr std::size_t max_component_bytes = 250;
constexpr std::size_t max_name_bytes = 1024;

/// Name to value; of two tags with one name the last counts.
using ref_values = std::map<std::string, std::string, std::less<>>;

ref_values read_ref_values(const event& ev) {
  ref_values values;
  for (const auto& entry : ev.tags) {
    if (entry.size() < 2)
      continue;
    const auto& name = entry[0];
    if (!name.starts_with("refs/heads/") && !name.starts_with("refs/tags/"))
      continue;
    if (name.ends_with("^{}")) // peeled: follows from the tag object
      continue;
    values[name] = entry[1];
  }
  return values;
}

bool is_storable(std::string_view name) {
  if (name.size() > max_name_bytes)
    return false;
  while (!name.empty()) {
    const auto end = std::min(name.find('/'), name.size());
    if (end > max_component_bytes)
      return false;
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return true;
}

/// True when some prefix of `name`, up to a slash, is itself a name.
bool has_parent(const ref_values& values, std::string_view name) {
  for (auto slash = name.rfind('/'); slash != std::string_view::npos;
       slash = name.rfind('/')) {
    name = name.substr(0, slash);
    if (values.contains(name))
      return true;
  }
  return false;
}

/// Why no repository can have these names, whatever their values.
std::optional<std::string> name_problem(const ref_values& values) {
  for (const auto& [name, value] : values) {
    if (!is_valid_ref_name(name))
      return "invalid ref name";
    if (!is_storable(name))
      return "ref name is too long";
  }
  for (const auto& [name, value] : values)
    if (has_parent(values, name))
      return "ref names cannot coexist";
  return std::nullopt;
}

/// Sorts the values into concrete and symbolic ones, notes the first bad OID.
void read_values(const ref_values& values, state& result) {
  for (const auto& [name, value] : values) {
    if (value.starts_with(symbolic_prefix)) {
      result.symbolic_names.push_back(name);
      continue;
    }
    if (auto target = parse_oid(value))
      result.refs.push_back({name, std::move(*target)});
    else if (!result.unsatisfiable)
      result.unsatisfiable = "invalid object id";
  }
}

bool has_mixed_lengths(const std::vector<state_ref>& refs) {
  return std::any_of(refs.begin(), refs.end(), [&](const state_ref& ref) {
    return ref.target.value.size() != refs.front().target.value.size();
  });
}

std::optional<std::string> read_head(const event& ev, const state& result) {
  auto name = first_value(ev, "HEAD");
  if (name.starts_with(symbolic_prefix))
    name.remove_prefix(symbolic_prefix.size());
  if (!name.starts_with("refs/heads/"))
    return std::nullopt;
  const auto is_head = [&](const state_ref& ref) { return ref.name == name; };
  if (std::none_of(result.refs.begin(), result.refs.end(), is_head))
    return std::nullopt;
  return std::string{name};
}

} // namespace

git_event read_state(const event& ev, std::size_t max_refs) {
  auto repo = read_identifier(ev);
  if (!repo)
    return invalid_event{"state has no valid identifier (d tag)"};
  const auto values = read_ref_values(ev);
  if (values.size() > max_refs)
    return invalid_event{"state has more than " + std::to_string(max_refs)
                         + " refs"};
  state result;
  result.author = ev.author;
  result.repo = std::move(*repo);
  result.unsatisfiable = name_problem(values);
  read_values(values, result);
  if (!result.unsatisfiable && has_mixed_lengths(result.refs))
    result.unsatisfiable = "object ids of different lengths";
  result.head = read_head(ev, result);
  return result;
}

} // namespace purgatory::nostr
