#pragma once

#include "libsync/nostr/event.hpp"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

/// Events for tests below the signature check: ids and keys are made from
/// small numbers, so that a failing test can be read.
namespace purgatory::test {

inline std::string digits(std::uint64_t number, std::size_t length) {
  std::string text(length, '0');
  for (auto i = text.rbegin(); number > 0 && i != text.rend(); ++i) {
    *i = "0123456789abcdef"[number % 16];
    number /= 16;
  }
  return text;
}

inline pubkey key(std::uint64_t number) {
  return pubkey{digits(number + 0xa00, 64)};
}

inline oid object(std::uint64_t number) {
  return oid{digits(number + 0xc000, 40)};
}

inline event_id id_of(std::uint64_t number) {
  return event_id{digits(number, 64)};
}

using refs = std::vector<std::pair<std::string, std::string>>;

inline nostr::event make_event(std::uint64_t id, std::uint32_t kind,
                               const pubkey& author, unix_seconds created_at,
                               std::vector<nostr::tag> tags) {
  nostr::event ev;
  ev.id = id_of(id);
  ev.author = author;
  ev.kind = kind;
  ev.created_at = created_at;
  ev.tags = std::move(tags);
  ev.sig = std::string(128, '0');
  return ev;
}

inline nostr::event announcement(std::uint64_t id, const pubkey& owner,
                                 const std::string& d,
                                 const std::vector<std::string>& clone_urls,
                                 const std::vector<pubkey>& maintainers = {},
                                 unix_seconds created_at = 1000) {
  nostr::tag clone = {"clone"};
  clone.insert(clone.end(), clone_urls.begin(), clone_urls.end());
  nostr::tag others = {"maintainers"};
  for (const auto& m : maintainers)
    others.push_back(m.value);
  return make_event(id, nostr::kind_announcement, owner, created_at,
                    {{"d", d}, clone, others});
}

/// `values`: ref name and value, e.g. {"refs/heads/main", object(1).value}.
inline nostr::event state(std::uint64_t id, const pubkey& author,
                          const std::string& d, const refs& values,
                          unix_seconds created_at = 1000,
                          const std::string& head = "") {
  std::vector<nostr::tag> tags = {{"d", d}};
  for (const auto& [name, value] : values)
    tags.push_back({name, value});
  if (!head.empty())
    tags.push_back({"HEAD", "ref: " + head});
  return make_event(id, nostr::kind_state, author, created_at, std::move(tags));
}

inline nostr::event
pull_request(std::uint64_t id, const pubkey& author, const pubkey& owner,
             const std::string& d, const std::string& tip,
             const std::vector<std::string>& clone_urls = {},
             unix_seconds created_at = 1000) {
  nostr::tag clone = {"clone"};
  clone.insert(clone.end(), clone_urls.begin(), clone_urls.end());
  return make_event(
    id, nostr::kind_pull_request, author, created_at,
    {{"a", "30617:" + owner.value + ":" + d}, {"c", tip}, clone});
}

} // namespace purgatory::test
