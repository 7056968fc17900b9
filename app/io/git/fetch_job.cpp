#include "app/io/git/fetch_job.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace purgatory::io {

namespace {

using git::upload_pack_version;

bool is_sha1(const oid& id) {
  return id.value.size() == 40;
}

/// Calls `what` the first time; never if it is empty.
std::function<void()> once(std::function<void()> what) {
  return [what = std::move(what)]() mutable {
    if (const auto first = std::exchange(what, nullptr))
      first();
  };
}

/// Server text may hold anything; people read this on terminals.
std::string printable(std::string text) {
  std::replace_if(
    text.begin(), text.end(),
    [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; },
    ' ');
  return text;
}

} // namespace

fetch_job::fetch_job(const fetch_settings& settings, curl_session& http,
                     v0_hosts& v0_only, std::filesystem::path repository,
                     const fetch_order& order, const job_guard& guard,
                     const fetch_watch& watch)
  : settings_(settings), http_(http), v0_only_(v0_only),
    repository_(std::move(repository)), order_(order),
    guard_(guard), watch_{once(watch.first_send), once(watch.first_pack_byte)},
    objects_(repository_) {}

fetch_outcome fetch_job::run() {
  sort_wants(order_.wants);
  if (needed_.empty() || !discover_refs())
    return conclude();
  collect_haves();
  ask_for_tips();
  ask_for_rest();
  return conclude();
}

/// What is here already needs no request; what no SHA-1 remote can have is
/// missing there.
void fetch_job::sort_wants(const std::vector<oid>& wants) {
  std::unordered_set<oid> seen;
  for (const auto& id : wants) {
    if (!seen.insert(id).second)
      continue;
    if (objects_.has(id))
      outcome_.got.push_back(id);
    else if (!is_sha1(id))
      outcome_.missing.push_back(id);
    else if (needed_.size() < git::max_wants)
      needed_.push_back(id);
    else
      truncated_ = true;
  }
}

bool fetch_job::discover_refs() {
  auto parsed = git::parse_clone_url(order_.url.value);
  const auto* url = std::get_if<git::clone_url>(&parsed);
  if (url == nullptr) {
    end(fetch_class::policy, "not a URL that we ask");
    return false;
  }
  remote_ = discover(http_, settings_, *url, guard_, watch_.first_send);
  outcome_.bytes += remote_.bytes;
  outcome_.wire_requests += remote_.wire_requests;
  outcome_.redirect = remote_.redirect;
  note_server(remote_.peer, remote_.retry_after);
  if (remote_.outcome != fetch_class::ok) {
    end(remote_.outcome, remote_.detail);
    return false;
  }
  use_v0_
    = !speaks_only_v2()
      && v0_only_.contains(remote_.base.host, std::chrono::steady_clock::now());
  return true;
}

bool fetch_job::speaks_only_v2() const {
  return remote_.refs.kind() == git::advertisement_kind::version2;
}

/// Common ground, so that only news travels: tips of the remote that are here
/// are certain; then our own refs and anchors.
void fetch_job::collect_haves() {
  std::unordered_set<oid> seen;
  const auto add = [&](const oid& id) {
    if (haves_.size() < git::max_haves && seen.insert(id).second)
      haves_.push_back(id);
  };
  for (const auto& id : remote_.refs.tips()) {
    if (haves_.size() >= git::max_haves)
      return;
    if (objects_.has(id))
      add(id);
  }
  for (const auto& id : objects_.ref_targets(git::max_haves))
    add(id);
}

void fetch_job::ask_for_tips() {
  std::vector<oid> tips;
  std::copy_if(needed_.begin(), needed_.end(), std::back_inserter(tips),
               [this](const oid& id) { return remote_.refs.is_tip(id); });
  if (!tips.empty() && may_ask())
    ask(upload_pack_version::v0, tips);
}

void fetch_job::ask_for_rest() {
  const auto version = [this] {
    return use_v0_ ? upload_pack_version::v0 : upload_pack_version::v2;
  };
  while (!needed_.empty() && may_ask() && ask(version(), needed_)) {
  }
}

