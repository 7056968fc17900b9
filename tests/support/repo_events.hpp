#pragma once

#include "tests/support/signed_event.hpp"

#include <string>
#include <utility>
#include <vector>

namespace purgatory::test {

/// Somebody with a key who works on repositories. Each event of one person is
/// a second newer than the one before, and none is ahead of now.
class person {
public:
  using refs = std::vector<std::pair<std::string, std::string>>;

  pubkey key() const { return key_.public_key(); }

  nostr::event announces(const std::string& d,
                         const std::vector<std::string>& clone_urls,
                         std::vector<nostr::tag> more = {}) {
    nostr::tag clone{"clone"};
    clone.insert(clone.end(), clone_urls.begin(), clone_urls.end());
    more.insert(more.begin(), {{"d", d}, clone});
    return sign(nostr::kind_announcement, std::move(more));
  }

  /// `values`: ref name and value. `head`: a branch, as a full ref name.
  nostr::event states(const std::string& d, const refs& values,
                      const std::string& head = {}) {
    std::vector<nostr::tag> tags{{"d", d}};
    for (const auto& [name, value] : values)
      tags.push_back({name, value});
    if (!head.empty())
      tags.push_back({"HEAD", "ref: " + head});
    return sign(nostr::kind_state, std::move(tags));
  }

  nostr::event proposes(const pubkey& owner, const std::string& d,
                        const std::string& tip,
                        const std::vector<std::string>& clone_urls) {
    return sign(nostr::kind_pull_request,
                {{"a", "30617:" + owner.value + ":" + d},
                 {"p", owner.value},
                 {"c", tip},
                 clone_tag(clone_urls)});
  }

  /// A new tip for `pull_request`; with `a` tags only if `repository` is set.
  nostr::event updates(const nostr::event& pull_request, const std::string& tip,
                       const std::vector<std::string>& clone_urls,
                       const std::string& repository = {}) {
    std::vector<nostr::tag> tags{{"E", pull_request.id.value},
                                 {"P", pull_request.author.value},
                                 {"c", tip},
                                 clone_tag(clone_urls)};
    if (!repository.empty())
      tags.push_back({"a", repository});
    return sign(nostr::kind_pull_request_update, std::move(tags));
  }

  nostr::event takes_back(const nostr::event& what) {
    return sign(nostr::kind_deletion, {{"e", what.id.value}});
  }

  nostr::event sign(std::uint32_t kind, std::vector<nostr::tag> tags) {
    return signed_event(key_, kind, std::move(tags), {}, next_time_++);
  }

private:
  static nostr::tag clone_tag(const std::vector<std::string>& urls) {
    nostr::tag result{"clone"};
    result.insert(result.end(), urls.begin(), urls.end());
    return result;
  }

  io::schnorr_key key_ = io::schnorr_key::generate();
  unix_seconds next_time_ = std::time(nullptr) - 1000;
};

} // namespace purgatory::test
