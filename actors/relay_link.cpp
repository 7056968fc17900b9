#include "actors/relay_link.hpp"

#include "actors/harden.hpp"
#include "actors/log.hpp"

#include <caf/actor_clock.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <utility>
#include <variant>

namespace purgatory {

namespace {

using self_pointer = relay_link_io::stateful_pointer<relay_link_state>;

constexpr const char* watch_subscription = "watch";

time_point now_of(self_pointer self) {
  return self->clock().now();
}

void perform(self_pointer self, const nostr::connect_relay&) {
  auto& state = self->state;
  const auto connection = ++state.connection;
  const relay_link_io me{self};
  // Called on the socket's thread: anon_send needs no actor context.
  state.socket = state.connect(
    state.config.url,
    {[=] { caf::anon_send(me, relay_opened{connection}); },
     [=](std::string text) {
       caf::anon_send(me, relay_text{connection, std::move(text)});
     },
     [=](std::string reason) {
       caf::anon_send(me, relay_closed{connection, std::move(reason)});
     }});
}

void perform(self_pointer self, const nostr::send_text& message) {
  if (self->state.socket)
    self->state.socket->send(message.text);
}

void perform(self_pointer self, const nostr::settled& end) {
  if (end.outcome == publish_outcome::refused)
    log::warn("Relay refuses an event",
              {{"event_id", end.id}, {"error", end.detail}});
  auto node = self->state.waiting.extract(end.id);
  if (node.empty())
    return;
  for (auto& promise : node.mapped())
    promise.deliver(published{end.id, end.outcome, end.detail});
}

/// One timer at the earliest time that matters. A later one that is armed
/// already is left to fire in vain: CAF can not take it back.
void arm(self_pointer self) {
  auto& state = self->state;
  auto wake = state.box.wake_at();
  if (state.watch_due && (!wake || *state.watch_due < *wake))
    wake = state.watch_due;
  if (!wake || (state.armed && *state.armed <= *wake))
    return;
  state.armed = wake;
  const auto delay = std::max(*wake - now_of(self), duration::zero());
  self->delayed_send(self, delay, backoff_tick{++state.generation});
}

void perform(self_pointer self, const nostr::outbox_effects& effects) {
  for (const auto& effect : effects)
    std::visit([self](const auto& what) { perform(self, what); }, effect);
  arm(self);
}

void watch(self_pointer self) {
  auto& state = self->state;
  state.watch_due.reset();
  if (!state.intake || !state.socket || !state.box.is_connected())
    return;
  nostr::filter wanted;
  wanted.kinds = {nostr::kind_announcement, nostr::kind_deletion};
  state.socket->send(nostr::request_message(watch_subscription, {wanted}));
}

void permit(self_pointer self, std::size_t messages) {
  if (self->state.socket)
    self->state.socket->permit(messages);
}

/// Whatever intake has not answered will not be answered, or does not matter.
std::size_t forget_offers(self_pointer self) {
  ++self->state.offer_epoch;
  return std::exchange(self->state.unconfirmed, 0);
}

void offer_served(self_pointer self, std::string json) {
  auto& state = self->state;
  ++state.unconfirmed;
  const auto done = [self, epoch = state.offer_epoch] {
    if (epoch != self->state.offer_epoch)
      return;
    --self->state.unconfirmed;
    permit(self, 1);
  };
  self
    ->request(state.intake, caf::infinite,
              offer{std::move(json), provenance::served})
    .then([=](const offer_answer&) { done(); },
          [=](const caf::error&) { done(); });
}

/// CAF 0.17 leaves a request unanswered whose promise died with its actor.
void on_down(self_pointer self, const caf::down_msg& down) {
  auto& state = self->state;
  if (!state.intake || down.source != state.intake.address())
    return;
  log::error("Intake is gone: live view stops");
  state.intake = nullptr;
  permit(self, forget_offers(self));
}

/// Handles what the outbox does not know.
void note(self_pointer self, const nostr::subscription_closed& end) {
  if (end.subscription != watch_subscription)
    return;
  log::warn("Relay ends the live view", {{"error", end.message}});
  self->state.watch_due = now_of(self) + self->state.config.watch_again;
  arm(self);
}

void note(self_pointer self, const nostr::end_of_stored& end) {
  auto& history = self->state.config.history;
  if (end.subscription == watch_subscription && history)
    self->send(std::exchange(history, nullptr), history_read{});
}

void note(self_pointer, const nostr::notice& said) {
  log::info("Relay says", {{"notice", said.message}});
}

void note(self_pointer, const nostr::auth_challenge&) {
  log::debug("Relay asks for authentication");
}

template <class Message>
void take(self_pointer self, const Message& message) {
  auto& state = self->state;
  if constexpr (requires { state.box.received(message, time_point{}); })
    perform(self, state.box.received(message, now_of(self)));
  if constexpr (requires { note(self, message); })
    note(self, message);
}

void take_text(self_pointer self, const std::string& text) {
  auto& state = self->state;
  auto message = nostr::parse_relay_message(text);
  if (!message) {
    log::debug("Relay sent nonsense", {{"bytes", text.size()}});
    return permit(self, 1);
  }
  auto* served = std::get_if<nostr::served_event>(&*message);
  if (served != nullptr && served->subscription == watch_subscription
      && state.intake)
    return offer_served(self, std::move(served->json));
  std::visit([self](const auto& what) { take(self, what); }, *message);
  permit(self, 1);
}

void on_opened(self_pointer self) {
  auto& state = self->state;
  log::info("Relay connected", {{"url", state.config.url}});
  state.is_outage = false;
  forget_offers(self);
  permit(self, state.config.max_unconfirmed);
  perform(self, state.box.opened(now_of(self)));
  watch(self);
}

void on_closed(self_pointer self, const std::string& reason) {
  auto& state = self->state;
  // Once per outage: the attempts that follow are not news.
  const auto how = std::exchange(state.is_outage, true) ? log::level::debug
                                                        : log::level::warn;
  log::write(how, "Relay is not connected",
             {{"url", state.config.url}, {"error", reason}});
  state.socket.reset();
  state.watch_due.reset();
  perform(self, state.box.lost(now_of(self)));
}

void on_tick(self_pointer self) {
  auto& state = self->state;
  state.armed.reset();
  if (state.watch_due && *state.watch_due <= now_of(self))
    watch(self);
  perform(self, state.box.tick(now_of(self)));
}

} // namespace

relay_link_io::behavior_type relay_link(self_pointer self,
                                        relay_link_config config,
                                        relay_socket_factory connect) {
  harden(self);
  self->set_down_handler([self](caf::down_msg& down) { on_down(self, down); });
  auto& state = self->state;
  state.box = nostr::outbox{config.outbox};
  state.config = std::move(config);
  state.connect = std::move(connect);
  perform(self, state.box.start());
  return {
    [=](const publish& wanted) -> caf::result<published> {
      auto promise = self->make_response_promise<published>();
      self->state.waiting[wanted.event.id].push_back(promise);
      perform(self, self->state.box.publish(wanted.event, now_of(self)));
      return promise;
    },
    [=](watch_relay, const intake_actor& intake) {
      self->monitor(intake);
      self->state.intake = intake;
      watch(self);
    },
    [=](const relay_opened& event) {
      if (event.connection == self->state.connection)
        on_opened(self);
    },
    [=](const relay_text& event) {
      if (event.connection == self->state.connection)
        take_text(self, event.text);
    },
    [=](const relay_closed& event) {
      if (event.connection == self->state.connection)
        on_closed(self, event.reason);
    },
    [=](const backoff_tick& tick) {
      if (tick.generation == self->state.generation)
        on_tick(self);
    },
  };
}

} // namespace purgatory
