#pragma once

#include "libsync/config.hpp"

#include <memory>
#include <string>
#include <vector>

namespace purgatory {

/// The whole daemon: the only place that knows all concrete types and decides
/// which actors get a thread of their own.
class daemon_process {
public:
  /// Opens the stores and starts everything; events are taken from now on.
  /// Throws std::exception when the configuration can not work here.
  explicit daemon_process(const config& settings);

  /// Stops if that was not done.
  ~daemon_process();

  daemon_process(const daemon_process&) = delete;
  daemon_process& operator=(const daemon_process&) = delete;

  /// Stops in order: no new events, no new leases, running jobs get four
  /// seconds, the journal is closed. Returns within five seconds, or the
  /// process ends by itself: all that was acknowledged is durable.
  void stop();

  /// True when a part died that nothing can go on without.
  [[nodiscard]] bool is_broken() const;

private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

} // namespace purgatory
