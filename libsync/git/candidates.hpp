#pragma once

#include "libsync/git/authority.hpp"
#include "libsync/git/clone_url.hpp"
#include "libsync/git/plan_settings.hpp"

#include <string>
#include <vector>

/// Which URLs may be asked (rules §4.2).
namespace purgatory::git {

/// The clone URLs in `raw` that we may ask: the first 16 valid ones in tag
/// order, each once, without our own origins and denied hosts.
std::vector<clone_url> askable_urls(const std::vector<std::string>& raw,
                                    const plan_settings& settings);

/// The clone URLs of the announcements of `owners`, one per owner and turn,
/// first owner first; at most 32 URLs on at most 8 hosts.
std::vector<clone_url> announced_urls(const authority& announcements,
                                      const std::vector<pubkey>& owners,
                                      const plan_settings& settings);

} // namespace purgatory::git
