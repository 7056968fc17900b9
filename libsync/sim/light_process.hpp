#pragma once

#include "libsync/sim/agenda.hpp"
#include "libsync/sim/generate.hpp"
#include "libsync/sim/light_world.hpp"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace purgatory::sim {

/// The run of a light world.
class light_process {
public:
  explicit light_process(const light_options& options);

  light_summary run();

private:
  enum class kind : std::uint8_t { pump, answer, change };
  struct happening {
    kind what = kind::pump;
    bool refused = false;
    std::uint32_t host = 0;
    std::uint32_t unit = 0;
    lease_id lease = {};
    std::int32_t retry_after = 0; ///< Seconds; 0: none.
    time_point sent = {};
  };
  struct host {
    std::unique_ptr<engine::host_schedule> schedule;
    engine::start_limits limits;
    engine::start_limits loosest; ///< Of the last minute.
    time_point tightened;
    std::optional<time_point> armed;
    std::deque<time_point> window;  ///< Starts of the last minute.
    std::deque<time_point> welcome; ///< Accepted, of the last minute.
    std::uint32_t in_flight = 0;
    duration busy = duration::zero();
    std::vector<std::uint32_t> starts_of; ///< By unit.
    std::vector<time_point> accepted;     ///< Only with a hidden limit.
  };

  void enqueue(std::uint32_t at, std::uint32_t unit, lane turn);
  void pump(std::uint32_t at);
  void start(std::uint32_t at, std::uint32_t unit, lease_id lease);
  void answer(const happening& what);
  void change();
  void restart(std::uint32_t at);
  void check_start(host& at);
  void check(bool good, const char* what);
  bool is_refused(host& at, happening& to);
  [[nodiscard]] std::uint32_t bears() const;
  void measure(light_summary& to) const;
  void measure_hidden(light_summary& to) const;

  light_options options_;
  dice dice_;
  time_point begin_{std::chrono::hours{1}};
  time_point now_{begin_};
  agenda<happening> agenda_;
  std::vector<host> hosts_;
  std::vector<engine::subject> subjects_;
  std::vector<engine::subject_owner> owners_;
  light_summary result_;
  std::uint64_t late_ = 0; ///< Answers after ten minutes,
  std::uint64_t late_refused_ = 0;
  std::uint32_t serial_ = 0;
};

} // namespace purgatory::sim
