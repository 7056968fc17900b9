#include "libsync/nostr/git_events.hpp"

#include "libsync/nostr/tag_values.hpp"

#include <algorithm>

namespace purgatory::nostr {

namespace {

constexpr const char* no_reference_reason
  = "PR event must reference an accepted repository or accepted event";

/// The first tag called `name`, whatever it holds.
const tag* find_tag(const event& ev, std::string_view name) {
  const auto found
    = std::find_if(ev.tags.begin(), ev.tags.end(), [&](const tag& entry) {
        return !entry.empty() && entry[0] == name;
      });
  return found == ev.tags.end() ? nullptr : &*found;
}

struct address {
  std::uint32_t kind;
  coordinate target;
};

/// An `a` value `<kind>:<owner>:<d>` of a repository's own events. The
/// identifier may itself hold colons.
std::optional<address> parse_address(std::string_view text) {
  const auto kind_end = text.find(':');
  if (kind_end == std::string_view::npos)
    return std::nullopt;
  const auto owner_end = text.find(':', kind_end + 1);
  if (owner_end == std::string_view::npos)
    return std::nullopt;
  const auto kind = text.substr(0, kind_end);
  if (kind != "30617" && kind != "30618")
    return std::nullopt;
  auto owner
    = parse_pubkey(text.substr(kind_end + 1, owner_end - kind_end - 1));
  auto repo = parse_identifier(text.substr(owner_end + 1));
  if (!owner || !repo)
    return std::nullopt;
  return address{kind == "30617" ? kind_announcement : kind_state,
                 {std::move(*owner), std::move(*repo)}};
}

/// The parsed first values of the `a` tags.
std::vector<address> read_addresses(const event& ev) {
  std::vector<address> result;
  for (const auto& entry : ev.tags)
    if (entry.size() > 1 && entry[0] == "a")
      if (auto parsed = parse_address(entry[1]))
        result.push_back(std::move(*parsed));
  return result;
}

/// The first value of a tag called `name` that is an event id.
std::optional<event_id> read_reference(const event& ev, std::string_view name) {
  for (const auto& entry : ev.tags)
    if (entry.size() > 1 && entry[0] == name)
      if (auto parsed = parse_event_id(entry[1]))
        return parsed;
  return std::nullopt;
}

git_event read_announcement(const event& ev) {
  auto repo = read_identifier(ev);
  if (!repo)
    return invalid_event{"announcement has no valid identifier (d tag)"};
  announcement result;
  result.owner = ev.author;
  result.repo = std::move(*repo);
  result.clone_urls = all_values(ev, "clone");
  result.relays = all_values(ev, "relays");
  for (const auto& text : all_values(ev, "maintainers"))
    if (auto maintainer = parse_pubkey(text))
      result.maintainers.insert(std::move(*maintainer));
  return result;
}

git_event read_pull_request(const event& ev) {
  const auto* tip = find_tag(ev, "c");
  if (!tip)
    return invalid_event{"PR event has no commit (c tag)"};
  pull_request result;
  result.id = ev.id;
  result.author = ev.author;
  if (tip->size() > 1)
    result.tip = parse_oid((*tip)[1]);
  std::set<coordinate> seen;
  for (auto& parsed : read_addresses(ev))
    if (parsed.kind == kind_announcement && seen.insert(parsed.target).second)
      result.repositories.push_back(std::move(parsed.target));
  if (ev.kind == kind_pull_request_update)
    result.updates = read_reference(ev, "E");
  const bool refers_to_event = read_reference(ev, "E")
                               || read_reference(ev, "e")
                               || read_reference(ev, "q");
  if (result.repositories.empty() && !refers_to_event)
    return invalid_event{no_reference_reason};
  result.clone_urls = all_values(ev, "clone");
  return result;
}

/// Only what the signer may take back: his own coordinates. Whose an id is,
/// only the holder of that event knows.
git_event read_deletion(const event& ev) {
  deletion result;
  result.author = ev.author;
  result.created_at = ev.created_at;
  for (const auto& entry : ev.tags)
    if (entry.size() > 1 && entry[0] == "e")
      if (auto id = parse_event_id(entry[1]))
        result.ids.push_back(std::move(*id));
  for (auto& parsed : read_addresses(ev))
    if (parsed.target.owner == ev.author)
      result.coordinates.push_back(
        {parsed.kind, std::move(parsed.target.repo)});
  return result;
}

} // namespace

std::optional<identifier> read_identifier(const event& ev) {
  for (const auto& entry : ev.tags)
    if (entry.size() > 1 && entry[0] == "d")
      return parse_identifier(entry[1]);
  return std::nullopt;
}

std::vector<std::string> all_values(const event& ev, std::string_view name) {
  std::vector<std::string> result;
  for (const auto& entry : ev.tags) {
    if (entry.empty() || entry[0] != name)
      continue;
    std::copy_if(entry.begin() + 1, entry.end(), std::back_inserter(result),
                 [](const std::string& value) { return !value.empty(); });
  }
  return result;
}

git_event read_git_event(const event& ev, std::size_t max_refs) {
  switch (ev.kind) {
  case kind_announcement:
    return read_announcement(ev);
  case kind_state:
    return read_state(ev, max_refs);
  case kind_pull_request:
  case kind_pull_request_update:
    return read_pull_request(ev);
  case kind_deletion:
    return read_deletion(ev);
  default:
    return other_kind{};
  }
}

} // namespace purgatory::nostr
