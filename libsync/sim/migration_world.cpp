#include "libsync/sim/generate.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace purgatory::sim {

namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

/// What became of a repository in the migration (rules §14), in its numbers.
enum class repository_class : std::uint8_t {
  complete,     ///< At two hosts.
  fetchable,    ///< At one, not yet fetched.
  expired,      ///< At the bulk host, where others waited too long.
  several_tags, ///< Behind the second of several `clone` tags.
  never_pushed, ///< Nowhere.
  by_hand,      ///< Its owner pushes it a day later.
  other,        ///< Mostly at the bulk host, a tenth with objects missing.
};

struct share {
  repository_class what;
  std::size_t of_1858;
};

constexpr std::size_t population = 1858;
constexpr std::array shares = {
  share{repository_class::complete, 400},
  share{repository_class::fetchable, 315},
  share{repository_class::expired, 382},
  share{repository_class::several_tags, 223},
  share{repository_class::never_pushed, 100},
  share{repository_class::by_hand, 5},
  share{repository_class::other, 433},
};

/// The first is the bulk host; the next two are down for six hours, the one
/// after for two days.
constexpr std::array host_names = {"git.shakespeare.diy",
                                   "gitnostr.com",
                                   "git.nostr.dev",
                                   "budabit.club",
                                   "relay.ngit.dev",
                                   "ngit.danconwaydev.com",
                                   "archive.relay.ngit.dev",
                                   "relay.gitnostr.com",
                                   "github.com",
                                   "gitlab.com",
                                   "bitbucket.org"};

class migration_maker {
public:
  explicit migration_maker(const migration_options& options)
    : options_(options), dice_(options.seed) {}

  world make() {
    made_.seed = options_.seed;
    made_.length = hours{24 * static_cast<std::int64_t>(options_.days)};
    for (std::size_t i = 0; i < options_.hosts; ++i)
      make_host(i);
    for (std::size_t i = 0; i < options_.repositories; ++i)
      make_repository(i);
    std::stable_sort(made_.script.begin(), made_.script.end(),
                     [](const auto& a, const auto& b) { return a.at < b.at; });
    return std::move(made_);
  }

private:
  [[nodiscard]] static std::string host_name(std::size_t number) {
    return number < host_names.size()
             ? host_names.at(number)
             : "git" + std::to_string(number) + ".example";
  }

  void make_host(std::size_t number) {
    host_model host;
    host.latency_min = milliseconds{300};
    host.latency_mean = milliseconds{1500};
    host.latency_max = seconds{60};
    if (number == 0) {
      // Refuses beyond 20 a minute, at times without saying for how long.
      host.latency_mean = seconds{3};
      host.limits = {{milliseconds{0}, 20, true},
                     {hours{1}, 20, false},
                     {hours{2}, 20, true}};
    } else if (number <= 2) {
      host.down = {{milliseconds{0}, hours{6},
                    number == 1 ? fetch_class::refused : fetch_class::timeout}};
    } else if (number == 3) {
      host.down = {{milliseconds{0}, hours{48}, fetch_class::server}};
    }
    made_.hosts[host_name(number)] = host;
  }

  /// Of the classes as they are in the population, spread evenly.
  [[nodiscard]] static repository_class class_of(std::size_t number) {
    auto place = number * 997 % population;
    for (const auto& [what, count] : shares) {
      if (place < count)
        return what;
      place -= count;
    }
    return repository_class::other;
  }

  std::size_t any_host() {
    if (options_.hosts < 2)
      return 0;
    return dice_.between(1, options_.hosts - 1);
  }

  /// Two different ones, as far as there are two; seldom a bulk host.
  std::pair<std::size_t, std::size_t> two_hosts() {
    const auto first = any_host();
    auto second = any_host();
    if (second == first)
      second = (first + 1) % options_.hosts;
    return {first, second};
  }

  struct repository {
    std::string owner;
    std::string name;
    std::vector<std::string> urls;
    std::vector<std::string> objects;
  };

  void add_url(repository& to, std::size_t host) {
    to.urls.push_back("https://" + host_name(host) + "/" + to.owner + "/"
                      + to.name + ".git");
  }

  void hold(const std::string& url, std::vector<std::string> objects) {
    made_.contents.push_back({url, milliseconds{0}, std::move(objects)});
  }

  void make_repository(std::size_t number) {
    repository next;
    // A few owners have many repositories.
    next.owner = "owner" + std::to_string(number * 7 / 10);
    next.name = "repo" + std::to_string(number);
    const auto refs = dice_.between(1, 3);
    for (std::uint64_t i = 0; i < refs; ++i)
      next.objects.push_back(next.name + "/" + std::to_string(i));
    const auto [first, second] = two_hosts();
    switch (class_of(number)) {
    case repository_class::complete:
      add_url(next, first);
      add_url(next, second);
      hold(next.urls[0], next.objects);
      hold(next.urls[1], next.objects);
      break;
    case repository_class::fetchable:
      add_url(next, first);
      hold(next.urls[0], next.objects);
      break;
    case repository_class::expired:
      add_url(next, 0);
      hold(next.urls[0], next.objects);
      break;
    case repository_class::several_tags:
      add_url(next, first);
      add_url(next, second);
      hold(next.urls[1], next.objects);
      break;
    case repository_class::never_pushed:
      add_url(next, first);
      break;
    case repository_class::by_hand:
      add_url(next, first);
      made_.script.push_back(
        {hours{24}, push{next.owner, next.name, next.objects}});
      break;
    case repository_class::other:
      add_url(next, dice_.chance(0.5) ? 0 : first);
      hold(next.urls[0], dice_.chance(0.1)
                           ? std::vector<std::string>{"another object"}
                           : next.objects);
      break;
    }
    say(next, number);
  }

  /// History is read within five minutes.
  void say(const repository& what, std::size_t number) {
    const auto at = dice_.time(seconds{0}, minutes{5});
    announce announced;
    announced.name = "announcement" + std::to_string(number);
    announced.author = what.owner;
    announced.repository = what.name;
    announced.clone = what.urls;
    made_.script.push_back({at, std::move(announced)});
    push_state state;
    state.name = "state" + std::to_string(number);
    state.author = what.owner;
    state.repository = what.name;
    for (std::size_t i = 0; i < what.objects.size(); ++i)
      state.refs["refs/heads/branch" + std::to_string(i)] = what.objects[i];
    made_.script.push_back({at + milliseconds{10}, std::move(state)});
  }

  migration_options options_;
  dice dice_;
  world made_;
};

} // namespace

world generate_migration(const migration_options& options) {
  return migration_maker{options}.make();
}

} // namespace purgatory::sim
