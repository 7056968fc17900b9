#include "libsync/git/transfer_watch.hpp"

#include <algorithm>

namespace purgatory::git {

transfer_watch::transfer_watch(const transfer_limits& limits, time_point now,
                               time_point deadline)
  : limits_(limits), deadline_(deadline), phase_since_(now) {}

void transfer_watch::observe(transfer_phase phase, std::uint64_t bytes,
                             time_point now) {
  bytes_ = bytes;
  if (phase > phase_) {
    phase_ = phase;
    phase_since_ = now;
    next_sample_ = now;
  }
  if (phase_ == transfer_phase::receiving)
    sample(now);
}

/// Compares the sum now with the sum one window ago.
void transfer_watch::sample(time_point now) {
  const auto step
    = std::max(limits_.rate_window / static_cast<int>(samples), duration{1});
  while (next_sample_ <= now) {
    if (filled_ == samples) {
      const auto seconds
        = std::chrono::duration<double>(limits_.rate_window).count();
      const auto least = static_cast<double>(limits_.min_rate) * seconds;
      if (static_cast<double>(bytes_ - bytes_at_[next_]) < least)
        too_slow_ = true;
    }
    bytes_at_[next_] = bytes_;
    next_ = (next_ + 1) % samples;
    filled_ = std::min(filled_ + 1, samples);
    next_sample_ += step;
  }
}

void transfer_watch::excuse(duration span) {
  phase_since_ += span;
  next_sample_ += span;
}

duration transfer_watch::limit_of(transfer_phase phase) const {
  switch (phase) {
  case transfer_phase::resolving:
    return limits_.dns;
  case transfer_phase::connecting:
    return limits_.connect;
  case transfer_phase::securing:
    return limits_.tls;
  case transfer_phase::waiting:
    return limits_.first_byte;
  case transfer_phase::receiving:
    break;
  }
  return duration::max();
}

std::optional<fetch_class> transfer_watch::verdict(time_point now) const {
  if (now >= deadline_ || too_slow_)
    return fetch_class::timeout;
  if (now - phase_since_ < limit_of(phase_))
    return std::nullopt;
  switch (phase_) {
  case transfer_phase::resolving:
    return fetch_class::dns;
  case transfer_phase::connecting:
    return fetch_class::refused;
  case transfer_phase::securing:
    return fetch_class::tls;
  default:
    return fetch_class::timeout;
  }
}

} // namespace purgatory::git
