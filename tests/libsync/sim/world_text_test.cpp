#define CAF_SUITE sim_world_text

#include "libsync/sim/generate.hpp"
#include "libsync/sim/world_text.hpp"
#include "tests/libsync/sim/small_worlds.hpp"

#include <caf/test/dsl.hpp>

#include <algorithm>

using namespace purgatory;
using namespace purgatory::sim;

namespace {

world read_back(const world& what) {
  const auto read = read_world(write_world(what));
  if (const auto* problems = std::get_if<world_problems>(&read))
    CAF_FAIL(problems->front());
  return std::get<world>(read);
}

world_problems problems_of(const std::string& text) {
  const auto read = read_world(text);
  const auto* problems = std::get_if<world_problems>(&read);
  return problems == nullptr ? world_problems{} : *problems;
}

bool names(const world_problems& problems, const std::string& text) {
  return std::any_of(problems.begin(), problems.end(), [&](const auto& each) {
    return each.find(text) != std::string::npos;
  });
}

/// Everything that a world can hold.
world full_world() {
  world result;
  result.seed = 7;
  result.length = std::chrono::hours{5};
  result.faults_end = std::chrono::hours{2};
  auto& daemon = result.daemon;
  daemon.limits = {2, 3, 4, 5};
  daemon.host_limits["a.example"] = {1, 2, 0, 9};
  daemon.fetch_workers = 3;
  daemon.default_delay = milliseconds{1};
  daemon.immediate_delay = milliseconds{2};
  daemon.expiry = milliseconds{3};
  daemon.horizon = milliseconds{4};
  daemon.max_attempts = 2;
  daemon.retry_enabled = false;
  daemon.unit_concurrent = 1;
  daemon.jitter = 0.25;
  daemon.initial_sync = milliseconds{5};
  daemon.journal_delay = milliseconds{6};
  daemon.git_delay = milliseconds{7};
  result.relay = {milliseconds{9},
                  {{milliseconds{1}, milliseconds{2}, fetch_class::refused}},
                  {"s"}};
  host_model host;
  host.latency_min = milliseconds{1};
  host.latency_mean = milliseconds{2};
  host.latency_max = milliseconds{3};
  host.down = {{milliseconds{5}, milliseconds{6}, fetch_class::tls}};
  host.limits = {{milliseconds{0}, 5, true}, {milliseconds{9}, 0, false}};
  host.errors = {{0.5, fetch_class::corrupt}};
  host.objects_per_job = 2;
  host.redirect_to = "b.example";
  result.hosts = {{"a.example", host}, {"b.example", {}}};
  result.contents = {{"https://a.example/x.git", milliseconds{4}, {"o", "p"}}};
  const auto second = std::chrono::seconds{-2};
  result.script = {
    {milliseconds{0}, announce{"a",
                               "me",
                               "r",
                               {"https://a.example/x.git"},
                               {"you"},
                               provenance::direct,
                               second}},
    {milliseconds{1},
     push_state{
       "s", "me", "r", {{"refs/heads/main", "o"}}, provenance::import, second}},
    {milliseconds{2}, propose{"p",
                              "you",
                              "me",
                              "r",
                              "p",
                              {"https://b.example/y.git"},
                              provenance::served,
                              second}},
    {milliseconds{3}, repeat{"s", provenance::direct}},
    {milliseconds{4}, take_back{"me", "r", {"s"}}},
    {milliseconds{5}, push{"me", "r", {"o"}}},
    {milliseconds{6}, configure{"a.example", {1, 1, 1, 1}}},
    {milliseconds{7}, operator_retry{}},
    {milliseconds{8}, set_clock{second}},
    {milliseconds{9}, crash{milliseconds{3}, 4, true}}};
  return result;
}

} // namespace

CAF_TEST(a world with everything comes back as it was) {
  const auto before = full_world();
  CAF_CHECK(read_back(before) == before);
}

CAF_TEST(a world of defaults comes back as it was) {
  world before;
  CAF_CHECK(read_back(before) == before);
}

CAF_TEST(generated worlds come back as they were) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    random_options options;
    options.seed = seed;
    options.units = 1 + seed % 20;
    options.liveness = seed % 2 == 0;
    const auto before = generate_random(options);
    CAF_CHECK(read_back(before) == before);
  }
  const auto before = generate_migration({3, 100, 11, 2});
  CAF_CHECK(read_back(before) == before);
}

CAF_TEST(all problems are named with their place) {
  const auto problems = problems_of(R"({
    "length": "soon",
    "colour": "red",
    "daemon": {"fetch_workers": 0, "jitter": 2},
    "hosts": {"a.example": {"latency_min": "9s", "latency_mean": "1s"},
              "A.example": {}},
    "contents": [{"url": "https://c.example/x.git", "objects": ["o"]}],
    "script": [{"at": "2s", "do": "dance"},
               {"at": "3s", "do": "repeat", "event": "nobody"},
               {"at": "1s", "do": "retry"},
               {"at": "4s", "do": "announce", "name": "n", "author": "a",
                "repository": "../x"}]})");
  for (const auto* wanted :
       {"length: no duration", "colour: unknown", "daemon.fetch_workers: no",
        "daemon.jitter: no number", "hosts.a.example.latency_mean: not between",
        "hosts.A.example: no canonical", "contents[0].url: at no host",
        "script[0].do: nothing is done", "script[1].event: nothing is called",
        "script[2].at: earlier", "script[3].repository: no identifier"})
    CAF_CHECK(names(problems, wanted));
}

CAF_TEST(hostile texts are refused) {
  CAF_CHECK(names(problems_of(""), "no JSON"));
  CAF_CHECK(names(problems_of("[]"), "no object"));
  CAF_CHECK(names(problems_of("{\"length\":"), "no JSON"));
  const std::string deep(100'000, '[');
  CAF_CHECK(names(problems_of("{\"a\":" + deep), "nested too deeply"));
  CAF_CHECK(
    names(problems_of("{\"length\":\"1d\",\"script\":{}}"), "script: no list"));
  CAF_CHECK(names(problems_of("{\"length\":\"99999999999999d\"}"),
                  "length: no duration"));
  CAF_CHECK(names(problems_of("{\"length\":\"1d\",\"seed\":-1}"), "seed: no"));
  CAF_CHECK(names(problems_of("{\"length\":\"1d\",\"hosts\":{\"a.example\":"
                              "{\"errors\":[{\"share\":0.1,\"as\":"
                              "\"internal\"}]}}}"),
                  "as: no outcome"));
}

CAF_TEST(cut and bent worlds never crash the reader) {
  const auto text = write_world(full_world());
  for (std::size_t i = 0; i < text.size(); i += 7) {
    problems_of(text.substr(0, i));
    auto bent = text;
    bent[i] = static_cast<char>(bent[i] ^ 1);
    problems_of(bent);
  }
  CAF_CHECK(problems_of(text).empty());
}
