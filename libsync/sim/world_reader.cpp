#include "libsync/sim/json_object.hpp"
#include "libsync/sim/names.hpp"
#include "libsync/sim/script_reader.hpp"
#include "libsync/sim/world_text.hpp"

#include <nlohmann/json.hpp>

#include <optional>

namespace purgatory::sim {

namespace {

using nlohmann::json;

constexpr std::size_t max_text = std::size_t{256} << 20U;
constexpr int max_depth = 16;

std::optional<fetch_class> class_named(const std::string& name) {
  for (std::size_t i = 0; i < fetch_class_count; ++i)
    if (name == to_string(static_cast<fetch_class>(i)))
      return static_cast<fetch_class>(i);
  return std::nullopt;
}

void read_class(json_object& from, fetch_class& to) {
  std::string name = to_string(to);
  from.read("as", name);
  if (const auto known = class_named(name); known && is_real_outcome(*known))
    to = *known;
  else
    from.problem("as", "no outcome of a fetch that a server can cause");
}

void read_outages(json_object& from, std::vector<outage>& to) {
  from.each("down", [&](json_object& each) {
    outage next;
    each.read_time("from", next.from, true);
    each.read_time("to", next.to, true);
    read_class(each, next.as);
    if (next.to <= next.from)
      each.problem("to", "not after from");
    to.push_back(next);
  });
}

void read_host_name(json_object& from, const std::string& name) {
  if (host_of("https://" + name + "/").value != name)
    from.problem("", "no canonical host name");
}

host_model read_host(json_object& from) {
  host_model to;
  from.read_time("latency_min", to.latency_min);
  from.read_time("latency_mean", to.latency_mean);
  from.read_time("latency_max", to.latency_max);
  if (to.latency_min > to.latency_mean || to.latency_mean > to.latency_max)
    from.problem("latency_mean", "not between latency_min and latency_max");
  read_outages(from, to.down);
  from.each("limits", [&](json_object& each) {
    hidden_limit next;
    each.read_time("from", next.from);
    each.read_whole("per_minute", next.per_minute, 0, max_limit);
    each.read("retry_after", next.tells);
    if (!to.limits.empty() && next.from < to.limits.back().from)
      each.problem("from", "earlier than the one before");
    to.limits.push_back(next);
  });
  from.each("errors", [&](json_object& each) {
    wrong_answer next;
    each.read_share("share", next.share);
    read_class(each, next.as);
    to.errors.push_back(next);
  });
  from.read_whole("objects_per_job", to.objects_per_job, 0, max_limit);
  from.read("redirect_to", to.redirect_to);
  return to;
}

void read_daemon(json_object& from, daemon_settings& to) {
  from.inside("limits",
              [&](json_object& each) { read_limits(each, to.limits); });
  from.each_member("host_limits",
                   [&](const std::string& name, json_object& each) {
                     read_host_name(each, name);
                     read_limits(each, to.host_limits[name] = to.limits);
                   });
  from.read_whole("fetch_workers", to.fetch_workers, 1, 100'000);
  from.read_time("default_delay", to.default_delay);
  from.read_time("immediate_delay", to.immediate_delay);
  from.read_time("expiry", to.expiry);
  from.read_time("horizon", to.horizon);
  from.read_whole("max_attempts", to.max_attempts, 1, 1000);
  from.read("retry_enabled", to.retry_enabled);
  from.read_whole("unit_concurrent", to.unit_concurrent, 1, 1000);
  from.read_share("jitter", to.jitter);
  from.read_time("initial_sync", to.initial_sync);
  from.read_time("journal_delay", to.journal_delay);
  from.read_time("git_delay", to.git_delay);
}

world read_all(json_object& from) {
  world to;
  from.read_whole("seed", to.seed, 0, ~std::uint64_t{0});
  from.read_time("length", to.length, true);
  if (from.find("faults_end") != nullptr)
    from.read_time("faults_end", to.faults_end.emplace());
  from.inside("daemon",
              [&](json_object& each) { read_daemon(each, to.daemon); });
  from.inside("relay", [&](json_object& each) {
    each.read_time("latency", to.relay.latency);
    read_outages(each, to.relay.down);
    each.read_list("refuses", to.relay.refuses);
  });
  from.each_member("hosts", [&](const std::string& name, json_object& each) {
    read_host_name(each, name);
    to.hosts[name] = read_host(each);
  });
  for (const auto& [name, host] : to.hosts)
    if (!host.redirect_to.empty() && !to.hosts.contains(host.redirect_to))
      from.problem("hosts." + name, "redirects to an unknown host");
  from.each("contents", [&](json_object& each) {
    content next;
    each.read("url", next.url, true);
    each.read_time("at", next.at);
    each.read_list("objects", next.objects, true);
    if (!to.hosts.contains(host_of(next.url).value))
      each.problem("url", "at no host of this world");
    to.contents.push_back(std::move(next));
  });
  read_script(from, to);
  return to;
}

} // namespace

std::variant<world, world_problems> read_world(std::string_view text) {
  if (text.size() > max_text)
    return world_problems{"longer than 256 MiB"};
  bool too_deep = false;
  const auto guard = [&](int depth, json::parse_event_t, json&) {
    too_deep = too_deep || depth > max_depth;
    return !too_deep;
  };
  const auto parsed = json::parse(text.begin(), text.end(), guard, false);
  if (too_deep)
    return world_problems{"nested too deeply"};
  if (parsed.is_discarded())
    return world_problems{"no JSON"};
  problem_list problems;
  world result;
  {
    json_object whole{parsed, "", problems};
    result = read_all(whole);
  }
  if (!problems.empty())
    return problems.take();
  return result;
}

} // namespace purgatory::sim
