#pragma once

#include "app/io/git/curl_session.hpp"
#include "app/io/git/discovery.hpp"
#include "app/io/git/exchange.hpp"
#include "app/io/git/object_lookup.hpp"
#include "app/io/git/v0_hosts.hpp"
#include "libsync/ports.hpp"

#include <unordered_set>

namespace purgatory::io {

/// One job from its order to its outcome (rules §4.3): discovery, one v0
/// exchange with what is advertised and needed, then the rest by id in v2, or
/// in v0 where the host knows no better. At most four exchanges.
class fetch_job {
public:
  static constexpr int max_exchanges = 4;

  /// `repository` is the target's directory; it exists. `watch` is called at
  /// most once each, as in `git_transport`.
  fetch_job(const fetch_settings& settings, curl_session& http,
            v0_hosts& v0_only, std::filesystem::path repository,
            const fetch_order& order, const job_guard& guard,
            const fetch_watch& watch);

  fetch_outcome run();

private:
  void sort_wants(const std::vector<oid>& wants);
  bool discover_refs();
  bool speaks_only_v2() const;
  void collect_haves();
  void ask_for_tips();
  void ask_for_rest();
  bool ask(git::upload_pack_version version, const std::vector<oid>& wants);
  bool note(const exchange_result& result, git::upload_pack_version version);
  std::size_t take_arrived();
  void mark_missing(const oid& id);
  bool may_ask() const { return !failure_ && exchanges_ < max_exchanges; }
  void end(fetch_class why, std::string detail);
  void note_server(const std::string& peer,
                   std::optional<std::chrono::seconds> retry_after);
  fetch_outcome conclude();

  const fetch_settings& settings_;
  curl_session& http_;
  v0_hosts& v0_only_;
  std::filesystem::path repository_;
  const fetch_order& order_;
  const job_guard& guard_;
  fetch_watch watch_; ///< Its functions take every call.

  object_lookup objects_;
  discovery remote_;
  std::vector<oid> needed_; ///< Neither got nor missing, in the order asked.
  std::vector<oid> haves_;
  std::shared_ptr<fetch_quarantine> quarantine_;
  bool use_v0_ = false; ///< Also for what is not advertised.
  int exchanges_ = 0;
  std::size_t fetched_ = 0; ///< Wants that this job brought.
  bool truncated_ = false;  ///< More wants than one job asks for.
  std::optional<fetch_class> failure_;
  fetch_outcome outcome_;
};

} // namespace purgatory::io
