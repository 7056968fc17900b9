#include "libsync/option_values.hpp"
#include "libsync/sim/world_text.hpp"

#include <nlohmann/json.hpp>

namespace purgatory::sim {

namespace {

using json = nlohmann::ordered_json;

void put(json& to, const char* name, milliseconds value, milliseconds usual) {
  if (value != usual)
    to[name] = to_text(value);
}

template <class Value>
void put(json& to, const char* name, const Value& value, const Value& usual) {
  if (value != usual)
    to[name] = value;
}

void put(json& to, const char* name, std::chrono::seconds value) {
  if (value.count() != 0)
    to[name] = value.count();
}

json to_json(const engine::start_limits& value,
             const engine::start_limits& usual) {
  json to = json::object();
  put(to, "concurrent", value.concurrent, usual.concurrent);
  put(to, "per_minute", value.per_minute, usual.per_minute);
  put(to, "per_hour", value.per_hour, usual.per_hour);
  put(to, "per_day", value.per_day, usual.per_day);
  return to;
}

json to_json(const std::vector<outage>& all) {
  json to = json::array();
  for (const auto& each : all)
    to.push_back({{"from", to_text(each.from)},
                  {"to", to_text(each.to)},
                  {"as", to_string(each.as)}});
  return to;
}

json to_json(const host_model& value) {
  const host_model usual;
  json to = json::object();
  put(to, "latency_min", value.latency_min, usual.latency_min);
  put(to, "latency_mean", value.latency_mean, usual.latency_mean);
  put(to, "latency_max", value.latency_max, usual.latency_max);
  if (!value.down.empty())
    to["down"] = to_json(value.down);
  for (const auto& each : value.limits)
    to["limits"].push_back({{"from", to_text(each.from)},
                            {"per_minute", each.per_minute},
                            {"retry_after", each.tells}});
  for (const auto& each : value.errors)
    to["errors"].push_back({{"share", each.share}, {"as", to_string(each.as)}});
  put(to, "objects_per_job", value.objects_per_job, usual.objects_per_job);
  put(to, "redirect_to", value.redirect_to, usual.redirect_to);
  return to;
}

json to_json(const daemon_settings& value) {
  const daemon_settings usual;
  json to = json::object();
  if (value.limits != usual.limits)
    to["limits"] = to_json(value.limits, usual.limits);
  for (const auto& [name, each] : value.host_limits)
    to["host_limits"][name] = to_json(each, value.limits);
  put(to, "fetch_workers", value.fetch_workers, usual.fetch_workers);
  put(to, "default_delay", value.default_delay, usual.default_delay);
  put(to, "immediate_delay", value.immediate_delay, usual.immediate_delay);
  put(to, "expiry", value.expiry, usual.expiry);
  put(to, "horizon", value.horizon, usual.horizon);
  put(to, "max_attempts", value.max_attempts, usual.max_attempts);
  put(to, "retry_enabled", value.retry_enabled, usual.retry_enabled);
  put(to, "unit_concurrent", value.unit_concurrent, usual.unit_concurrent);
  put(to, "jitter", value.jitter, usual.jitter);
  put(to, "initial_sync", value.initial_sync, usual.initial_sync);
  put(to, "journal_delay", value.journal_delay, usual.journal_delay);
  put(to, "git_delay", value.git_delay, usual.git_delay);
  return to;
}

// -- script -------------------------------------------------------------------

template <class Event>
void put_event(json& to, const char* what, const Event& value) {
  to["do"] = what;
  to["name"] = value.name;
  to["author"] = value.author;
  to["repository"] = value.repository;
  to["from"] = to_string(value.from);
  put(to, "created", value.created);
}

void put_list(json& to, const char* name,
              const std::vector<std::string>& values) {
  if (!values.empty())
    to[name] = values;
}

struct action_writer {
  json& to;

  void operator()(const announce& value) const {
    put_event(to, "announce", value);
    put_list(to, "clone", value.clone);
    put_list(to, "maintainers", value.maintainers);
  }
  void operator()(const push_state& value) const {
    put_event(to, "state", value);
    to["refs"] = json::object();
    for (const auto& [name, object] : value.refs)
      to["refs"][name] = object;
  }
  void operator()(const propose& value) const {
    put_event(to, "pull_request", value);
    to["owner"] = value.owner;
    to["tip"] = value.tip;
    put_list(to, "clone", value.clone);
  }
  void operator()(const take_back& value) const {
    to["do"] = "delete";
    to["author"] = value.author;
    to["repository"] = value.repository;
    to["events"] = value.events;
  }
  void operator()(const repeat& value) const {
    to["do"] = "repeat";
    to["event"] = value.event;
    to["from"] = to_string(value.from);
  }
  void operator()(const push& value) const {
    to["do"] = "push";
    to["owner"] = value.owner;
    to["repository"] = value.repository;
    to["objects"] = value.objects;
  }
  void operator()(const configure& value) const {
    to["do"] = "configure";
    put(to, "host", value.host, std::string{});
    to.update(to_json(value.limits, engine::start_limits{}));
  }
  void operator()(const operator_retry&) const { to["do"] = "retry"; }
  void operator()(const set_clock& value) const {
    to["do"] = "set_clock";
    put(to, "by", value.by);
  }
  void operator()(const crash& value) const {
    const crash usual;
    to["do"] = "crash";
    put(to, "down", value.down, usual.down);
    put(to, "after_steps", value.after_steps, usual.after_steps);
    put(to, "clean", value.clean, usual.clean);
  }
};

json to_json(const relay_model& value) {
  json to = json::object();
  put(to, "latency", value.latency, relay_model{}.latency);
  if (!value.down.empty())
    to["down"] = to_json(value.down);
  put_list(to, "refuses", value.refuses);
  return to;
}

} // namespace

std::string write_world(const world& what) {
  json to;
  to["seed"] = what.seed;
  to["length"] = to_text(what.length);
  if (what.faults_end)
    to["faults_end"] = to_text(*what.faults_end);
  to["daemon"] = to_json(what.daemon);
  to["relay"] = to_json(what.relay);
  to["hosts"] = json::object();
  for (const auto& [name, host] : what.hosts)
    to["hosts"][name] = to_json(host);
  to["contents"] = json::array();
  for (const auto& each : what.contents)
    to["contents"].push_back(
      {{"url", each.url}, {"at", to_text(each.at)}, {"objects", each.objects}});
  to["script"] = json::array();
  for (const auto& each : what.script) {
    json next;
    next["at"] = to_text(each.at);
    std::visit(action_writer{next}, each.what);
    to["script"].push_back(std::move(next));
  }
  return to.dump(2) + "\n";
}

} // namespace purgatory::sim
