#include "libsync/engine/host_health.hpp"

#include "libsync/engine/backoff.hpp"

#include <algorithm>
#include <utility>

namespace purgatory::engine {

namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t distinct_to_block = 3;
constexpr std::uint32_t tries_to_block = 4;
constexpr duration longest_retry_after = hours{24};
constexpr duration repeated_within = minutes{10};
/// Who was held back for as long as a hunting window may have parked others.
constexpr duration long_limit = minutes{30};

bool is_failure(host_signal signal) {
  return signal > host_signal::limited;
}

/// Failures that are counted together.
std::size_t kind_of(host_signal signal) {
  switch (signal) {
  case host_signal::dns:
    return 1;
  case host_signal::tls:
    return 2;
  default:
    return 0;
  }
}

duration length_of(host_signal reason, std::uint32_t blocks) {
  constexpr auto none = 0.0;
  switch (reason) {
  case host_signal::limited:
  case host_signal::server:
    return backoff{seconds{60}, hours{1}, none}.after(blocks, none);
  case host_signal::timeout:
  case host_signal::refused:
    return backoff{seconds{60}, hours{4}, none}.after(blocks, none);
  default: {
    duration length = minutes{15};
    for (auto n = blocks; n > 1 && length < hours{12}; --n)
      length *= 4;
    return std::min<duration>(length, hours{12});
  }
  }
}

} // namespace

const char* to_string(host_signal value) {
  constexpr std::array names{"none",    "good",    "limited", "server",
                             "timeout", "refused", "dns",     "tls"};
  return names.at(static_cast<std::size_t>(value));
}

host_health::standing host_health::stands(time_point now) const {
  if (blocks_ == 0)
    return standing::open;
  return now < blocked_until_ ? standing::blocked : standing::probation;
}

std::optional<time_point> host_health::blocked_until() const {
  if (blocks_ == 0)
    return std::nullopt;
  return blocked_until_;
}

std::vector<std::string_view> host_health::failing(host_signal signal) const {
  std::vector<std::string_view> names;
  for (const auto& each : failing_.at(kind_of(signal)))
    names.emplace_back(each.who);
  return names;
}

std::optional<host_event> host_health::ended(const host_outcome& outcome,
                                             const host_company& company,
                                             time_point now) {
  if (outcome.signal == host_signal::good)
    return succeeded(outcome, now);
  if (outcome.signal == host_signal::none)
    return std::nullopt;
  if (outcome.probe)
    ++failed_probes_;
  if (outcome.signal == host_signal::limited)
    return was_limited(outcome, now);
  const auto news = failed(outcome, company, now);
  if (news && company.waiting)
    awaited();
  return news;
}

std::optional<host_event> host_health::succeeded(const host_outcome& outcome,
                                                 time_point now) {
  const bool was_asked_to_wait = reason_ == host_signal::limited;
  if (blocks_ > 0 && was_asked_to_wait && outcome.sent <= blocked_since_)
    return std::nullopt;
  for (auto& each : failing_)
    each.clear();
  reason_ = host_signal::none;
  if (std::exchange(blocks_, 0) == 0)
    return std::nullopt;
  // A host that throttles for a minute did not fail, so nobody has to be
  // woken because of its return.
  if (was_asked_to_wait && now - row_since_ < long_limit)
    return std::nullopt;
  return host_event::recovered;
}

std::optional<host_event> host_health::was_limited(const host_outcome& outcome,
                                                   time_point now) {
  // Requests that were on their way when the first complaint came are the
  // same complaint.
  const bool same = limited_at_ && outcome.sent <= *limited_at_;
  if (same && (blocks_ == 0 || !outcome.retry_after))
    return std::nullopt;
  if (!same) {
    const bool again = limited_at_ && now <= limited_until_ + repeated_within;
    limited_row_ = again ? limited_row_ + 1 : 1;
    limited_at_ = now;
  }
  const auto asked = outcome.retry_after.value_or(seconds{0});
  const auto length
    = outcome.retry_after
        ? std::clamp<duration>(asked, seconds{1}, longest_retry_after)
        : length_of(host_signal::limited, limited_row_);
  const auto until
    = blocks_ > 0 ? std::max(blocked_until_, now + length) : now + length;
  if (same && until == blocked_until_)
    return std::nullopt;
  if (!same)
    block(host_signal::limited, now);
  blocked_until_ = until;
  limited_until_ = until;
  return host_event::blocked;
}

std::optional<host_event> host_health::failed(const host_outcome& outcome,
                                              const host_company& company,
                                              time_point now) {
  auto& row = failing_.at(kind_of(outcome.signal));
  const bool all_fail = add_failure(row, outcome.who, company.others);
  // After a block only the probe has something to say.
  const auto stand = stands(now);
  const bool decides = stand == standing::open
                         ? all_fail
                         : stand == standing::probation && outcome.probe;
  if (!decides)
    return std::nullopt;
  block(outcome.signal, now);
  blocked_until_ = now + length_of(outcome.signal, blocks_);
  return host_event::blocked;
}

/// True if the row of failures is a reason to block.
bool host_health::add_failure(streak& to, std::string_view who,
                              std::size_t others) {
  auto found = std::ranges::find(to, who, &failing_subject::who);
  if (found == to.end() && to.size() < distinct_to_block)
    found = to.insert(to.end(), {std::string{who}, 0});
  if (found != to.end())
    ++found->times;
  if (to.size() >= distinct_to_block)
    return true;
  return others == 0 && std::ranges::all_of(to, [](const auto& each) {
           return each.times >= tries_to_block;
         });
}

void host_health::block(host_signal reason, time_point now) {
  if (blocks_ == 0)
    row_since_ = now;
  // What was learned about another trouble says nothing about this one.
  const bool another
    = (reason == host_signal::limited) != (reason_ == host_signal::limited)
      || kind_of(reason) != kind_of(reason_);
  blocks_ = another ? 1 : blocks_ + 1;
  reason_ = reason;
  blocked_since_ = now;
}

void host_health::awaited() {
  if (blocks_ == 0 || !is_failure(reason_))
    return;
  const auto cap = kind_of(reason_) == 0 ? caps_.unreachable : caps_.unknown;
  blocked_until_ = std::min(blocked_until_, blocked_since_ + cap);
}

health_image host_health::image() const {
  return {reason_, blocks_, failed_probes_,
          blocks_ == 0 ? time_point{} : blocked_until_};
}

void host_health::restore(const health_image& image, time_point now) {
  failed_probes_ = image.failed_probes;
  blocks_ = image.reason > host_signal::good ? image.blocks : 0;
  if (blocks_ == 0)
    return;
  reason_ = image.reason;
  blocked_until_ = image.blocked_until;
  blocked_since_ = std::min(now, blocked_until_);
  row_since_ = blocked_since_;
  if (reason_ != host_signal::limited)
    return;
  limited_row_ = blocks_;
  limited_at_ = blocked_since_;
  limited_until_ = blocked_until_;
}

std::string host_health::check_invariants() const {
  if ((blocks_ > 0) != (reason_ != host_signal::none))
    return "a reason for each block";
  if (blocks_ > 0 && blocked_until_ < blocked_since_)
    return "a block ends before it begins";
  for (const auto& each : failing_)
    if (each.size() > distinct_to_block)
      return "at most three failing subjects";
  return {};
}

} // namespace purgatory::engine
