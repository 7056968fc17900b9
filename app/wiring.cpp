#include "app/wiring.hpp"

#include "actors/door.hpp"
#include "actors/fetch_pool.hpp"
#include "actors/fetch_worker.hpp"
#include "actors/file_sink.hpp"
#include "actors/git_io.hpp"
#include "actors/identifier.hpp"
#include "actors/intake.hpp"
#include "actors/journal.hpp"
#include "actors/log.hpp"
#include "actors/metrics.hpp"
#include "actors/relay_link.hpp"
#include "actors/settings.hpp"
#include "actors/supervisor.hpp"
#include "actors/sync_watch.hpp"
#include "actors/throttle.hpp"
#include "actors/timer_wheel.hpp"
#include "app/io/crypto/schnorr.hpp"
#include "app/io/git/fetch_client.hpp"
#include "app/io/git/object_store.hpp"
#include "app/io/intake/socket_server.hpp"
#include "app/io/relay/released_file.hpp"
#include "app/io/relay/ws_client.hpp"
#include "app/io/store/sqlite_store.hpp"
#include "app/settings_of.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>
#include <caf/scoped_actor.hpp>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <random>
#include <thread>

namespace purgatory {

namespace {

/// How long running jobs may go on after a stop was asked for, and when the
/// process ends in any case.
constexpr auto job_grace = std::chrono::seconds(4);
constexpr auto stop_deadline = std::chrono::milliseconds(4600);

/// A minute window counts as full for so long after an unclean stop.
constexpr unix_seconds full_window = 60;

unix_seconds wall_now() {
  return std::time(nullptr);
}

caf::actor_system_config system_config() {
  caf::actor_system_config cfg;
  // Sleeping workers instead of polling ones: a sidecar is mostly idle.
  cfg.set("scheduler.policy", caf::atom("sharing"));
  cfg.set("scheduler.max-threads", std::size_t{2});
  cfg.set("scheduler.max-throughput", std::size_t{100});
  return cfg;
}

/// Ends the process when a part dies that everything rests on.
caf::behavior guardian(caf::event_based_actor* self,
                       std::vector<caf::actor_addr> vital,
                       std::shared_ptr<std::atomic<bool>> broken) {
  for (const auto& part : vital)
    self->monitor(part);
  self->set_down_handler([broken](const caf::down_msg& m) {
    log::error("Vital part died", {{"reason", to_string(m.reason)}});
    *broken = true;
    ::kill(::getpid(), SIGTERM);
  });
  return {[](const close&) {}};
}

template <class Handle>
caf::actor_addr address_of(const Handle& part) {
  return part.address();
}

/// Until when nothing may be granted, given how the previous run ended.
std::optional<time_point> quiet_until(const previous_run& before) {
  if (before.first)
    return std::nullopt;
  const auto passed = before.clean ? wall_now() - before.stopped : 0;
  if (passed >= full_window)
    return std::nullopt;
  // A clock set back says nothing about the time that passed.
  const auto rest = passed < 0 ? full_window : full_window - passed;
  return std::chrono::steady_clock::now() + std::chrono::seconds(rest);
}

} // namespace

struct daemon_process::parts {
  explicit parts(const config& s)
    : settings(s), cfg(system_config()), system(cfg),
      broken(std::make_shared<std::atomic<bool>>(false)) {}

  void open();
  void start_pools();
  void start_release();
  bool is_initial_sync() const;
  void start_engine();
  void start_doors();
  void stop();

  config settings;
  std::shared_ptr<event_store> store;
  previous_run before;
  live_clock live;

  caf::actor_system_config cfg;
  caf::actor_system system;
  std::shared_ptr<std::atomic<bool>> broken;

