#include "libsync/sim/names.hpp"

#include "libsync/git/clone_url.hpp"
#include "libsync/nostr/git_events.hpp"
#include "libsync/nostr/parse.hpp"

namespace purgatory::sim {

namespace {

/// `length` hex digits that belong to `name`, seeded by `salt` (FNV-1a, then
/// a finaliser: names that differ in one letter must not look alike).
std::string digits_of(std::string_view name, std::uint64_t salt,
                      std::size_t length) {
  std::uint64_t hash = 14695981039346656037ULL ^ salt;
  for (const char c : name)
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  std::string text;
  for (std::uint64_t block = 1; text.size() < length; ++block) {
    auto mixed = hash + block * 0x9e3779b97f4a7c15ULL;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebULL;
    mixed ^= mixed >> 31U;
    for (int i = 0; i < 16 && text.size() < length; ++i, mixed >>= 4U)
      text.push_back("0123456789abcdef"[mixed % 16]);
  }
  return text;
}

nostr::tag tag_of(const char* name, const std::vector<std::string>& values) {
  nostr::tag result{name};
  result.insert(result.end(), values.begin(), values.end());
  return result;
}

nostr::event sign(std::uint32_t kind, const std::string& author,
                  unix_seconds created_at, std::vector<nostr::tag> tags,
                  const std::string& content) {
  nostr::event ev;
  ev.kind = kind;
  ev.author = key_of(author);
  ev.created_at = created_at;
  ev.tags = std::move(tags);
  ev.content = content;
  ev.sig = std::string(128, '0');
  ev.id = nostr::compute_id(ev);
  return ev;
}

} // namespace

pubkey key_of(std::string_view name) {
  if (auto literal = nostr::parse_pubkey(name))
    return *literal;
  return pubkey{digits_of(name, 1, 64)};
}

oid object_of(std::string_view name) {
  if (auto literal = nostr::parse_oid(name))
    return *literal;
  return oid{digits_of(name, 2, 40)};
}

host_key host_of(std::string_view url) {
  const auto parsed = git::parse_clone_url(url);
  const auto* known = std::get_if<git::clone_url>(&parsed);
  return known == nullptr ? host_key{} : known->host;
}

remote_url url_of(std::string_view text) {
  const auto parsed = git::parse_clone_url(text);
  const auto* known = std::get_if<git::clone_url>(&parsed);
  return known == nullptr ? remote_url{std::string{text}} : known->text;
}

nostr::event to_event(const announce& what, unix_seconds now) {
  nostr::tag maintainers{"maintainers"};
  for (const auto& name : what.maintainers)
    maintainers.push_back(key_of(name).value);
  return sign(nostr::kind_announcement, what.author, now + what.created.count(),
              {{"d", what.repository},
               tag_of("clone", what.clone),
               std::move(maintainers)},
              what.name);
}

nostr::event to_event(const push_state& what, unix_seconds now) {
  std::vector<nostr::tag> tags{{"d", what.repository}};
  for (const auto& [name, object] : what.refs)
    tags.push_back({name, object_of(object).value});
  return sign(nostr::kind_state, what.author, now + what.created.count(),
              std::move(tags), what.name);
}

nostr::event to_event(const propose& what, unix_seconds now) {
  const auto coordinate
    = "30617:" + key_of(what.owner).value + ":" + what.repository;
  return sign(nostr::kind_pull_request, what.author, now + what.created.count(),
              {{"a", coordinate},
               {"c", object_of(what.tip).value},
               tag_of("clone", what.clone)},
              what.name);
}

nostr::event to_event(const take_back& what, unix_seconds now,
                      const std::map<std::string, nostr::event>& known) {
  std::vector<nostr::tag> tags;
  for (const auto& name : what.events)
    if (const auto i = known.find(name); i != known.end())
      tags.push_back({"e", i->second.id.value});
  return sign(nostr::kind_deletion, what.author, now, std::move(tags), {});
}

} // namespace purgatory::sim
