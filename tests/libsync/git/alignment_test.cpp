#include "libsync/git/alignment.hpp"
#include "tests/support/seed.hpp"

#include <random>

#define CAF_SUITE alignment
#include <caf/test/dsl.hpp>

using namespace purgatory;
using git::ref_change;
using ref_map = std::map<std::string, oid>;
using steps = std::vector<ref_change>;

namespace {

oid id(int n) {
  auto digits = std::to_string(n);
  return oid{std::string(40 - digits.size(), 'a') + digits};
}

bool contains_path(const std::string& folder, const std::string& name) {
  return name.starts_with(folder + "/");
}

/// Refs as git keeps them: a name can't be a file and a folder at once, and a
/// step with a wrong old value is refused.
struct ref_store {
  ref_map refs;

  bool has_room(const std::string& name) const {
    for (const auto& [other, value] : refs)
      if (contains_path(other, name) || contains_path(name, other))
        return false;
    return true;
  }

  bool apply(const ref_change& step) {
    const auto found = refs.find(step.name);
    const auto now = found == refs.end() ? std::optional<oid>{}
                                         : std::optional<oid>{found->second};
    if (now != step.before || now == step.after)
      return false;
    if (!step.after)
      return refs.erase(step.name) == 1;
    if (!has_room(step.name))
      return false;
    refs[step.name] = *step.after;
    return true;
  }
};

/// Random sets of names from few words, so that they often collide.
class name_maker {
public:
  explicit name_maker(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return random_() % n; }

  std::string name() {
    static const std::vector<std::string> words = {"a", "b", "a.b", "a-", "0"};
    std::string result = below(4) == 0 ? "refs/tags" : "refs/heads";
    const auto depth = 1 + below(3);
    for (std::size_t i = 0; i < depth; ++i)
      result += "/" + words[below(words.size())];
    return result;
  }

  ref_store refs() {
    ref_store result;
    for (auto n = below(12); n > 0; --n)
      result.apply({name(), {}, id(static_cast<int>(below(5)))});
    return result;
  }

private:
  std::mt19937_64 random_;
};

/// True when a step after `first` creates a name that `first` stands in the way
/// of.
bool blocks_a_create(const steps& plan, const ref_change& first) {
  for (const auto& step : plan)
    if (step.after && !step.before
        && (contains_path(step.name, first.name)
            || contains_path(first.name, step.name)))
      return true;
  return false;
}

/// Deletes come first exactly if they must, else last.
bool is_in_order(const steps& plan) {
  auto phase = 0;
  for (const auto& step : plan) {
    const auto wants_phase = step.after                    ? 1
                             : blocks_a_create(plan, step) ? 0
                                                           : 2;
    if (wants_phase < phase)
      return false;
    phase = wants_phase;
  }
  return true;
}

} // namespace

CAF_TEST(equal refs need no step) {
  const ref_map refs{{"refs/heads/a", id(1)}, {"refs/tags/v1", id(2)}};
  CAF_CHECK(git::plan_alignment(refs, {refs, {}, {}}).empty());
  CAF_CHECK(git::plan_alignment({}, {}).empty());
}

CAF_TEST(creates and updates come before deletes) {
  const ref_map current{{"refs/heads/gone", id(1)}, {"refs/heads/main", id(2)}};
  const git::desired_refs wanted{
    {{"refs/heads/main", id(3)}, {"refs/tags/v1", id(4)}}, {}, {}};
  const steps expected{{"refs/heads/main", id(2), id(3)},
                       {"refs/tags/v1", {}, id(4)},
                       {"refs/heads/gone", id(1), {}}};
  CAF_CHECK(git::plan_alignment(current, wanted) == expected);
}

CAF_TEST(a delete comes first only where its name blocks a create) {
  const ref_map current{{"refs/heads/a", id(1)},
                        {"refs/heads/b/c", id(2)},
                        {"refs/heads/z", id(3)}};
  const git::desired_refs wanted{
    {{"refs/heads/a/x", id(4)}, {"refs/heads/b", id(5)}}, {}, {}};
  const steps expected{{"refs/heads/a", id(1), {}},
                       {"refs/heads/b/c", id(2), {}},
                       {"refs/heads/a/x", {}, id(4)},
                       {"refs/heads/b", {}, id(5)},
                       {"refs/heads/z", id(3), {}}};
  CAF_CHECK(git::plan_alignment(current, wanted) == expected);
}

CAF_TEST(a name that only starts alike blocks nothing) {
  const ref_map current{{"refs/heads/a-b", id(1)}, {"refs/heads/a.b", id(2)}};
  const git::desired_refs wanted{{{"refs/heads/a", id(3)}}, {}, {}};
  const auto plan = git::plan_alignment(current, wanted);
  CAF_REQUIRE_EQUAL(plan.size(), 3u);
  CAF_CHECK_EQUAL(plan.front().name, "refs/heads/a");
}

CAF_TEST(untouched names are neither deleted nor written) {
  const ref_map current{{"refs/heads/link", id(1)}, {"refs/heads/old", id(2)}};
  const git::desired_refs wanted{
    {{"refs/heads/link", id(3)}, {"refs/heads/main", id(4)}},
    {"refs/heads/link", "refs/heads/absent"},
    {}};
  const steps expected{{"refs/heads/main", {}, id(4)},
                       {"refs/heads/old", id(2), {}}};
  CAF_CHECK(git::plan_alignment(current, wanted) == expected);
}

CAF_TEST(names that exclude each other are reported) {
  const git::desired_refs both{
    {{"refs/heads/a", id(1)}, {"refs/heads/a/b/c", id(2)}}, {}, {}};
  CAF_CHECK(git::blocked_name({}, both) == "refs/heads/a/b/c");
  const git::desired_refs over{
    {{"refs/heads/a", id(1)}}, {"refs/heads/a/b"}, {}};
  CAF_CHECK(git::blocked_name({{"refs/heads/a/b", id(2)}}, over)
            == "refs/heads/a");
  CAF_CHECK(!git::blocked_name({}, over));
  const git::desired_refs under{
    {{"refs/heads/a/b", id(1)}}, {"refs/heads/a"}, {}};
  CAF_CHECK(git::blocked_name({{"refs/heads/a", id(2)}}, under)
            == "refs/heads/a/b");
}

CAF_TEST(the steps can be carried out in order and yield the wanted refs) {
  const auto seed = test::first_seed();
  CAF_MESSAGE("PURGATORY_TEST_SEED=" << seed);
  name_maker make{seed};
  auto planned = 0;
  auto blocked = 0;
  for (auto round = 0; round < 4000; ++round) {
    auto store = make.refs();
    git::desired_refs wanted{make.refs().refs, {}, {}};
    for (auto n = make.below(3); n > 0; --n)
      wanted.untouched.insert(make.name());
    if (git::blocked_name(store.refs, wanted)) {
      ++blocked;
      continue;
    }
    auto expected = wanted.refs;
    for (const auto& name : wanted.untouched) {
      expected.erase(name);
      if (store.refs.contains(name))
        expected[name] = store.refs[name];
    }
    const auto plan = git::plan_alignment(store.refs, wanted);
    for (const auto& step : plan)
      if (!store.apply(step))
        CAF_FAIL("round " << round << ": no way to " << step.name);
    if (store.refs != expected || !is_in_order(plan)
        || !git::plan_alignment(store.refs, wanted).empty())
      CAF_FAIL("round " << round << ": wrong plan");
    ++planned;
  }
  CAF_CHECK(planned > 2000);
  CAF_CHECK(blocked > 10);
}
