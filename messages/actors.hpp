#pragma once

#include "messages/inspect.hpp"
#include "messages/messages.hpp"

#include <caf/typed_actor.hpp>

/// The typed interface of every actor: the table of contents of the daemon.
/// A handle converts to any subset of its interface, so messages carry the
/// narrowest sink that does (`grant_sink`, `completion_sink`).
namespace purgatory {

/// Hears that a lease was granted.
using grant_sink = caf::typed_actor<caf::reacts_to<url_ready>>;

/// Hears that a job gets its pack, and that it ended.
using completion_sink = caf::typed_actor<caf::reacts_to<request_complete>,
                                         caf::reacts_to<fetch_moving>>;

/// Hears that an armed time has come.
using tick_sink = caf::typed_actor<caf::reacts_to<backoff_tick>>;

/// Hears what matters of a host beyond its throttle.
using host_news_sink = caf::typed_actor<caf::reacts_to<host_news>>;

/// Hears that the first request of a lease left, and that its pack comes.
using started_sink = caf::typed_actor<caf::reacts_to<fetch_started>,
                                      caf::reacts_to<fetch_moving>>;

/// Hears how an initial sync goes on.
using sync_report_sink = caf::typed_actor<caf::reacts_to<sync_report>>;

/// Hears that the relay has sent what it had stored.
using history_sink = caf::typed_actor<caf::reacts_to<history_read>>;

/// Owns one identifier: its entries, units, needs, tried URLs, due time.
using identifier_actor = caf::typed_actor<
  // An event of this identifier; answered once the journal has it.
  caf::replies_to<event_arrived>::with<admission>,
  // A throttle grants a lease.
  caf::reacts_to<url_ready>,
  // A fetch ended. From: pool.
  caf::reacts_to<request_complete>,
  // Debounce or backoff has elapsed. From: timer wheel.
  caf::reacts_to<backoff_tick>,
  // A running job gets its pack. From: pool.
  caf::reacts_to<fetch_moving>,
  // Places and unsent leases at that host are void. From: supervisor.
  caf::reacts_to<throttle_restarted>,
  // A host that failed answers again. From: supervisor.
  caf::reacts_to<host_recovered>,
  // Be the one that tries this host. From: supervisor.
  caf::reacts_to<probe_host>,
  // New settings of the plan. From: supervisor.
  caf::reacts_to<plan_changed>,
  // Nothing is on its way: leave. From: supervisor.
  caf::reacts_to<close>>;

/// Owns one domain: who waits, which leases count, when the next may start.
using throttle_actor = caf::typed_actor<
  // Ask for a turn; later grants go to the second value.
  caf::replies_to<enqueue, grant_sink>::with<enqueue_answer>,
  // Start, defer or withdraw a granted lease. From: identifier.
  caf::reacts_to<grant_answer>,
  // Give up a place. From: identifier.
  caf::replies_to<leave_queue>::with<queue_left>,
  // The lease's first request left. From: pool.
  caf::reacts_to<fetch_started>,
  // The lease ended. From: pool.
  caf::reacts_to<request_complete>,
  // INTERNAL: the rate policy admits again.
  caf::reacts_to<backoff_tick>,
  // What counts already; nothing is granted before it came. From: pool.
  caf::reacts_to<throttle_seed>,
  // New ceilings. From: supervisor.
  caf::reacts_to<set_limits>, caf::replies_to<describe>::with<throttle_report>>;

/// Owns the job table: at most N jobs at once, each on a thread of its own.
using fetch_pool_actor = caf::typed_actor<
  // Run a job; its end goes to the second value and to the host's throttle.
  caf::reacts_to<fetch_request, completion_sink>,
  // A worker sent its first request; it gets its pack. From: worker.
  caf::reacts_to<fetch_started>, caf::reacts_to<fetch_moving>,
  // A throttle was spawned; it is seeded in return. From: supervisor.
  caf::reacts_to<adopt_throttle, throttle_actor>,
  // The holder of an unstarted lease died. From: throttle.
  caf::replies_to<reclaim>::with<reclaim_answer>,
  // INTERNAL: the grace of a drain is over, or a job has become slow.
  caf::reacts_to<backoff_tick>, caf::replies_to<drain>::with<drained>>;

/// One thread, one job at a time; blocks inside the fetch client.
using fetch_worker_actor
  = caf::typed_actor<caf::replies_to<fetch_job>::with<fetch_outcome>>;

/// Steps on bare repositories. Three actors speak it: `repository` (one per
/// tenant, serialises), `git_io` (hands on to a free thread), `git_worker`.
using git_actor
  = caf::typed_actor<caf::replies_to<prepare>::with<repository_report>,
                     caf::replies_to<check_presence>::with<presence>,
                     caf::replies_to<promote>::with<repository_report>,
                     caf::replies_to<copy_from>::with<repository_report>,
                     caf::replies_to<align>::with<repository_report>,
                     caf::replies_to<set_pr_ref>::with<repository_report>>;

/// The only SQL writer; an answer to `record_batch` means durable.
using journal_actor
  = caf::typed_actor<caf::replies_to<record_batch>::with<recorded>,
                     caf::replies_to<load_identifier>::with<identifier_image>,
                     caf::replies_to<list_pending>::with<pending_identifiers>,
                     caf::replies_to<list_hosts>::with<known_hosts>,
                     caf::replies_to<find_interested>::with<interested>,
                     caf::replies_to<find_event>::with<found_event>,
                     // INTERNAL: commit what queued before.
                     caf::reacts_to<commit_batch>,
                     caf::replies_to<close_journal>::with<journal_closed>>;

/// Releases events: to a relay, or to a file when there is none.
using relay_link_actor
  = caf::typed_actor<caf::replies_to<publish>::with<published>>;

/// Parses, verifies and routes what is offered.
using intake_actor
  = caf::typed_actor<caf::replies_to<offer>::with<offer_answer>>;

/// The relay link itself: a `relay_link_actor` that also talks to its socket.
using relay_link_io = relay_link_actor::extend<
  // Start to offer what the relay serves. From: main.
  caf::reacts_to<watch_relay, intake_actor>,
  // INTERNAL: the socket reports, from its own thread.
  caf::reacts_to<relay_opened>, caf::reacts_to<relay_text>,
  caf::reacts_to<relay_closed>,
  // INTERNAL: a delay or a deadline is over.
  caf::reacts_to<backoff_tick>>;

/// All long waits; fires once per armed time, to the armed actor if it lives.
using timer_wheel_actor
  = caf::typed_actor<caf::reacts_to<arm_tick, tick_sink>,
                     // INTERNAL: the earliest due time has come.
                     caf::reacts_to<backoff_tick>>;

/// Spawns, routes, monitors, restarts and retires.
using supervisor_actor = caf::typed_actor<
  // Route an event to its identifier, spawned on first use.
  caf::replies_to<event_arrived, identifier>::with<admission>,
  // The throttle of a host, spawned on first use. From: identifier.
  caf::replies_to<host_key>::with<throttle_actor>,
  // The writer of a repository, spawned on first use. From: identifier.
  caf::replies_to<tenant>::with<git_actor>,
  // An identifier has its past. From: identifier.
  caf::reacts_to<loaded>,
  // An idle identifier wants to leave.
  caf::reacts_to<retire>,
  // A host was blocked, answers again, may be tried, or is idle. From:
  // throttle.
  caf::reacts_to<host_news>,
  // New settings of the plan, for all. From: sync watch.
  caf::reacts_to<plan_changed>,
  // The throttles that live. From: sync watch.
  caf::replies_to<list_throttles>::with<std::vector<throttle_actor>>,
  // New ceilings for throttles that live and those to come. From: settings.
  caf::replies_to<set_limits>::with<limits_set>,
  // Take up the work of the journal: who waits awake, who is due. At start.
  caf::replies_to<list_pending>::with<pending_identifiers>,
  // INTERNAL: somebody's sleep, or a host's block, is over.
  caf::reacts_to<backoff_tick>, caf::replies_to<stop_work>::with<work_stopped>>;

/// The first filling of an empty journal: tells how far it is, and ends it.
using sync_watch_actor
  = caf::typed_actor<caf::reacts_to<sync_report>, caf::reacts_to<history_read>,
                     // INTERNAL: time for a line of progress.
                     caf::reacts_to<backoff_tick>>;

/// The validated configuration; applies changes at runtime.
using settings_actor
  = caf::typed_actor<caf::replies_to<set_limits>::with<limits_set>>;

/// Counts.
using metrics_actor
  = caf::typed_actor<caf::reacts_to<count>,
                     caf::replies_to<scrape>::with<metrics_snapshot>>;

} // namespace purgatory
