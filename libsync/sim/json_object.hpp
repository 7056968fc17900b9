#pragma once

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// Strict reading of JSON objects.
namespace purgatory::sim {

/// Where problems are collected; it stops to grow at some point.
class problem_list {
public:
  void add(const std::string& place, const std::string& text);
  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] std::vector<std::string> take() { return std::move(all_); }

private:
  std::vector<std::string> all_;
};

/// One JSON object at a place of the file. Each member is asked for by name;
/// what nobody asked for is a problem when the reader goes.
class json_object {
public:
  json_object(const nlohmann::json& value, std::string place,
              problem_list& problems);
  json_object(const json_object&) = delete;
  json_object& operator=(const json_object&) = delete;
  ~json_object();

  void problem(const std::string& name, const std::string& text);

  /// The member, or null.
  const nlohmann::json* find(const char* name);

  // Each leaves `to` as it is when the member is missing or wrong.
  void read(const char* name, std::string& to, bool required = false);
  void read(const char* name, bool& to);
  void read_share(const char* name, double& to);
  /// `500ms`, `20s`, `30min`, `6h`, `2d`; up to ten years.
  void read_time(const char* name, std::chrono::milliseconds& to,
                 bool required = false);
  /// Seconds, as a number that may be negative; up to ten years.
  void read_seconds(const char* name, std::chrono::seconds& to);
  void read_list(const char* name, std::vector<std::string>& to,
                 bool required = false);

  template <class Number>
  void read_whole(const char* name, Number& to, std::uint64_t least,
                  std::uint64_t most) {
    auto wide = static_cast<std::uint64_t>(to);
    read_number(name, wide, least, most);
    to = static_cast<Number>(wide);
  }

  /// The member `name` as an object, if it is there.
  void inside(const char* name, const std::function<void(json_object&)>& use);

  /// Each element of the list `name`.
  void each(const char* name, const std::function<void(json_object&)>& use);

  /// Each member of the object `name`.
  void
  each_member(const char* name,
              const std::function<void(const std::string&, json_object&)>& use);

private:
  [[nodiscard]] std::string place_of(const std::string& name) const;
  const nlohmann::json* found(const char* name, bool required);
  void read_number(const char* name, std::uint64_t& to, std::uint64_t least,
                   std::uint64_t most);

  const nlohmann::json& value_;
  std::string place_;
  problem_list& problems_;
  std::set<std::string> asked_;
};

} // namespace purgatory::sim
