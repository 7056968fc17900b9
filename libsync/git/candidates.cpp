#include "libsync/git/candidates.hpp"

#include <algorithm>
#include <set>

namespace purgatory::git {

std::vector<clone_url> askable_urls(const std::vector<std::string>& raw,
                                    const plan_settings& settings) {
  std::vector<clone_url> result;
  std::set<remote_url> seen;
  for (const auto& text : raw) {
    if (result.size() == max_urls_event)
      break;
    auto parsed = parse_clone_url(text);
    auto* url = std::get_if<clone_url>(&parsed);
    if (url == nullptr || settings.own_origins.contains(url->origin())
        || settings.deny_hosts.contains(url->host.value)
        || !seen.insert(url->text).second)
      continue;
    result.push_back(std::move(*url));
  }
  return result;
}

const std::vector<clone_url>& url_book::of(const event_id& id,
                                           const std::vector<std::string>& raw,
                                           const plan_settings& settings) {
  const auto known = known_.find(id);
  if (known != known_.end())
    return known->second;
  // Of events that have left, too: they cost little until there are many.
  if (known_.size() >= max_entries_identifier)
    known_.clear();
  return known_.emplace(id, askable_urls(raw, settings)).first->second;
}

std::vector<clone_url> announced_urls(const authority& announcements,
                                      const std::vector<pubkey>& owners,
                                      const plan_settings& settings,
                                      url_book& book) {
  std::vector<std::vector<clone_url>> offers;
  std::size_t turns = 0;
  for (const auto& owner : owners)
    if (const auto* known = announcements.find(owner)) {
      offers.push_back(book.of(known->id, known->content.clone_urls, settings));
      turns = std::max(turns, offers.back().size());
    }
  std::vector<clone_url> result;
  std::set<remote_url> seen;
  std::set<host_key> hosts;
  for (std::size_t i = 0; i < turns; ++i)
    for (const auto& urls : offers) {
      if (i >= urls.size() || result.size() == max_urls_unit)
        continue;
      const bool room
        = hosts.size() < max_hosts_unit || hosts.contains(urls[i].host);
      if (!room || !seen.insert(urls[i].text).second)
        continue;
      hosts.insert(urls[i].host);
      result.push_back(urls[i]);
    }
  return result;
}

} // namespace purgatory::git