/// One exchange. False when it brought neither objects nor knowledge, so that
/// asking again is useless.
bool fetch_job::ask(upload_pack_version version,
                    const std::vector<oid>& wants) {
  if (!quarantine_) {
    quarantine_ = fetch_quarantine::create(repository_ / "objects");
    if (!quarantine_) {
      end(fetch_class::internal, "no quarantine can be made");
      return false;
    }
  }
  ++exchanges_;
  const auto result
    = exchange(http_, settings_,
               {remote_.base, version, wants, haves_, repository_, quarantine_},
               guard_, watch_);
  outcome_.bytes += result.bytes;
  outcome_.wire_requests += result.sent ? 1 : 0;
  outcome_.detail = printable(result.detail);
  note_server(result.peer, result.retry_after);
  return note(result, version);
}

bool fetch_job::note(const exchange_result& result,
                     upload_pack_version version) {
  if (result.ask_v0 && !speaks_only_v2()) {
    use_v0_ = true;
    if (result.v0_only)
      v0_only_.remember(remote_.base.host, std::chrono::steady_clock::now());
    return true;
  }
  if (result.missing) {
    // A tip that moved since the list was made may still be there by id.
    if (version == upload_pack_version::v2 || use_v0_)
      mark_missing(*result.missing);
    return true;
  }
  if (result.outcome != fetch_class::ok) {
    end(result.outcome, result.detail);
    return false;
  }
  if (take_arrived() > 0) {
    quarantine_->keep();
    return true;
  }
  quarantine_->drop();
  end(fetch_class::corrupt, "a pack without any object that was asked for");
  return false;
}

/// Moves from needed to got what lies in the quarantine now.
std::size_t fetch_job::take_arrived() {
  if (fetched_ == 0)
    objects_.add(quarantine_->directory());
  objects_.refresh();
  const auto absent
    = std::stable_partition(needed_.begin(), needed_.end(),
                            [this](const oid& id) { return objects_.has(id); });
  const auto arrived
    = static_cast<std::size_t>(std::distance(needed_.begin(), absent));
  outcome_.got.insert(outcome_.got.end(), needed_.begin(), absent);
  // They end the history that is here, best common ground for what follows.
  haves_.insert(haves_.begin(), needed_.begin(), absent);
  needed_.erase(needed_.begin(), absent);
  fetched_ += arrived;
  return arrived;
}

void fetch_job::mark_missing(const oid& id) {
  outcome_.missing.push_back(id);
  std::erase(needed_, id);
}

void fetch_job::end(fetch_class why, std::string detail) {
  failure_ = why;
  outcome_.detail = printable(std::move(detail));
}

void fetch_job::note_server(const std::string& peer,
                            std::optional<std::chrono::seconds> retry_after) {
  if (!peer.empty())
    outcome_.peer = peer;
  if (retry_after)
    outcome_.retry_after = retry_after;
}

fetch_outcome fetch_job::conclude() {
  if (guard_.cancel.load()) {
    outcome_.outcome = fetch_class::internal;
    outcome_.got.clear(); // The quarantine goes, and what came with it.
    return std::move(outcome_);
  }
  const bool open = truncated_ || !needed_.empty();
  if (failure_)
    // Partial success counts: what came is proven, whatever came after it.
    outcome_.outcome = fetched_ > 0 ? fetch_class::ok : *failure_;
  else if (open)
    outcome_.outcome = fetch_class::partial;
  else if (fetched_ > 0 || outcome_.missing.empty())
    outcome_.outcome = fetch_class::ok;
  else
    outcome_.outcome
      = exchanges_ > 0 ? fetch_class::not_here : fetch_class::unsupported;
  if (outcome_.outcome != fetch_class::limited)
    outcome_.retry_after.reset(); // Said in an exchange after the first.
  if (fetched_ > 0)
    outcome_.pack = quarantine_;
  return std::move(outcome_);
}

} // namespace purgatory::io
