#pragma once

#include "libsync/git/identifier_plan.hpp"
#include "tests/support/events.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace purgatory::test {

/// Runs the plan of one identifier in a world of plain containers. Journal,
/// repositories and relay answer at once and correctly; throttles and servers
/// are the test's to play. Time passes only by `advance`.
class plan_driver {
public:
  struct asked {
    unit_key unit;
    git::clone_url url;
    lane turn;
  };
  struct job {
    unit_key unit;
    host_key host;
    lease_id lease;
    fetch_order order;
  };

  explicit plan_driver(git::plan_settings settings = default_settings())
    : plan_(identifier{"r"}, std::move(settings), 1) {}

  static git::plan_settings default_settings() {
    git::plan_settings s;
    s.jitter = 0;
    s.loop_interval = duration::zero();
    return s;
  }

  // -- what the world does ----------------------------------------------------

  /// Offers an event and returns the answer, if it came at once.
  std::optional<admission> offer(const nostr::event& ev,
                                 provenance from = provenance::sync) {
    const auto number = next_offer_++;
    perform(plan_.on_event(ev, from, number, at()));
    const auto i = answers_.find(number);
    return i == answers_.end() ? std::nullopt : std::optional(i->second);
  }

  void restore(const identifier_image& image) {
    perform(plan_.restore(image, at()));
  }

  void advance(duration d) {
    const auto end = now_ + d;
    while (timer_ && timer_->due <= end) {
      now_ = std::max(now_, timer_->due);
      const auto generation = timer_->generation;
      timer_.reset();
      perform(plan_.on_tick(generation, at()));
    }
    now_ = end;
  }

  /// Grants the oldest unanswered question.
  void grant() {
    const auto q = take_question();
    grant_at(q.unit, q.url.host);
  }

  void grant_at(const unit_key& unit, const host_key& host) {
    perform(plan_.on_granted(unit, host, lease_id{next_lease_++}, at()));
  }

  /// Says *queued* to the oldest unanswered question.
  void queue(const host_view& view = {}) {
    const auto q = take_question();
    perform(plan_.on_queued(q.unit, q.url.host, view, at()));
  }

  /// Ends the oldest running job: these objects came.
  void deliver(const std::vector<oid>& got,
               fetch_class outcome = fetch_class::ok) {
    fetch_outcome result;
    result.outcome = outcome;
    result.got = got;
    if (!got.empty())
      result.pack = std::make_shared<no_quarantine>();
    finish_job(std::move(result));
  }

  void fail(fetch_class outcome) { deliver({}, outcome); }

  void redirect(const std::string& to) {
    fetch_outcome result;
    result.outcome = fetch_class::redirected;
    result.redirect = remote_url{to};
    finish_job(std::move(result));
  }

  void finish_job(fetch_outcome result) {
    auto ended = jobs.front();
    jobs.pop_front();
    perform(plan_.on_fetched(ended.unit, ended.lease, result, at()));
  }

  git::moment at() const {
    return {
      now_, wall(),
      std::chrono::duration_cast<std::chrono::seconds>(now_.time_since_epoch())
        .count()};
  }
  unix_seconds wall() const {
    return 1'000'000
           + std::chrono::duration_cast<std::chrono::seconds>(
               now_.time_since_epoch())
               .count();
  }
  git::identifier_plan& plan() { return plan_; }
  const git::identifier_plan& plan() const { return plan_; }

  /// What `event` did to the daemon's world, in order.
  std::size_t released_times(const event_id& id) const {
    return static_cast<std::size_t>(
      std::count(released.begin(), released.end(), id));
  }

  std::map<tenant, std::map<oid, object_kind>> objects;
  std::map<tenant, std::map<std::string, oid>> refs_of;
  std::map<tenant, std::string> head_of;
  std::deque<asked> questions;
  std::deque<job> jobs;
  std::vector<git::use_lease> lease_uses;
  std::vector<host_key> given_up;
  std::vector<event_id> released;
  std::vector<std::string> facts;
  std::vector<journal_record> journal;
  bool relay_answers = true;
  bool journal_answers = true;
  std::deque<std::uint64_t> unrecorded;
  publish_outcome relay_says = publish_outcome::released;
  store_result alignment_says = store_result::done;
  std::vector<tenant> copies;
  bool copies_fail = false;
  bool lose_objects = false; ///< The repository vanishes when refs move.
  bool idle_seen = false;
  std::vector<std::optional<time_point>> wakes; ///< Of each `may_sleep`.

  void record_all() {
    while (!unrecorded.empty()) {
      const auto token = unrecorded.front();
      unrecorded.pop_front();
      perform(plan_.on_recorded(token, at()));
    }
  }

