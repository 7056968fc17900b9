#include "libsync/nostr/outbox.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace purgatory::nostr {

namespace {

constexpr std::string_view read_back_prefix = "read-";

bool is_addressable(std::uint32_t kind) {
  return kind >= 30000 && kind < 40000;
}

bool is_newer(const served_event& served, const event& than) {
  return served.created_at != than.created_at
           ? served.created_at > than.created_at
           : served.id < than.id;
}

bool is_successor(const served_event& served, const event& of) {
  return is_addressable(of.kind) && served.kind == of.kind
         && served.author == of.author && is_newer(served, of);
}

std::string subscription_of(std::uint64_t read) {
  return std::string{read_back_prefix} + std::to_string(read);
}

std::optional<std::uint64_t> read_of(std::string_view subscription) {
  if (subscription.substr(0, read_back_prefix.size()) != read_back_prefix)
    return std::nullopt;
  subscription.remove_prefix(read_back_prefix.size());
  std::uint64_t read = 0;
  const auto* last = subscription.data() + subscription.size();
  const auto [end, error] = std::from_chars(subscription.data(), last, read);
  if (error != std::errc{} || end != last)
    return std::nullopt;
  return read;
}

/// Asks for the event itself and, if a newer one may have replaced it, for the
/// newest of its author: an absent event is then told from a superseded one.
std::string read_back_request(const event& what, std::uint64_t read) {
  std::vector<filter> filters;
  filters.push_back({.ids = {what.id}});
  if (is_addressable(what.kind))
    filters.push_back({.kinds = {what.kind},
                       .authors = {what.author},
                       .d = std::string{first_value(what, "d")},
                       .limit = 1});
  return request_message(subscription_of(read), filters);
}

} // namespace

outbox::outbox(outbox_limits limits)
  : limits_(limits), window_(limits.in_flight) {
  // nop
}

outbox_effects outbox::start() {
  if (link_ != link::idle)
    return {};
  link_ = link::connecting;
  return {connect_relay{}};
}

outbox_effects outbox::publish(const event& what, time_point now) {
  outbox_effects out;
  if (serial_of_.count(what.id) > 0)
    return out;
  const auto serial = ++serials_;
  serial_of_.emplace(what.id, serial);
  auto& item = entries_[serial];
  item.serial = serial;
  item.what = what;
  item.since = now;
  queue(item, now);
  pump(now, out);
  return out;
}

outbox_effects outbox::opened(time_point now) {
  outbox_effects out;
  link_ = link::up;
  link_since_ = now;
  pump(now, out);
  return out;
}

outbox_effects outbox::lost(time_point now) {
  if (link_ == link::up && now - link_since_ >= limits_.good_connection)
    losses_ = 0;
  ++losses_;
  link_ = link::down;
  link_since_ = now;
  std::vector<std::uint64_t> open{accepted_.begin(), accepted_.end()};
  for (const auto& [due, serial] : awaiting_)
    open.push_back(serial);
  for (const auto serial : open) {
    auto& item = entries_.at(serial);
    const bool suspect = item.at == phase::sent && ++item.cuts > 1;
    if (item.at == phase::sent)
      window_ = 1;
    leave_phase(item);
    queue(item, suspect ? now + retry_delay(item.cuts - 1) : item.since);
  }
  return {};
}

outbox_effects outbox::received(const ok_answer& answer, time_point now) {
  outbox_effects out;
  auto* item = find(answer.id);
  losses_ = 0;
  // A late OK counts, a second one does not.
  if (item == nullptr || item->at == phase::accepted
      || item->at == phase::reading)
    return out;
  window_ = std::min(window_ * 2, limits_.in_flight);
  item->cuts = 0;
  item->detail = answer.message;
  switch (classify_ok(answer.accepted, answer.message)) {
  case publish_step::read_back:
    leave_phase(*item);
    item->at = phase::accepted;
    accepted_.push_back(item->serial);
    break;
  case publish_step::superseded:
    settle(*item, publish_outcome::superseded, out);
    break;
  case publish_step::deleted:
    settle(*item, publish_outcome::deleted, out);
    break;
  case publish_step::refused:
    settle(*item, publish_outcome::refused, out);
    break;
  case publish_step::wait:
    leave_phase(*item);
    queue(*item, now + limits_.rate_limited_wait);
    break;
  case publish_step::retry:
    fail(*item, answer.message, now);
    break;
  }
  pump(now, out);
  return out;
}

outbox_effects outbox::received(const served_event& served, time_point now) {
  outbox_effects out;
  auto* item = reader(served.subscription);
  if (item == nullptr)
    return out;
  if (served.id == item->what.id) {
    out.push_back(send_text{close_message(served.subscription)});
    settle(*item, publish_outcome::released, out);
  } else if (is_successor(served, item->what)) {
    item->newer_served = true;
  }
  pump(now, out);
  return out;
}

