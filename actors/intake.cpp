#include "actors/intake.hpp"

#include "actors/harden.hpp"
#include "actors/log.hpp"
#include "libsync/nostr/git_events.hpp"

#include <caf/actor_system.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <algorithm>
#include <utility>

namespace purgatory {

namespace {

/// Longer than any healthy commit; an identifier that died with our question
/// in its hands never answers (CAF 0.17 does not report a broken promise).
constexpr auto answer_deadline = std::chrono::seconds(30);

constexpr const char* busy_text = "error: purgatory busy, try again";

/// Ids, and coordinates, of one deletion that are followed; the rest of a
/// longer list is ignored.
constexpr std::size_t max_deleted = 1000;

} // namespace

intake_actor::behavior_type intake_state::make_behavior(
  intake_doors doors, nostr::event_limits limits,
  std::shared_ptr<const signature_verifier> verifier) {
  harden(self_);
  doors_ = std::move(doors);
  limits_ = limits;
  verifier_ = std::move(verifier);
  return {[this](const offer& message) { return take(message); }};
}

intake_state::promise intake_state::take(const offer& message) {
  auto owed = self_->make_response_promise<offer_answer>();
  auto parsed = nostr::parse_event(message.json, limits_);
  if (auto* bad = std::get_if<nostr::parse_failure>(&parsed)) {
    refuse(owed, std::move(bad->raw_id), bad->kind, bad->reason);
    return owed;
  }
  auto& [ev, raw_id, bytes] = std::get<nostr::parsed_event>(parsed);
  if (!nostr::has_valid_signature(ev, *verifier_)) {
    refuse(owed, std::move(raw_id), ev.kind, "bad signature");
    return owed;
  }
  const auto typed = nostr::read_git_event(ev, limits_.max_refs);
  if (const auto* bad = std::get_if<nostr::invalid_event>(&typed)) {
    refuse(owed, std::move(raw_id), ev.kind, bad->reason);
  } else if (const auto* a = std::get_if<nostr::announcement>(&typed)) {
    route(ev, message.from, a->repo, owed, std::move(raw_id));
  } else if (const auto* s = std::get_if<nostr::state>(&typed)) {
    route(ev, message.from, s->repo, owed, std::move(raw_id));
  } else if (const auto* pr = std::get_if<nostr::pull_request>(&typed)) {
    if (!pr->repositories.empty())
      route(ev, message.from, pr->repositories.front().repo, owed,
            std::move(raw_id));
    else
      route_update(ev, message.from, pr->updates.value_or(event_id{}), owed,
                   std::move(raw_id));
  } else {
    if (const auto* d = std::get_if<nostr::deletion>(&typed)) {
      look_up_next(withdrawal_of(ev, message.from, *d, owed, raw_id));
      return owed;
    }
    owed.deliver(offer_answer{std::move(raw_id), {action::accept, ""}});
  }
  return owed;
}

void intake_state::route(const nostr::event& ev, provenance from,
                         const identifier& repo, promise owed,
                         std::string raw_id) {
  self_
    ->request(doors_.supervisor, answer_deadline, event_arrived{ev, from}, repo)
    .then(
      [owed, raw_id](admission& decision) mutable {
        owed.deliver(offer_answer{std::move(raw_id), std::move(decision)});
      },
      [owed, raw_id](caf::error&) mutable {
        owed.deliver(
          offer_answer{std::move(raw_id), {action::reject, busy_text}});
      });
}

// An update that names no repository belongs where its PR is.
void intake_state::route_update(const nostr::event& ev, provenance from,
                                const event_id& updates, promise owed,
                                std::string raw_id) {
  self_->request(doors_.journal, answer_deadline, find_event{updates})
    .then(
      [this, ev, from, owed, raw_id](const found_event& found) mutable {
        if (found.event)
          route(ev, from, found.event->repo, owed, std::move(raw_id));
        else
          owed.deliver(offer_answer{
            std::move(raw_id), {action::reject, answer_text::no_reference}});
      },
      [owed, raw_id](caf::error&) mutable {
        owed.deliver(
          offer_answer{std::move(raw_id), {action::reject, busy_text}});
      });
}

std::shared_ptr<intake_state::withdrawal>
intake_state::withdrawal_of(const nostr::event& ev, provenance from,
                            const nostr::deletion& content, promise owed,
                            std::string raw_id) {
  auto w = std::make_shared<withdrawal>();
  w->ev = ev;
  w->ev.tags.clear(); // Each identifier is told what concerns it, no more.
  w->from = from;
  w->owed = std::move(owed);
  w->raw_id = std::move(raw_id);
  const auto ids = std::min(content.ids.size(), max_deleted);
  w->unknown.assign(content.ids.begin(),
                    content.ids.begin() + static_cast<std::ptrdiff_t>(ids));
  for (const auto& c : content.coordinates) {
    if (w->concerned.size() == max_deleted)
      break;
    w->concerned[c.repo].push_back(
      {"a",
       std::to_string(c.kind) + ":" + ev.author.value + ":" + c.repo.value});
  }
  return w;
}

// One question at a time: a deletion with a thousand tags must not cost more
// at once than one with a single tag. It passes in any case.
void intake_state::look_up_next(std::shared_ptr<withdrawal> w) {
  if (w->unknown.empty()) {
    tell_next(std::move(w));
    return;
  }
  const auto id = w->unknown.back();
  w->unknown.pop_back();
  self_->request(doors_.journal, answer_deadline, find_event{id})
    .then(
      [this, w, id](const found_event& found) {
        if (found.event)
          w->concerned[found.event->repo].push_back({"e", id.value});
        look_up_next(w);
      },
      [this, w](caf::error&) { look_up_next(w); });
}

void intake_state::tell_next(std::shared_ptr<withdrawal> w) {
  if (w->concerned.empty()) {
    w->owed.deliver(offer_answer{std::move(w->raw_id), {action::accept, ""}});
    return;
  }
  auto node = w->concerned.extract(w->concerned.begin());
  auto part = w->ev;
  part.tags = std::move(node.mapped());
  self_
    ->request(doors_.supervisor, answer_deadline,
              event_arrived{std::move(part), w->from}, node.key())
    .then([this, w](const admission&) { tell_next(w); },
          [this, w](caf::error&) { tell_next(w); });
}

void intake_state::refuse(promise& owed, std::string raw_id, std::uint32_t kind,
                          const std::string& reason) {
  log::info("[PARSE_FAIL]",
            {{"kind", kind},
             {"event_id", std::string_view(raw_id).substr(0, 128)},
             {"reason", reason}});
  self_->send(doors_.metrics, count{counter::refused, "invalid", 1});
  owed.deliver(
    offer_answer{std::move(raw_id), {action::reject, "invalid: " + reason}});
}

intake_actor::behavior_type
intake(intake_state::pointer self, intake_doors doors,
       nostr::event_limits limits,
       std::shared_ptr<const signature_verifier> verifier) {
  return self->state.make_behavior(std::move(doors), limits,
                                   std::move(verifier));
}

} // namespace purgatory
