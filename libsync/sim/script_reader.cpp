#include "libsync/sim/script_reader.hpp"

#include "libsync/nostr/git_events.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <set>

namespace purgatory::sim {

namespace {

/// Names of events that were introduced so far.
struct introduced {
  std::set<std::string> events;
};

void read_provenance(json_object& from, provenance& to) {
  std::string name = to_string(to);
  from.read("from", name);
  for (const auto value : {provenance::direct, provenance::sync,
                           provenance::import, provenance::served})
    if (name == to_string(value)) {
      to = value;
      return;
    }
  from.problem("from", "neither direct, sync, import nor served");
}

void read_repository(json_object& from, std::string& to) {
  from.read("repository", to, true);
  if (!to.empty() && !nostr::parse_identifier(to))
    from.problem("repository", "no identifier");
}

template <class Event>
void read_event(json_object& from, introduced& names, Event& to) {
  from.read("name", to.name, true);
  from.read("author", to.author, true);
  read_repository(from, to.repository);
  read_provenance(from, to.from);
  from.read_seconds("created", to.created);
  if (!to.name.empty() && !names.events.insert(to.name).second)
    from.problem("name", "used before");
}

action read_announce(json_object& from, introduced& names) {
  announce to;
  read_event(from, names, to);
  from.read_list("clone", to.clone);
  from.read_list("maintainers", to.maintainers);
  return to;
}

action read_state(json_object& from, introduced& names) {
  push_state to;
  read_event(from, names, to);
  if (const auto* refs = from.find("refs"); refs == nullptr)
    from.problem("refs", "missing");
  else if (!refs->is_object())
    from.problem("refs", "no object");
  else
    for (const auto& [name, object] : refs->items())
      if (object.is_string() && !object.get<std::string>().empty())
        to.refs[name] = object.get<std::string>();
      else
        from.problem("refs." + name, "no text");
  return to;
}

action read_propose(json_object& from, introduced& names) {
  propose to;
  read_event(from, names, to);
  from.read("owner", to.owner, true);
  from.read("tip", to.tip, true);
  from.read_list("clone", to.clone);
  return to;
}

action read_take_back(json_object& from, const introduced& names) {
  take_back to;
  from.read("author", to.author, true);
  read_repository(from, to.repository);
  from.read_list("events", to.events, true);
  for (const auto& name : to.events)
    if (!names.events.contains(name))
      from.problem("events", "nothing is called " + name + " before");
  return to;
}

action read_repeat(json_object& from, const introduced& names) {
  repeat to;
  from.read("event", to.event, true);
  read_provenance(from, to.from);
  if (!to.event.empty() && !names.events.contains(to.event))
    from.problem("event", "nothing is called " + to.event + " before");
  return to;
}

action read_push(json_object& from) {
  push to;
  from.read("owner", to.owner, true);
  read_repository(from, to.repository);
  from.read_list("objects", to.objects, true);
  return to;
}

action read_configure(json_object& from) {
  configure to;
  from.read("host", to.host);
  read_limits(from, to.limits);
  return to;
}

action read_crash(json_object& from) {
  crash to;
  from.read_time("down", to.down);
  from.read_whole("after_steps", to.after_steps, 0, max_limit);
  from.read("clean", to.clean);
  return to;
}

std::optional<action> read_action(json_object& from, introduced& names) {
  std::string what;
  from.read("do", what, true);
  if (what == "announce")
    return read_announce(from, names);
  if (what == "state")
    return read_state(from, names);
  if (what == "pull_request")
    return read_propose(from, names);
  if (what == "delete")
    return read_take_back(from, names);
  if (what == "repeat")
    return read_repeat(from, names);
  if (what == "push")
    return read_push(from);
  if (what == "configure")
    return read_configure(from);
  if (what == "retry")
    return operator_retry{};
  if (what == "crash")
    return read_crash(from);
  if (what == "set_clock") {
    set_clock to;
    from.read_seconds("by", to.by);
    return to;
  }
  from.problem("do", "nothing is done by the name of " + what);
  return std::nullopt;
}

} // namespace

void read_limits(json_object& from, engine::start_limits& to) {
  from.read_whole("concurrent", to.concurrent, 0, max_limit);
  from.read_whole("per_minute", to.per_minute, 0, max_limit);
  from.read_whole("per_hour", to.per_hour, 0, max_limit);
  from.read_whole("per_day", to.per_day, 0, max_limit);
}

void read_script(json_object& from, world& to) {
  introduced names;
  from.each("script", [&](json_object& each) {
    happening next;
    each.read_time("at", next.at, true);
    if (!to.script.empty() && next.at < to.script.back().at)
      each.problem("at", "earlier than the one before");
    if (auto what = read_action(each, names)) {
      next.what = *std::move(what);
      to.script.push_back(std::move(next));
    }
  });
  for (const auto& name : to.relay.refuses)
    if (!names.events.contains(name))
      from.problem("relay.refuses", "nothing is called " + name);
}

} // namespace purgatory::sim
