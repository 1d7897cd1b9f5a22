// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <troupe/base/error.hpp>
#include <troupe/worker/schedule/hazards/hazards.hpp>
#include <vector>

namespace troupe {

/// Why an operation failed or was skipped.
struct failure {
  enum reaction reaction = reaction::fatal;
  std::int64_t code = 0;
  std::string domain, text;
  request_id first;               ///< the request that failed first
  std::vector<request_id> chain;  ///< the first `max_chain` requests that failed because of it, nearest first
};
using failure_ptr = std::shared_ptr<const failure>;

/// Returns the failure of one more request that failed because of `cause`.
failure_ptr passed_on(const failure_ptr& cause, const request_id& to);

/// The failures of operations, for operations that depend on them. Lanes add failures; lanes and the pump look them up.
/// Not on the hot path.
class failure_log {
 public:
  struct entry {
    position at;
    std::uint64_t number;
    failure_ptr why;
    std::vector<memory_access> accesses;
  };

  /// Adds a failure. Must be called before the operation counts as complete.
  void add(entry e);
  bool empty() const noexcept { return live_.load(std::memory_order_acquire) == 0; }
  failure_ptr find(position at) const;

  /// Calls `f(entry)` for each failure that the pump has not seen. `issued` is the number of operations that each lane
  /// has received so far: later operations never ask `find` for these failures.
  template <class F>
  void harvest(lane_progress issued, F&& f) {
    if (fresh_.load(std::memory_order_acquire) == 0) return;
    for (const entry& e : take_fresh(issued)) f(e);
  }
  /// Forgets failures that no incomplete operation can ask for. Called by the pump.
  void prune(lane_progress done);

 private:
  /// The failures of one harvest. The counts only grow from batch to batch, so batches are forgotten in order.
  struct batch {
    std::array<std::uint64_t, max_lanes> issued;
    std::size_t entries;
  };
  std::vector<entry> take_fresh(lane_progress issued);

  mutable std::mutex lock_;
  std::deque<entry> entries_;  // first those of batches_, then the fresh ones
  std::deque<batch> batches_;  // used by the pump only
  std::size_t harvested_ = 0;  // used by the pump only: entries of all batches
  std::atomic<std::size_t> live_{0}, fresh_{0};
};

}  // namespace troupe
