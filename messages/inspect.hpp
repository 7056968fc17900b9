#pragma once

#include "messages/messages.hpp"

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/meta/type_name.hpp>

/// inspect() for each message, so that CAF can print it in a failed
/// expectation. Nothing is ever serialised: the daemon is one process.
namespace purgatory {

/// Prints as its text.
template <class Inspector, class Tag>
typename Inspector::result_type inspect(Inspector& f, strong_text<Tag>& x) {
  return f(x.value);
}

// One line per struct: its name and fields, in order.
#define PURGATORY_INSPECT(type, ...)                                           \
  template <class Inspector>                                                   \
  typename Inspector::result_type inspect(Inspector& f, type& x) {             \
    static_cast<void>(x);                                                      \
    return f(caf::meta::type_name(#type) __VA_OPT__(, ) __VA_ARGS__);          \
  }

PURGATORY_INSPECT(lease_id, x.value)
PURGATORY_INSPECT(unit_key, x.owner, x.repo)
PURGATORY_INSPECT(tenant, x.owner, x.repo)
PURGATORY_INSPECT(admission, x.what, x.message)
PURGATORY_INSPECT(offer, x.json, x.from)
PURGATORY_INSPECT(offer_answer, x.raw_id, x.decision)
PURGATORY_INSPECT(event_arrived, x.event.id, x.event.kind, x.from)
PURGATORY_INSPECT(enqueue, x.who, x.url, x.turn)
PURGATORY_INSPECT(url_ready, x.who, x.url, x.host, x.lease)
PURGATORY_INSPECT(enqueue_answer, x.outcome, x.grant)
PURGATORY_INSPECT(fetch_moving, x.lease)
PURGATORY_INSPECT(host_news, x.what, x.state.host)
PURGATORY_INSPECT(host_recovered, x.host)
PURGATORY_INSPECT(probe_host, x.host)
PURGATORY_INSPECT(grant_answer, x.lease, x.decision)
PURGATORY_INSPECT(leave_queue, x.who)
PURGATORY_INSPECT(queue_left, x.who)
PURGATORY_INSPECT(backoff_tick, x.generation)
PURGATORY_INSPECT(arm_tick, x.due, x.generation)
PURGATORY_INSPECT(limits_set, x.accepted, x.message)
PURGATORY_INSPECT(throttle_restarted, x.host)
PURGATORY_INSPECT(describe)
PURGATORY_INSPECT(throttle_report, x.host, x.waiting, x.leases, x.concurrent,
                  x.per_minute)
PURGATORY_INSPECT(fetch_order, x.url, x.wants, x.target)
PURGATORY_INSPECT(fetch_request, x.lease, x.who, x.host, x.order)
PURGATORY_INSPECT(fetch_started, x.lease, x.at)
PURGATORY_INSPECT(fetch_outcome, x.outcome, x.got, x.missing, x.detail)
PURGATORY_INSPECT(request_complete, x.lease, x.who, x.host, x.url, x.result)
PURGATORY_INSPECT(adopt_throttle, x.host, x.serial)
PURGATORY_INSPECT(seeded_lease, x.lease, x.who, x.running)
PURGATORY_INSPECT(throttle_seed, x.leases)
PURGATORY_INSPECT(reclaim, x.lease)
PURGATORY_INSPECT(reclaim_answer, x.lease, x.outcome)
PURGATORY_INSPECT(drain, x.grace)
PURGATORY_INSPECT(drained, x.cancelled)
PURGATORY_INSPECT(prepare, x.repository)
PURGATORY_INSPECT(check_presence, x.repository, x.ids)
PURGATORY_INSPECT(presence, x.repository, x.ids, x.kinds)
PURGATORY_INSPECT(promote, x.repository, x.wants)
PURGATORY_INSPECT(copy_from, x.repository, x.from, x.ids)
PURGATORY_INSPECT(align, x.repository, x.wanted.refs)
PURGATORY_INSPECT(set_pr_ref, x.repository, x.pr, x.tip)
PURGATORY_INSPECT(repository_report, x.repository, x.report.result,
                  x.report.detail)
PURGATORY_INSPECT(recorded)
PURGATORY_INSPECT(load_identifier, x.repo)
PURGATORY_INSPECT(list_pending)
PURGATORY_INSPECT(pending_identifier, x.repo, x.asleep)
PURGATORY_INSPECT(pending_identifiers, x.repos)
PURGATORY_INSPECT(list_hosts)
PURGATORY_INSPECT(find_interested, x.host, x.after, x.limit)
PURGATORY_INSPECT(interested, x.repos)
PURGATORY_INSPECT(find_event, x.id)
PURGATORY_INSPECT(commit_batch)
PURGATORY_INSPECT(close_journal, x.now)
PURGATORY_INSPECT(journal_closed)
PURGATORY_INSPECT(publish, x.event.id)
PURGATORY_INSPECT(published, x.id, x.outcome, x.detail)
PURGATORY_INSPECT(watch_relay)
PURGATORY_INSPECT(relay_opened, x.connection)
PURGATORY_INSPECT(relay_text, x.connection, x.text)
PURGATORY_INSPECT(relay_closed, x.connection, x.reason)
PURGATORY_INSPECT(retire, x.who, x.seen)
PURGATORY_INSPECT(close)
PURGATORY_INSPECT(loaded, x.who)
PURGATORY_INSPECT(list_throttles)
PURGATORY_INSPECT(sync_report, x.who, x.standing.held, x.standing.fresh,
                  x.steps.released)
PURGATORY_INSPECT(history_read)
PURGATORY_INSPECT(stop_work)
PURGATORY_INSPECT(work_stopped)
PURGATORY_INSPECT(count, x.what, x.label, x.by)
PURGATORY_INSPECT(scrape)
PURGATORY_INSPECT(metrics_snapshot, x.values)

#undef PURGATORY_INSPECT

} // namespace purgatory

// Payloads with parts that only make sense inside one process.
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(purgatory::fetch_job)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(purgatory::set_limits)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(purgatory::record_batch)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(purgatory::identifier_image)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(purgatory::found_event)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(purgatory::known_hosts)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(purgatory::plan_changed)
