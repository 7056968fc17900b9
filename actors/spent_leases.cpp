#include "actors/spent_leases.hpp"

namespace purgatory {

namespace {

constexpr std::size_t max_leases = 4096;

} // namespace

void spent_leases::add(lease_id lease) {
  if (!known_.insert(lease).second)
    return;
  order_.push_back(lease);
  if (order_.size() <= max_leases)
    return;
  known_.erase(order_.front());
  order_.pop_front();
}

} // namespace purgatory
