#pragma once

#include "libsync/git/authority.hpp"
#include "libsync/git/clone_url.hpp"
#include "libsync/git/plan_settings.hpp"

#include <map>
#include <string>
#include <vector>

/// Which URLs may be asked (rules §4.2).
namespace purgatory::git {

/// The clone URLs in `raw` that we may ask: the first 16 valid ones in tag
/// order, each once, without our own origins and denied hosts.
std::vector<clone_url> askable_urls(const std::vector<std::string>& raw,
                                    const plan_settings& settings);

/// What `askable_urls` says, parsed once for each event: a plan asks for it at
/// every step. Holds for one configuration.
class url_book {
public:
  /// `raw` are the URLs of the event `id`; equal ids have equal URLs.
  const std::vector<clone_url>& of(const event_id& id,
                                   const std::vector<std::string>& raw,
                                   const plan_settings& settings);

  /// The configuration changed.
  void clear() { known_.clear(); }

private:
  std::map<event_id, std::vector<clone_url>> known_;
};

/// The clone URLs of the announcements of `owners`, one per owner and turn,
/// first owner first; at most 32 URLs on at most 8 hosts.
std::vector<clone_url> announced_urls(const authority& announcements,
                                      const std::vector<pubkey>& owners,
                                      const plan_settings& settings,
                                      url_book& book);

} // namespace purgatory::git
