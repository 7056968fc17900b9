#pragma once

#include "libsync/engine/host_schedule.hpp"
#include "libsync/journal.hpp"
#include "libsync/live_clock.hpp"
#include "libsync/types.hpp"

namespace purgatory {

/// What the end of a fetch says about its host (rules §8.4). Whatever answered
/// is alive, be the answer of use or not.
[[nodiscard]] engine::host_signal signal_of(fetch_class outcome);

/// The class that a block is stored under.
[[nodiscard]] fetch_class class_of(engine::host_signal signal);

/// What the journal keeps of a host, at a moment of which both times are
/// known; and back. Rounded up to seconds: a block never ends early.
[[nodiscard]] host_record to_record(const host_key& host,
                                    const engine::host_image& image,
                                    const live_clock& at);
[[nodiscard]] engine::host_image from_record(const host_record& record,
                                             const live_clock& at);

} // namespace purgatory