  journal_actor journal_part;
  metrics_actor metrics_part;
  timer_wheel_actor wheel;
  git_actor git_part;
  fetch_pool_actor pool;
  relay_link_actor release;
  relay_link_io link;
  supervisor_actor supervisor_part;
  sync_watch_actor sync_part; ///< Null unless an initial sync is on.
  settings_actor settings_part;
  intake_actor intake_part;
  door_actor door_part;
  caf::actor guard;
  std::unique_ptr<io::socket_server> socket;
  bool stopped = false;
};

void daemon_process::parts::open() {
  namespace fs = std::filesystem;
  fs::create_directories(settings.data_dir);
  fs::create_directories(settings.git_root);
  store = open_sqlite_store(
    (fs::path(settings.data_dir) / "purgatoryd.sqlite").string(),
    [](const std::string& what) {
      log::warn("Journal damaged", {{"detail", what}});
    });
  before = store->last_run();
  live = {std::chrono::steady_clock::now(), before.live};
  const auto removed
    = io::make_object_store(settings.git_root)->remove_stale_quarantines();
  if (removed > 0)
    log::info("Removed stale quarantines", {{"count", removed}});
  if (settings.own_origins.empty())
    log::warn("No own_origins: every announcement is accepted");
}

void daemon_process::parts::start_pools() {
  journal_part = system.spawn<caf::detached>(journal, store, live);
  metrics_part = system.spawn(metrics);
  wheel = system.spawn(timer_wheel);
  const auto threads = settings.git_io > 0
                         ? settings.git_io
                         : std::max(1U, std::thread::hardware_concurrency());
  git_part = system.spawn(git_io, std::size_t{threads}, [this] {
    return git_actor{system.spawn<caf::detached>(
      git_worker,
      std::shared_ptr<object_store>(io::make_object_store(settings.git_root)))};
  });
  pool = system.spawn(
    fetch_pool,
    engine::board_limits{settings.fetch_workers, settings.prefix_concurrent},
    [this, fetching = fetch_settings_of(settings)](started_sink sink) {
      return fetch_worker_actor{system.spawn<caf::detached>(
        fetch_worker,
        std::shared_ptr<git_transport>(
          io::make_fetch_client(fetching, settings.git_root)),
        std::move(sink))};
    });
}

void daemon_process::parts::start_release() {
  if (settings.relay_url.empty()) {
    const auto path
      = std::filesystem::path(settings.data_dir) / "released.jsonl";
    release = system.spawn<caf::detached>(
      file_sink, std::make_shared<io::released_file>(path, &std::cout));
    return;
  }
  auto wanted = relay_link_config_of(settings);
  wanted.history = sync_part;
  link = system.spawn(relay_link, std::move(wanted), io::make_ws_factory());
  release = link;
}

/// There is nothing to catch up with where no relay tells of the past.
bool daemon_process::parts::is_initial_sync() const {
  if (settings.initial_sync == sync_mode::automatic)
    return before.first && !settings.relay_url.empty();
  return settings.initial_sync == sync_mode::on;
}

/// Nobody needs the parts that come later before work is taken up.
void daemon_process::parts::start_engine() {
  std::random_device entropy;
  const identifier_config shared{plan_settings_of(settings), wall_now,
                                 (std::uint64_t{entropy()} << 32U) | entropy(),
                                 live};
  supervisor_factories make;
  make.make_identifier = [this, shared](const supervisor_actor& parent,
                                        const identifier& repo,
                                        const git::plan_settings& plan) {
    auto config = shared;
    config.plan = plan;
    return system.spawn(identifier_shell, repo,
                        identifier_doors{parent, pool, journal_part, release,
                                         wheel, metrics_part, sync_part},
                        std::move(config));
  };
  make.make_throttle
    = [this](const host_news_sink& news, const throttle_order& order) {
        throttle_config made;
        made.host = order.host;
        made.serial = order.serial;
        made.limits = order.limits;
        made.news = news;
        made.known = order.known;
        made.live = live;
        made.guard = settings.window_guard;
        made.caps = {settings.host_block_down, settings.host_block_unknown};
        return system.spawn(throttle, made, pool);
      };
  make.make_repository = [this](const tenant& which) {
    return system.spawn(repository, which, git_part);
  };
  supervisor_options options;
  options.limits = {settings.domain_concurrent, settings.domain_rate_limit,
                    settings.domain_hour_limit, settings.domain_day_limit};
  for (const auto& [host, own] : settings.host_limits)
    options.own_limits[host_key{host}]
      = {host_key{host}, own.concurrent, own.per_minute, own.per_hour,
         own.per_day};
  options.plan = shared.plan;
  options.plan.initial_sync = is_initial_sync();
  options.live = live;
  options.quiet_until = quiet_until(before);
  if (options.quiet_until)
    log::info("Rate windows count as full after the previous stop");
  supervisor_part
    = system.spawn(supervisor, std::move(make), pool, journal_part, options);
  settings_part = system.spawn(purgatory::settings, settings, supervisor_part);
  if (is_initial_sync())
    sync_part = system.spawn(
      sync_watch, supervisor_part,
      sync_watch_config{std::size_t{settings.fetch_workers}, shared.plan});
}

void daemon_process::parts::start_doors() {
  intake_part = system.spawn(
    intake, intake_doors{supervisor_part, journal_part, metrics_part},
    nostr::event_limits{settings.max_event_bytes, settings.max_refs},
    std::shared_ptr<const signature_verifier>(io::make_schnorr_verifier()));
  door_part = system.spawn(door, intake_part);
  guard = system.spawn(
    guardian,
    std::vector{address_of(journal_part), address_of(metrics_part),
                address_of(wheel), address_of(git_part), address_of(pool),
                address_of(release), address_of(supervisor_part),
                address_of(settings_part), address_of(intake_part),
                address_of(door_part)},
    broken);
  {
    // What waited before this run waits again before anything new comes.
    caf::scoped_actor self{system};
    self->request(supervisor_part, caf::infinite, list_pending{})
      .receive(
        [](const pending_identifiers& pending) {
          log::info("Purgatory restored",
                    {{"identifiers", pending.repos.size()}});
        },
        [this](caf::error& reason) {
          throw std::runtime_error("journal unreadable: "
                                   + system.render(reason));
        });
  }
  if (link)
    caf::anon_send(link, watch_relay{}, intake_part);
  socket = std::make_unique<io::socket_server>(
    socket_options_of(settings),
    [door = door_part](offer asked, io::admission_reply reply) {
      caf::anon_send(door, foreign_offer{std::move(asked), std::move(reply)});
    });
}

void daemon_process::parts::stop() {
  if (std::exchange(stopped, true))
    return;
  // Detached threads can not be interrupted: a stuck one must not keep the
  // process, and nothing acknowledged depends on it.
  std::thread([broken = broken] {
    std::this_thread::sleep_for(stop_deadline);
    std::_Exit(*broken ? 1 : 0);
  }).detach();
  socket.reset();
  if (guard)
    caf::anon_send_exit(guard, caf::exit_reason::kill);
  {
    caf::scoped_actor self{system};
    const auto ask
      = [&](const auto& part, auto message, auto on_answer, duration deadline) {
          if (part)
            self->request(part, deadline, std::move(message))
              .receive(on_answer, [](caf::error&) {});
        };
    ask(
      supervisor_part, stop_work{}, [](const work_stopped&) {},
      std::chrono::seconds(1));
    ask(
      pool, drain{job_grace},
      [](const drained& m) {
        if (m.cancelled > 0)
          log::info("Fetches cancelled", {{"count", m.cancelled}});
      },
      job_grace + std::chrono::milliseconds(400));
    ask(
      journal_part, close_journal{wall_now()}, [](const journal_closed&) {},
      std::chrono::seconds(1));
  }
  constexpr auto reason = caf::exit_reason::user_shutdown;
  const auto end = [&](auto& part) {
    if (part)
      caf::anon_send_exit(part, reason);
    part = nullptr;
  };
  end(door_part);
  end(intake_part);
  end(settings_part);
  end(sync_part);
  end(supervisor_part);
  end(pool);
  end(git_part);
  end(link);
  end(release);
  end(wheel);
  end(metrics_part);
  end(journal_part);
  system.await_all_actors_done();
  log::info("Stopped");
}

daemon_process::daemon_process(const config& settings)
  : parts_(std::make_unique<parts>(settings)) {
  try {
    parts_->open();
    parts_->start_pools();
    parts_->start_engine();
    parts_->start_release();
    parts_->start_doors();
  } catch (...) {
    parts_->stop();
    throw;
  }
}

daemon_process::~daemon_process() {
  parts_->stop();
}

void daemon_process::stop() {
  parts_->stop();
}

bool daemon_process::is_broken() const {
  return *parts_->broken;
}

} // namespace purgatory
