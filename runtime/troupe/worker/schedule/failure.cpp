// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/worker/schedule/failure.hpp>

namespace troupe {

failure_ptr passed_on(const failure_ptr& cause, const request_id& to) {
  auto out = std::make_shared<failure>(*cause);
  if (out->chain.size() < max_chain) out->chain.push_back(to);
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
  const auto found = std::find_if(entries_.rbegin(), entries_.rend(), [at](const entry& e) { return e.at == at; });
  return found == entries_.rend() ? nullptr : found->why;
}

std::vector<failure_log::entry> failure_log::take_fresh(lane_progress issued) {
  const std::scoped_lock guard(lock_);
  std::vector<entry> out(entries_.begin() + static_cast<std::ptrdiff_t>(harvested_), entries_.end());
  harvested_ = entries_.size();
  batches_.push_back({.issued = {}, .entries = out.size()});
  std::copy(issued.begin(), issued.end(), batches_.back().issued.begin());
  fresh_.store(0, std::memory_order_relaxed);
  return out;
}

void failure_log::prune(lane_progress done) {
  std::size_t over = 0;
  while (!batches_.empty() && std::equal(done.begin(), done.end(), batches_.front().issued.begin(),
                                         [](std::uint64_t d, std::uint64_t i) { return d >= i; })) {
    over += batches_.front().entries;
    batches_.pop_front();
  }
  if (over == 0) return;
  harvested_ -= over;
  const std::scoped_lock guard(lock_);
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(over));
  live_.store(entries_.size(), std::memory_order_release);
}

}  // namespace troupe
