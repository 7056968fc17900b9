#pragma once

#include "libsync/sim/scene.hpp"

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace purgatory::sim {

/// The process of plain_model.hpp. One repository for each identifier, whoever
/// owns it, as the notes have it.
class plain_process {
public:
  explicit plain_process(const world& what) : world_(what), scene_(what) {}

  void run();

  scene& around() { return scene_; }
  std::uint64_t steps = 0;
  std::map<std::string, duration> released_at;

private:
  struct queue_entry {
    time_point next_attempt;
    std::uint32_t attempts = 0;
    bool in_progress = false;
  };
  struct held_event {
    nostr::event ev;
    time_point expires;
  };
  struct domain {
    std::deque<time_point> starts;
    std::size_t in_flight = 0;
    std::vector<identifier> queue;
    std::size_t turn = 0;
  };
  struct attempt {
    identifier repo;
    std::set<remote_url> tried;
    bool from_queue = false;
  };

  void later(duration delay, std::function<void()> what) {
    events_.put(scene_.now + delay, std::move(what));
  }

  // plain_events.cpp
  template <class Event>
  void say(const Event& what);
  void play(const action& what);
  void offer(const nostr::event& ev, provenance from);
  void expire(const event_id& id);
  [[nodiscard]] bool announcement_counts(const identifier& repo,
                                         const pubkey& owner) const;
  void process_events(const identifier& repo);
  void release_announcement(const identifier& repo, const pubkey& owner);
  void release(const nostr::event& ev);

  // plain_queue.cpp
  void poll();
  [[nodiscard]] std::vector<oid> needed(const identifier& repo) const;
  [[nodiscard]] std::vector<remote_url> urls(const identifier& repo) const;
  bool has_room(const host_key& host);
  void go_on(attempt now);
  void finish(const attempt& over, bool complete);
  void enqueue(const host_key& host, const identifier& repo);
  void process_queue(const host_key& host);
  void fetch(attempt now, const remote_url& url);
  void fetched(attempt now, const remote_url& url, const job_course& course);

  const world& world_;
  scene scene_;
  agenda<std::function<void()>> events_;
  std::map<std::string, nostr::event> names_;
  std::map<identifier, queue_entry> queue_;
  std::map<event_id, held_event> held_;
  std::map<identifier, std::set<event_id>> of_;
  std::map<event_id, time_point> refused_;
  std::map<host_key, domain> domains_;
};

} // namespace purgatory::sim
