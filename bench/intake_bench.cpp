// What one state event costs from text to the plan of its identifier: parse,
// id, signature, git rules, admission. Target: 8,000 events of 1.4 KB per
// CPU-second.
#include "app/io/crypto/schnorr.hpp"
#include "libsync/git/identifier_plan.hpp"
#include "libsync/nostr/git_events.hpp"
#include "libsync/nostr/parse.hpp"

#include <benchmark/benchmark.h>

#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace purgatory;

constexpr std::size_t sample_count = 256;
constexpr std::size_t event_bytes = 1400;

std::string digits_of(std::size_t number) {
  auto text = std::to_string(number + 1);
  return std::string(40 - text.size(), 'a') + text;
}

std::string signed_state(const io::schnorr_key& key, std::size_t number) {
  nostr::event ev;
  ev.author = key.public_key();
  ev.created_at = 1'760'000'000 + static_cast<unix_seconds>(number);
  ev.kind = nostr::kind_state;
  ev.tags = {{"d", "repository-" + std::to_string(number)},
             {"HEAD", "ref: refs/heads/main"},
             {"refs/heads/main", digits_of(number)}};
  ev.sig = std::string(128, '0');
  ev.id.value = std::string(64, '0');
  for (std::size_t ref = 0; nostr::to_json(ev).size() < event_bytes; ++ref)
    ev.tags.push_back({"refs/tags/v1." + std::to_string(ref), digits_of(ref)});
  ev.id = nostr::compute_id(ev);
  ev.sig = key.sign(ev.id);
  return nostr::to_json(ev);
}

const std::vector<std::string>& samples() {
  static const auto texts = [] {
    const auto key = io::schnorr_key::generate();
    std::vector<std::string> result;
    for (std::size_t i = 0; i < sample_count; ++i)
      result.push_back(signed_state(key, i));
    return result;
  }();
  return texts;
}

nostr::event parsed(const std::string& text) {
  auto result = nostr::parse_event(text, {});
  if (!std::holds_alternative<nostr::parsed_event>(result))
    throw std::runtime_error("sample refused");
  return std::get<nostr::parsed_event>(std::move(result)).value;
}

/// Runs `step` on one text after another and reports events and bytes.
template <class Step>
void run(benchmark::State& bench, Step step) {
  const auto& texts = samples();
  std::size_t next = 0;
  std::size_t bytes = 0;
  for (auto _ : bench) {
    const auto& text = texts[next++ % texts.size()];
    bytes += text.size();
    step(text);
  }
  bench.SetItemsProcessed(static_cast<std::int64_t>(bench.iterations()));
  bench.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}

void parse_and_id(benchmark::State& bench) {
  run(bench,
      [](const std::string& text) { benchmark::DoNotOptimize(parsed(text)); });
}

/// An identifier as its actor is spawned: the journal knows its announcement.
git::identifier_plan plan_of(const nostr::event& ev, const identifier& repo,
                             git::moment at) {
  nostr::event announcement;
  announcement.id.value = std::string(64, '1');
  announcement.author = ev.author;
  announcement.created_at = 1'750'000'000;
  announcement.kind = nostr::kind_announcement;
  announcement.tags
    = {{"d", repo.value}, {"clone", "https://git.example/" + repo.value}};
  git::identifier_plan plan(repo, {}, 1);
  plan.restore(
    {repo, {{announcement, entry_state::hunting, provenance::sync, 0}}, {}},
    at);
  return plan;
}

void intake(benchmark::State& bench) {
  const auto verifier = io::make_schnorr_verifier();
  const git::moment at{time_point{} + std::chrono::hours(1), 1'770'000'000};
  run(bench, [&](const std::string& text) {
    const auto ev = parsed(text);
    if (!nostr::has_valid_signature(ev, *verifier))
      throw std::runtime_error("signature of a sample is wrong");
    const auto typed = nostr::read_git_event(ev);
    const auto* state = std::get_if<nostr::state>(&typed);
    if (state == nullptr)
      throw std::runtime_error("sample is no state");
    auto plan = plan_of(ev, state->repo, at);
    auto todo = plan.on_event(ev, provenance::direct, 1, at);
    todo = plan.on_recorded(1, at);
    if (plan.where(ev.id) != entry_state::hunting)
      throw std::runtime_error("sample is not held");
    benchmark::DoNotOptimize(todo);
  });
}

} // namespace

BENCHMARK(parse_and_id);
BENCHMARK(intake);

BENCHMARK_MAIN();
