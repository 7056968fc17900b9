#include "app/io/store/record_text.hpp"

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace purgatory {

namespace {

using nlohmann::json;

std::int64_t number_of(fetch_class value) {
  return static_cast<std::int64_t>(value);
}

/// Our own text, read back: anything unexpected is damage.
template <class Read>
auto read_own(std::string_view text, Read read) {
  try {
    return read(json::parse(text));
  } catch (const json::exception&) {
    throw std::runtime_error{"journal: unreadable memory of a URL"};
  }
}

} // namespace

fetch_class class_from(std::int64_t number) {
  if (number < 0 || number >= static_cast<std::int64_t>(fetch_class_count))
    throw std::runtime_error{"journal: no such class of outcome"};
  return static_cast<fetch_class>(number);
}

std::string encode_memory(const pair_memory& memory) {
  auto absent = json::array();
  for (const auto& known : memory.absent)
    absent.push_back({known.id.value, known.failures, known.next_allowed});
  json text = {{"last", number_of(memory.last)}, {"failures", memory.failures},
               {"next", memory.next_allowed},    {"score", memory.score},
               {"scored", memory.scored_at},     {"probes", memory.host_probes},
               {"recent", memory.recent},        {"absent", std::move(absent)}};
  if (memory.last_ok)
    text["ok"] = *memory.last_ok;
  return text.dump();
}

pair_memory decode_memory(std::string_view text) {
  return read_own(text, [](const json& parsed) {
    pair_memory memory;
    memory.last = class_from(parsed.at("last").get<std::int64_t>());
    memory.failures = parsed.at("failures").get<std::uint32_t>();
    memory.next_allowed = parsed.at("next").get<live_seconds>();
    memory.score = parsed.at("score").get<double>();
    memory.scored_at = parsed.at("scored").get<live_seconds>();
    memory.host_probes = parsed.at("probes").get<std::uint64_t>();
    memory.recent = parsed.at("recent").get<std::vector<live_seconds>>();
    for (const auto& known : parsed.at("absent"))
      memory.absent.push_back({oid{known.at(0).get<std::string>()},
                               known.at(1).get<std::uint32_t>(),
                               known.at(2).get<live_seconds>()});
    if (const auto ok = parsed.find("ok"); ok != parsed.end())
      memory.last_ok = ok->get<live_seconds>();
    return memory;
  });
}

std::string encode_urls(const std::vector<verdict_record::failed_url>& urls) {
  auto text = json::array();
  for (const auto& failed : urls)
    text.push_back({failed.url.value, number_of(failed.last)});
  return text.dump();
}

std::vector<verdict_record::failed_url> decode_urls(std::string_view text) {
  return read_own(text, [](const json& parsed) {
    std::vector<verdict_record::failed_url> urls;
    for (const auto& failed : parsed)
      urls.push_back({remote_url{failed.at(0).get<std::string>()},
                      class_from(failed.at(1).get<std::int64_t>())});
    return urls;
  });
}

} // namespace purgatory
