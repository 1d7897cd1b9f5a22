// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <apps/demo/latencies.hpp>
#include <cmath>
#include <numeric>

namespace demo {

latency_counts::latency_counts(const latencies& of) : latency_counts() {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] = of.counts_[i].load(std::memory_order_relaxed);
  most_ns_ = of.most_.load(std::memory_order_relaxed);
}

std::uint64_t latency_counts::total() const noexcept {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

double latency_counts::seconds_at(double share) const noexcept {
  const std::uint64_t all = total();
  if (all == 0) return 0;
  const auto rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(all))));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    // The result is limited, because the middle of the last bucket may exceed the longest time.
    if (seen >= rank) return std::min(latencies::ns_of(i), static_cast<double>(most_ns_)) / 1e9;
  }
  return longest_seconds();
}

latency_counts& latency_counts::operator+=(const latency_counts& o) noexcept {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += o.counts_[i];
  most_ns_ = std::max(most_ns_, o.most_ns_);
  return *this;
}

latency_counts& latency_counts::operator-=(const latency_counts& o) noexcept {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] -= o.counts_[i];
  return *this;
}

}  // namespace demo
