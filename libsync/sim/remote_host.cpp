#include "libsync/sim/remote_host.hpp"

#include <algorithm>
#include <cmath>

namespace purgatory::sim {

namespace {

using std::chrono::seconds;

/// How long it takes to notice a failure of that class.
duration patience(fetch_class as, duration latency) {
  switch (as) {
  case fetch_class::timeout:
    return seconds{90};
  case fetch_class::dns:
    return seconds{5};
  default:
    return latency;
  }
}

duration draw_latency(const host_model& model, std::mt19937_64& random) {
  const auto beyond
    = std::chrono::duration<double>(model.latency_mean - model.latency_min);
  // Drawn by hand: the library's distributions differ between libraries.
  const double share
    = static_cast<double>(random() >> 11U) / 9007199254740992.0;
  const auto drawn = model.latency_min
                     + std::chrono::duration_cast<duration>(
                       std::max(beyond, std::chrono::duration<double>{0})
                       * -std::log1p(-share));
  return std::min<duration>(drawn, model.latency_max);
}

bool happens(double share, std::mt19937_64& random) {
  return static_cast<double>(random() >> 11U) / 9007199254740992.0 < share;
}

} // namespace

remote_host::remote_host(const host_model& model, time_point begin,
                         std::optional<time_point> faults_end)
  : model_(model), begin_(begin), faults_end_(faults_end) {}

void remote_host::put(const remote_url& url, time_point from,
                      const oid& object) {
  const auto known = contents_[url].try_emplace(object, from).first;
  known->second = std::min(known->second, from);
}

bool remote_host::has_faults(time_point at) const {
  return !faults_end_ || at < *faults_end_;
}

const outage* remote_host::outage_at(time_point at) const {
  if (!has_faults(at))
    return nullptr;
  for (const auto& each : model_.down)
    if (begin_ + each.from <= at && at < begin_ + each.to)
      return &each;
  return nullptr;
}

bool remote_host::is_up(time_point at) const {
  return outage_at(at) == nullptr;
}

std::optional<time_point> remote_host::up_from(time_point at) const {
  // Each outage is left at most once.
  for (std::size_t i = 0; i <= model_.down.size(); ++i) {
    const auto* now = outage_at(at);
    if (now == nullptr)
      return at;
    at = begin_ + now->to;
    if (faults_end_)
      at = std::min(at, *faults_end_);
  }
  return std::nullopt;
}

std::optional<time_point> remote_host::holds_from(const remote_url& url,
                                                  const oid& object) const {
  const auto here = contents_.find(url);
  if (here == contents_.end())
    return std::nullopt;
  const auto found = here->second.find(object);
  if (found == here->second.end())
    return std::nullopt;
  return found->second;
}

const hidden_limit* remote_host::limit_at(time_point at) const {
  const hidden_limit* result = nullptr;
  for (const auto& each : model_.limits)
    if (begin_ + each.from <= at)
      result = &each;
  return result != nullptr && result->per_minute > 0 ? result : nullptr;
}

std::uint32_t remote_host::bears(time_point at) const {
  const auto* limit = limit_at(at);
  return limit == nullptr ? 0 : limit->per_minute;
}

std::optional<job_course> remote_host::refuse(time_point at,
                                              std::mt19937_64& random) {
  constexpr auto minute = std::chrono::minutes{1};
  while (!welcome_.empty() && welcome_.front() + minute <= at)
    welcome_.pop_front();
  const auto* limit = limit_at(at);
  job_course course;
  course.takes = draw_latency(model_, random);
  if (const auto* why = outage_at(at)) {
    course.outcome = why->as;
    course.takes = patience(why->as, course.takes);
    return course;
  }
  if (limit != nullptr && welcome_.size() >= limit->per_minute) {
    course.outcome = fetch_class::limited;
    course.takes = model_.latency_min;
    if (limit->tells)
      course.retry_after = std::max(
        seconds{1}, std::chrono::ceil<seconds>(welcome_.front() + minute - at));
    return course;
  }
  welcome_.push_back(at);
  if (!has_faults(at))
    return std::nullopt;
  for (const auto& each : model_.errors)
    if (happens(each.share, random)) {
      course.outcome = each.as;
      course.takes = patience(each.as, course.takes);
      return course;
    }
  return std::nullopt;
}

void remote_host::serve(const remote_url& url, const std::vector<oid>& wants,
                        time_point at, job_course& course) const {
  const auto here = contents_.find(url);
  if (here == contents_.end()) {
    course.outcome = fetch_class::no_repo;
    return;
  }
  for (const auto& want : wants) {
    const auto found = here->second.find(want);
    const bool has = found != here->second.end() && found->second <= at;
    (has ? course.got : course.missing).push_back(want);
  }
  course.outcome = course.got.empty() ? fetch_class::not_here : fetch_class::ok;
  const auto room = model_.objects_per_job;
  if (room > 0 && course.got.size() > room) {
    course.got.resize(room);
    course.missing.clear();
    course.outcome = fetch_class::partial;
  }
}

job_course remote_host::visit(const remote_url& url,
                              const std::vector<oid>& wants, time_point at,
                              std::mt19937_64& random) {
  if (auto refused = refuse(at, random))
    return *std::move(refused);
  job_course course;
  course.takes = draw_latency(model_, random);
  if (!model_.redirect_to.empty()) {
    course.outcome = fetch_class::redirected;
    course.redirect = model_.redirect_to;
    return course;
  }
  serve(url, wants, at, course);
  if (is_up(at + course.takes))
    return course;
  // It went down on the way.
  course = {};
  course.outcome = fetch_class::timeout;
  course.takes = seconds{30};
  return course;
}

} // namespace purgatory::sim
