// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/worker/internal/failure.hpp>

namespace troupe {

failure_ptr passed_on(const failure_ptr& cause, const request_id& to) {
  auto out = std::make_shared<failure>(*cause);
  out->chain.push_back(to);
  return out;
}

void failure_log::add(entry e) {
  const std::scoped_lock guard(lock_);
  entries_.push_back({std::move(e)});
  live_.fetch_add(1, std::memory_order_release);
  fresh_.fetch_add(1, std::memory_order_release);
}

failure_ptr failure_log::find(position at) const {
  const std::scoped_lock guard(lock_);
  const auto found = std::find_if(entries_.rbegin(), entries_.rend(), [at](const kept& k) { return k.e.at == at; });
  return found == entries_.rend() ? nullptr : found->e.why;
}

std::vector<failure_log::entry> failure_log::take_fresh(lane_progress issued) {
  const std::scoped_lock guard(lock_);
  std::vector<entry> out;
  for (kept& k : entries_) {
    if (k.harvested) continue;
    k.harvested = true;
    std::copy(issued.begin(), issued.end(), k.issued.begin());
    out.push_back(k.e);
  }
  fresh_.store(0, std::memory_order_relaxed);
  return out;
}

void failure_log::prune(lane_progress done) {
  if (empty()) return;
  const std::scoped_lock guard(lock_);
  std::erase_if(entries_, [done](const kept& k) {
    return k.harvested && std::equal(k.issued.begin(), k.issued.end(), done.begin(),
                                     [](std::uint64_t i, std::uint64_t d) { return i <= d; });
  });
  live_.store(entries_.size(), std::memory_order_release);
}

}  // namespace troupe
