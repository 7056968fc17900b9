// What a plan decided is done, as actors/identifier.cpp does it.

#include "libsync/sim/sim_engine.hpp"

#include <algorithm>
#include <utility>

namespace purgatory::sim {

// Effects that cause further effects queue behind the present ones.
void sim_engine::perform(resident& who, git::effects todo) {
  ++who.calls;
  who.todo.insert(who.todo.end(), std::make_move_iterator(todo.begin()),
                  std::make_move_iterator(todo.end()));
  if (who.performing)
    return;
  who.performing = true;
  touched_.push_back(who.repo);
  while (!who.todo.empty()) {
    auto next = std::move(who.todo.front());
    who.todo.pop_front();
    std::visit([&](auto& e) { act(who, e); }, next);
  }
  who.performing = false;
}

// -- journal and answers ------------------------------------------------------

void sim_engine::act(resident& who, git::write_records& e) {
  check_records(e.records);
  store_.apply(e.records);
  uncommitted_.push_back({who.repo, who.serial, e.token});
  if (!std::exchange(committing_, true))
    later(around_.plan.daemon.journal_delay, [this] { commit(); });
}

void sim_engine::act(resident& who, git::answer_offer& e) {
  who.offers.erase(e.offer);
  const auto node = offers_.extract(e.offer);
  around_.watch.check(!node.empty(), "an offer was answered twice",
                      around_.now);
  if (!node.empty())
    check_answer(node.mapped(), e.decision);
}

// -- turns --------------------------------------------------------------------

void sim_engine::act(resident& who, git::ask_turn& e) {
  auto& at_host = door(e.url.host);
  at_host.users[who.repo] = who.serial;
  who.hosts.insert(e.url.host);
  at_host.enqueue(e.unit, who.serial, e.turn);
  std::optional<lease_id> granted;
  pump(at_host, &e.unit, &granted);
  if (granted)
    perform(who, who.plan.on_granted(e.unit, e.url.host, *granted, at()));
  else
    perform(who,
            who.plan.on_queued(e.unit, e.url.host,
                               at_host.schedule().view(around_.now), at()));
}

void sim_engine::act(resident&, git::use_lease& e) {
  auto& at_host = door(e.host);
  switch (e.use) {
  case git::lease_use::start:
    at_host.start(e.lease);
    break;
  case git::lease_use::defer:
    at_host.defer(e.lease);
    break;
  case git::lease_use::withdraw:
    at_host.withdraw(e.lease);
    break;
  }
  pump(at_host);
}

void sim_engine::act(resident& who, git::start_fetch& e) {
  pool_.push({who.repo, who.serial, std::move(e)});
  start_jobs();
}

void sim_engine::act(resident& who, git::give_up_place& e) {
  auto& at_host = door(e.host);
  at_host.leave(e.unit);
  pump(at_host);
  perform(who, who.plan.on_place_left(at()));
}

// -- repositories -------------------------------------------------------------

void sim_engine::act(resident& who, git::prepare_repository& e) {
  later(around_.plan.daemon.git_delay,
        [this, repo = who.repo, serial = who.serial, e] {
          with(repo, serial, [&](resident& back) {
            perform(back, back.plan.on_prepared(
                            e.repository, {store_result::done, {}, ""}, at()));
          });
        });
}

void sim_engine::act(resident& who, git::look_up& e) {
  later(around_.plan.daemon.git_delay,
        [this, repo = who.repo, serial = who.serial, e = std::move(e)] {
          with(repo, serial, [&](resident& back) {
            const auto kinds = around_.repositories.kinds(e.repository, e.ids);
            perform(back, back.plan.on_looked_up(e.token, e.repository, e.ids,
                                                 kinds, at()));
          });
        });
}

void sim_engine::act(resident& who, git::take_pack& e) {
  later(around_.plan.daemon.git_delay, [this, repo = who.repo,
                                        serial = who.serial, e = std::move(e)] {
    for (const auto& id : e.wants)
      around_.watch.check(around_.claims.may_enter(e.repository, id),
                          "an object entered the repository of who has "
                          "no business with it",
                          around_.now);
    around_.repositories.add(e.repository, e.wants);
    with(repo, serial, [&](resident& back) {
      perform(back, back.plan.on_taken(e.unit, e.lease,
                                       {store_result::done, {}, ""}, at()));
    });
  });
}

void sim_engine::act(resident& who, git::copy_objects& e) {
  later(around_.plan.daemon.git_delay, [this, repo = who.repo,
                                        serial = who.serial, e = std::move(e)] {
    store_report report{store_result::missing, {}, "object missing"};
    for (const auto& id : e.ids)
      around_.watch.check(around_.claims.may_enter(e.repository, id),
                          "an object was copied to who has no business with it",
                          around_.now);
    const auto kinds = around_.repositories.kinds(e.from, e.ids);
    if (std::find(kinds.begin(), kinds.end(), object_kind::absent)
        == kinds.end()) {
      around_.repositories.add(e.repository, e.ids);
      report = {store_result::done, {}, ""};
    }
    with(repo, serial, [&](resident& back) {
      perform(back, back.plan.on_copied(e.event, e.repository, report, at()));
    });
  });
}

void sim_engine::act(resident& who, git::move_refs& e) {
  later(around_.plan.daemon.git_delay, [this, repo = who.repo,
                                        serial = who.serial, e = std::move(e)] {
    const auto report = around_.repositories.align(e.repository, e.wanted);
    with(repo, serial, [&](resident& back) {
      perform(back, back.plan.on_aligned(e.event, e.repository, report, at()));
    });
  });
}

void sim_engine::act(resident& who, git::move_pr_ref& e) {
  later(around_.plan.daemon.git_delay, [this, repo = who.repo,
                                        serial = who.serial, e = std::move(e)] {
    const auto report
      = around_.repositories.set_pr_ref(e.repository, e.event, e.tip);
    with(repo, serial, [&](resident& back) {
      perform(back, back.plan.on_aligned(e.event, e.repository, report, at()));
    });
  });
}

// -- relay --------------------------------------------------------------------

/// The relay may have the event although the process dies before it hears so.
void sim_engine::act(resident& who, git::release_event& e) {
  const auto verdict
    = std::make_shared<std::optional<publish_outcome>>(std::nullopt);
  const auto there = around_.relay.latency() / 2;
  around_.outside.put(around_.now + there,
                      [&around = around_, verdict, ev = e.event] {
                        if (around.relay.is_up(around.now))
                          *verdict = around.take_at_relay(ev);
                      });
  later(around_.relay.latency(), [this, repo = who.repo, serial = who.serial,
                                  verdict, id = e.event.id] {
    with(repo, serial, [&](resident& back) {
      perform(back, *verdict
                      ? back.plan.on_published(id, **verdict, "", at())
                      : back.plan.on_publish_failed(id, "no answer", at()));
    });
  });
}

// -- time and facts -----------------------------------------------------------

void sim_engine::act(resident& who, git::arm_timer& e) {
  who.timer = e;
  agenda_.put(
    std::max(e.due, around_.now),
    [this, repo = who.repo, serial = who.serial, generation = e.generation] {
      with(repo, serial, [&](resident& back) {
        if (!back.timer || back.timer->generation != generation)
          return;
        back.timer.reset();
        perform(back, back.plan.on_tick(generation, at()));
      });
    });
}

/// Only if nothing happens to it meanwhile.
void sim_engine::act(resident& who, git::may_sleep& e) {
  later(duration::zero(), [this, repo = who.repo, serial = who.serial,
                           calls = who.calls, wake = e.wake] {
    with(repo, serial, [&](resident& tired) {
      if (tired.calls == calls && tired.offers.empty())
        sleep(tired, wake);
    });
  });
}

void sim_engine::act(resident&, git::fact& e) {
  ++facts_[e.text];
  if (around_.log)
    around_.log(around_.now - scene::begin, e);
}

void sim_engine::act(resident&, git::met_fate& e) {
  ++facts_[std::string{"fate "} + to_string(e.fate)];
}

} // namespace purgatory::sim
