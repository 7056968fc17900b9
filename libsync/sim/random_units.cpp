#include "libsync/sim/random_maker.hpp"

#include <algorithm>
#include <utility>

namespace purgatory::sim {

namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

} // namespace

std::string random_maker::any_host() {
  const auto number = dice_.between(0, options_.hosts - 1);
  return numbered("host", number) + ".example";
}

void random_maker::say(milliseconds at, action what) {
  made_.script.push_back({at, std::move(what)});
}

provenance random_maker::any_provenance() {
  return dice_.chance(0.3) ? provenance::direct : provenance::sync;
}

milliseconds random_maker::any_time() {
  return dice_.chance(0.6) ? dice_.time(seconds{0}, minutes{5})
                           : dice_.time(seconds{0}, last_fault() / 2);
}

void random_maker::make_unit(std::size_t number) {
  unit next;
  next.owner = numbered("owner", number);
  const bool same_name = number > 0 && !options_.plain && dice_.chance(0.15);
  next.repo = same_name ? units_.back().repo : numbered("repo", number);
  const auto count = dice_.between(1, 3);
  for (std::uint64_t i = 0; i < count; ++i)
    next.urls.push_back("https://" + any_host() + "/" + next.owner + "/"
                        + std::to_string(i) + ".git");
  announce said;
  said.name = numbered("announcement", number);
  said.author = next.owner;
  said.repository = next.repo;
  said.clone = next.urls;
  said.from = any_provenance();
  if (number > 0 && dice_.chance(0.3))
    said.maintainers.push_back(units_.back().owner);
  const auto at = any_time();
  say(at, said);
  units_.push_back(next);
  const auto states = dice_.between(1, 3);
  for (std::uint64_t i = 0; i < states; ++i)
    make_state(number, i, at);
  if (dice_.chance(0.2))
    make_pull_request(number, at);
  if (dice_.chance(0.1))
    make_change(number, said, at);
}

void random_maker::make_state(std::size_t number, std::uint64_t version,
                              milliseconds at) {
  const auto& of = units_[number];
  push_state said;
  said.name = numbered("state", number) + "." + std::to_string(version);
  said.author = of.owner;
  said.repository = of.repo;
  said.from = any_provenance();
  std::vector<std::string> objects;
  const auto refs = dice_.between(1, 4);
  for (std::uint64_t i = 0; i < refs; ++i) {
    objects.push_back(said.name + "/" + std::to_string(i));
    said.refs[numbered("refs/heads/branch", i)] = objects.back();
  }
  const auto when
    = at + seconds{1 + version}
      + (version == 0 ? milliseconds{0} : dice_.time(seconds{0}, hours{12}));
  place(of, objects, when);
  const bool early = version == 0 && dice_.chance(0.1) && at > seconds{2};
  say(early ? at - seconds{1} : when, said);
  if (dice_.chance(0.1))
    say(when + dice_.time(seconds{1}, hours{3}),
        repeat{said.name, any_provenance()});
  if (!options_.liveness && dice_.chance(0.05))
    say(when + dice_.time(seconds{1}, hours{3}),
        take_back{of.owner, of.repo, {said.name}});
  if (dice_.chance(0.08))
    say(when + dice_.time(seconds{1}, hours{12}),
        push{of.owner, of.repo, objects});
}

/// Where the objects of a state are: everywhere, here and there, late, never.
void random_maker::place(const unit& of,
                         const std::vector<std::string>& objects,
                         milliseconds when) {
  const auto luck = dice_.between(0, 99);
  if (luck < 55) {
    for (const auto& url : of.urls)
      if (dice_.chance(0.7) || url == of.urls.back())
        made_.contents.push_back({url, milliseconds{0}, objects});
  } else if (luck < 70) {
    for (const auto& object : objects)
      made_.contents.push_back({of.urls[dice_.between(0, of.urls.size() - 1)],
                                milliseconds{0},
                                {object}});
  } else if (luck < 85) {
    const auto late
      = std::min(when + dice_.time(minutes{1}, hours{30}), last_fault());
    made_.contents.push_back({of.urls.front(), late, objects});
  }
}

void random_maker::make_pull_request(std::size_t number, milliseconds at) {
  const auto& of = units_[number];
  propose said;
  said.name = numbered("pull", number);
  said.author = numbered("guest", dice_.between(0, 5));
  said.owner = of.owner;
  said.repository = of.repo;
  said.tip = said.name + "/tip";
  said.from = any_provenance();
  const auto url = "https://" + any_host() + "/" + said.author + "/"
                   + std::to_string(number) + ".git";
  said.clone = {url};
  if (dice_.chance(0.7))
    made_.contents.push_back({url, milliseconds{0}, {said.tip}});
  say(at + dice_.time(seconds{1}, hours{6}), said);
}

void random_maker::make_change(std::size_t number, announce said,
                               milliseconds at) {
  said.name += ".changed";
  said.clone.push_back("https://" + any_host() + "/" + said.author
                       + "/moved.git");
  if (dice_.chance(0.5))
    made_.contents.push_back({said.clone.back(),
                              milliseconds{0},
                              {numbered("state", number) + ".0/0"}});
  say(at + dice_.time(minutes{1}, hours{12}), said);
}

} // namespace purgatory::sim
