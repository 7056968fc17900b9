#include "libsync/sim/runner.hpp"

#include <algorithm>
#include <utility>

namespace purgatory::sim {

namespace {

/// Steps at one instant for each line of the script, and a few for small
/// worlds: nobody has more to do at once but who goes round in circles.
constexpr std::uint64_t most_at_once = 100;
constexpr std::uint64_t few_at_once = 50'000;

} // namespace

runner::runner(const world& what, const run_options& options)
  : plan_(what), options_(options), scene_(what) {
  scene_.log = options.log;
  start({});
}

void runner::start(journal_image image) {
  engine_ = std::make_unique<sim_engine>(scene_, std::move(image));
  for (const auto& each : configured_)
    engine_->configure(each.host, each.limits);
  for (const auto& [ev, from] : std::exchange(missed_, {}))
    engine_->offer(ev, from);
}

std::uint64_t runner::steps() const {
  return steps_before_ + (engine_ ? engine_->steps() : 0);
}

std::map<std::string, std::uint64_t> runner::facts() const {
  auto result = facts_;
  if (engine_)
    for (const auto& [text, count] : engine_->facts())
      result[text] += count;
  return result;
}

// -- time ---------------------------------------------------------------------

time_point runner::next() const {
  auto at
    = std::min(scene_.outside.next(), engine_ ? engine_->next() : back_at_);
  if (next_happening_ < plan_.script.size())
    at = std::min(at, scene_.at(plan_.script[next_happening_].at));
  return at;
}

void runner::run() {
  const auto end = scene_.at(plan_.length);
  const auto too_many = few_at_once + most_at_once * plan_.script.size();
  for (auto at = next(); at <= end; at = next()) {
    if (at > scene_.now)
      steps_at_once_ = 0;
    else if (++steps_at_once_ > too_many)
      break;
    scene_.now = std::max(scene_.now, at);
    if (next_happening_ < plan_.script.size()
        && scene_.at(plan_.script[next_happening_].at) <= at) {
      play(plan_.script[next_happening_++].what);
    } else if (scene_.outside.next() <= at) {
      scene_.outside.take()();
    } else if (engine_) {
      engine_->step();
      after_step();
    } else {
      back_at_ = time_point::max();
      start(*std::exchange(disk_, std::nullopt));
    }
  }
  scene_.watch.check(steps_at_once_ <= too_many, "time stands still",
                     scene_.now);
  scene_.now = end;
  if (engine_) {
    engine_->check_all();
    check_promises(engine_->image());
  }
  scene_.watch.close(end);
}

void runner::after_step() {
  const auto step = steps();
  const auto every = std::max<std::uint64_t>(
    options_.check_every, engine_->awake() + engine_->asleep());
  if (step % every == 0) {
    engine_->check_all();
    check_promises(engine_->image());
  }
  if (doom_ && step >= doom_->first) {
    const auto how = doom_->second;
    doom_.reset();
    end_process(how);
  }
}

/// Rules §15.3: what was answered with OK true is found again, or was served.
void runner::check_promises(const journal_image& image) {
  for (const auto& id : scene_.acknowledged)
    scene_.watch.check(image.find(id) != nullptr,
                       "lost although it was acknowledged", scene_.now);
}

void runner::end_process(const crash& how) {
  ++crashes_;
  scene_.watch.note("crash", scene_.now);
  if (how.clean)
    engine_->stop();
  engine_->abort_jobs();
  // Who got no answer tries again.
  for (auto& ev : engine_->unanswered()) {
    const auto from = from_.at(ev.id);
    missed_.emplace_back(std::move(ev), from);
  }
  disk_ = engine_->image();
  check_promises(*disk_);
  facts_ = facts();
  steps_before_ = steps();
  engine_.reset();
  back_at_ = scene_.now + how.down;
}

// -- script -------------------------------------------------------------------

void runner::offer(const nostr::event& ev, provenance from) {
  offered_.try_emplace(ev.id, scene_.now);
  from_.try_emplace(ev.id, from);
  scene_.claims.add(ev);
  if (from == provenance::served)
    scene_.relay.take(ev, scene_.now);
  if (engine_)
    engine_->offer(ev, from);
  else
    missed_.emplace_back(ev, from);
}

template <class Event>
void runner::say(const Event& what) {
  const auto ev = to_event(what, scene_.wall());
  events_.insert_or_assign(what.name, ev);
  const auto& refused = plan_.relay.refuses;
  if (std::find(refused.begin(), refused.end(), what.name) != refused.end())
    scene_.relay.refuse(ev.id);
  offer(ev, what.from);
}

void runner::play(const action& what) {
  if (const auto* a = std::get_if<announce>(&what)) {
    say(*a);
  } else if (const auto* s = std::get_if<push_state>(&what)) {
    say(*s);
  } else if (const auto* p = std::get_if<propose>(&what)) {
    say(*p);
  } else if (const auto* t = std::get_if<take_back>(&what)) {
    const auto ev = to_event(*t, scene_.wall(), events_);
    for (const auto& name : t->events)
      if (const auto i = events_.find(name);
          i != events_.end() && i->second.author == ev.author)
        scene_.relay.bury(i->second.id);
    offer(ev, provenance::direct);
  } else if (const auto* r = std::get_if<repeat>(&what)) {
    if (const auto i = events_.find(r->event); i != events_.end())
      offer(i->second, r->from);
  } else if (const auto* u = std::get_if<push>(&what)) {
    const tenant where{key_of(u->owner), identifier{u->repository}};
    std::vector<oid> ids;
    for (const auto& name : u->objects)
      ids.push_back(object_of(name));
    scene_.repositories.add(where, ids);
    if (engine_)
      engine_->objects_arrived(where, ids);
  } else if (const auto* c = std::get_if<configure>(&what)) {
    configured_.push_back(*c);
    if (engine_)
      engine_->configure(c->host, c->limits);
  } else if (std::holds_alternative<operator_retry>(what)) {
    if (engine_)
      engine_->retry_all();
  } else if (const auto* j = std::get_if<set_clock>(&what)) {
    scene_.clock_shift += j->by;
  } else if (const auto* d = std::get_if<crash>(&what)) {
    if (engine_
        && !(plan_.faults_end && scene_.now >= scene_.at(*plan_.faults_end)))
      doom_ = {steps() + d->after_steps, *d};
    if (doom_ && d->after_steps == 0) {
      doom_.reset();
      end_process(*d);
    }
  }
}

} // namespace purgatory::sim