outbox_effects outbox::received(const end_of_stored& end, time_point now) {
  outbox_effects out;
  if (reader(end.subscription) != nullptr)
    out.push_back(send_text{close_message(end.subscription)});
  end_read(end.subscription, now, out);
  return out;
}

outbox_effects outbox::received(const subscription_closed& end,
                                time_point now) {
  outbox_effects out;
  end_read(end.subscription, now, out);
  return out;
}

outbox_effects outbox::tick(time_point now) {
  outbox_effects out;
  if (link_ == link::down && now >= link_since_ + reconnect_delay(losses_)) {
    link_ = link::connecting;
    out.push_back(connect_relay{});
    return out;
  }
  while (!awaiting_.empty() && awaiting_.begin()->first <= now)
    overdue(entries_.at(awaiting_.begin()->second), now, out);
  pump(now, out);
  return out;
}

std::optional<time_point> outbox::wake_at() const {
  if (link_ == link::down)
    return link_since_ + reconnect_delay(losses_);
  if (link_ != link::up)
    return std::nullopt;
  std::optional<time_point> result;
  if (!awaiting_.empty())
    result = awaiting_.begin()->first;
  const auto in_flight = awaiting_.size() + accepted_.size();
  if (!queued_.empty() && in_flight < window_)
    result
      = std::min(result.value_or(time_point::max()), queued_.begin()->first);
  return result;
}

outbox::entry* outbox::find(const event_id& id) {
  const auto found = serial_of_.find(id);
  return found == serial_of_.end() ? nullptr : &entries_.at(found->second);
}

outbox::entry* outbox::reader(const std::string& subscription) {
  const auto read = read_of(subscription);
  if (!read)
    return nullptr;
  const auto found = serial_of_read_.find(*read);
  return found == serial_of_read_.end() ? nullptr : &entries_.at(found->second);
}

void outbox::queue(entry& item, time_point due) {
  item.at = phase::queued;
  item.due = due;
  queued_.emplace(due, item.serial);
}

void outbox::await(entry& item, phase at, time_point now) {
  item.at = at;
  item.due = now + limits_.answer_deadline;
  awaiting_.emplace(item.due, item.serial);
}

void outbox::leave_phase(entry& item) {
  switch (item.at) {
  case phase::queued:
    queued_.erase({item.due, item.serial});
    break;
  case phase::accepted:
    accepted_.erase(std::ranges::find(accepted_, item.serial));
    break;
  case phase::reading:
    serial_of_read_.erase(item.read);
    [[fallthrough]];
  case phase::sent:
    awaiting_.erase({item.due, item.serial});
    break;
  }
}

void outbox::fail(entry& item, std::string detail, time_point now) {
  leave_phase(item);
  item.detail = std::move(detail);
  queue(item, now + retry_delay(++item.failures));
}

void outbox::settle(entry& item, publish_outcome outcome, outbox_effects& out) {
  leave_phase(item);
  out.push_back(settled{item.what.id, outcome, std::move(item.detail)});
  serial_of_.erase(item.what.id);
  entries_.erase(item.serial);
}

void outbox::end_read(const std::string& subscription, time_point now,
                      outbox_effects& out) {
  auto* item = reader(subscription);
  if (item == nullptr)
    return;
  if (item->newer_served)
    settle(*item, publish_outcome::superseded, out);
  else
    fail(*item, "accepted, but not served", now);
  pump(now, out);
}

void outbox::overdue(entry& item, time_point now, outbox_effects& out) {
  if (item.at == phase::reading)
    out.push_back(send_text{close_message(subscription_of(item.read))});
  fail(item, "no answer in time", now);
}

void outbox::pump(time_point now, outbox_effects& out) {
  if (link_ != link::up)
    return;
  read_accepted(now, out);
  send_due(now, out);
}

void outbox::send_due(time_point now, outbox_effects& out) {
  while (!queued_.empty() && queued_.begin()->first <= now
         && awaiting_.size() + accepted_.size() < window_) {
    auto& item = entries_.at(queued_.begin()->second);
    leave_phase(item);
    await(item, phase::sent, now);
    out.push_back(send_text{event_message(to_json(item.what))});
  }
}

void outbox::read_accepted(time_point now, outbox_effects& out) {
  while (!accepted_.empty() && serial_of_read_.size() < limits_.read_backs) {
    auto& item = entries_.at(accepted_.front());
    accepted_.pop_front();
    item.newer_served = false;
    item.read = ++reads_;
    serial_of_read_.emplace(item.read, item.serial);
    await(item, phase::reading, now);
    out.push_back(send_text{read_back_request(item.what, item.read)});
  }
}

} // namespace purgatory::nostr