  /// The relay's late answer about one event, and about all it was given.
  void publish_one(const event_id& id, publish_outcome outcome) {
    perform(plan_.on_published(id, outcome, "", at()));
  }
  void publish_all() {
    relay_answers = true;
    for (const auto& id : std::vector(released))
      publish_one(id, publish_outcome::released);
  }

  std::optional<admission> answer_to(std::uint64_t offer_number) const {
    const auto i = answers_.find(offer_number);
    return i == answers_.end() ? std::nullopt : std::optional(i->second);
  }
  std::uint64_t last_offer() const { return next_offer_ - 1; }

  void perform(git::effects todo) {
    todo_.insert(todo_.end(), todo.begin(), todo.end());
    if (busy_)
      return;
    busy_ = true;
    while (!todo_.empty()) {
      auto next = todo_.front();
      todo_.pop_front();
      std::visit([this](auto& e) { act(e); }, next);
    }
    busy_ = false;
  }

private:
  struct no_quarantine : quarantine {
    const std::string& directory() const override { return text; }
    std::string text;
  };

  asked take_question() {
    auto q = questions.front();
    questions.pop_front();
    return q;
  }

  void act(git::write_records& e) {
    journal.insert(journal.end(), e.records.begin(), e.records.end());
    if (journal_answers)
      perform(plan_.on_recorded(e.token, at()));
    else
      unrecorded.push_back(e.token);
  }
  void act(git::answer_offer& e) { answers_[e.offer] = e.decision; }
  void act(git::ask_turn& e) { questions.push_back({e.unit, e.url, e.turn}); }
  void act(git::use_lease& e) { lease_uses.push_back(e); }
  void act(git::start_fetch& e) {
    jobs.push_back({e.unit, e.host, e.lease, e.order});
  }
  void act(git::give_up_place& e) {
    given_up.push_back(e.host);
    perform(plan_.on_place_left(at()));
  }
  void act(git::prepare_repository& e) {
    perform(
      plan_.on_prepared(e.repository, {store_result::done, {}, ""}, at()));
  }
  void act(git::look_up& e) {
    std::vector<object_kind> kinds;
    auto& here = objects[e.repository];
    for (const auto& id : e.ids)
      kinds.push_back(here.contains(id) ? here[id] : object_kind::absent);
    perform(plan_.on_looked_up(e.token, e.repository, e.ids, kinds, at()));
  }
  void act(git::take_pack& e) {
    for (const auto& id : e.wants)
      objects[e.repository].try_emplace(id, object_kind::commit);
    perform(
      plan_.on_taken(e.unit, e.lease, {store_result::done, {}, ""}, at()));
  }
  void act(git::copy_objects& e) {
    copies.push_back(e.repository);
    store_report report{store_result::missing, {}, "not there"};
    auto& source = objects[e.from];
    const bool whole = std::all_of(e.ids.begin(), e.ids.end(), [&](auto& id) {
      return source.contains(id);
    });
    if (whole && !copies_fail) {
      for (const auto& id : e.ids)
        objects[e.repository][id] = source[id];
      report = {store_result::done, {}, ""};
    }
    perform(plan_.on_copied(e.event, e.repository, report, at()));
  }
  void act(git::move_refs& e) {
    if (lose_objects)
      objects.erase(e.repository);
    if (alignment_says == store_result::done) {
      auto& refs_here = refs_of[e.repository];
      for (auto i = refs_here.begin(); i != refs_here.end();)
        i = i->first.starts_with("refs/nostr/")
                || e.wanted.untouched.contains(i->first)
              ? std::next(i)
              : refs_here.erase(i);
      for (const auto& [name, target] : e.wanted.refs)
        refs_here[name] = target;
      if (e.wanted.head)
        head_of[e.repository] = *e.wanted.head;
    }
    perform(
      plan_.on_aligned(e.event, e.repository, {alignment_says, {}, ""}, at()));
  }
  void act(git::move_pr_ref& e) {
    refs_of[e.repository]["refs/nostr/" + e.event.value] = e.tip;
    perform(plan_.on_aligned(e.event, e.repository,
                             {store_result::done, {}, ""}, at()));
  }
  void act(git::release_event& e) {
    released.push_back(e.event.id);
    if (relay_answers)
      perform(plan_.on_published(e.event.id, relay_says, "", at()));
  }
  void act(git::arm_timer& e) { timer_ = e; }
  void act(git::may_sleep& e) {
    idle_seen = true;
    wakes.push_back(e.wake);
  }
  void act(git::fact& e) { facts.emplace_back(e.text); }
  void act(git::met_fate&) {}

  git::identifier_plan plan_;
  time_point now_ = time_point{} + std::chrono::hours(1);
  std::optional<git::arm_timer> timer_;
  std::map<std::uint64_t, admission> answers_;
  std::deque<git::effect> todo_;
  bool busy_ = false;
  std::uint64_t next_offer_ = 1;
  std::uint64_t next_lease_ = 1;
};

} // namespace purgatory::test
