// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <troupe/async/executor.hpp>

namespace troupe::testing {

/// Runs jobs on the test's thread, when the test calls `run`.
class manual_executor final : public executor {
 public:
  manual_executor() = default;
  ~manual_executor() { run(); }  // every posted job must be run
  void post(job& work) noexcept override { jobs_.push_back(&work); }
  bool run_one() {
    if (jobs_.empty()) return false;
    job* const next = jobs_.front();
    jobs_.pop_front();
    next->run(next);
    return true;
  }
  /// Runs jobs until none is left. Returns the number of jobs.
  int run() {
    int n = 0;
    while (run_one()) ++n;
    return n;
  }
  std::size_t waiting() const { return jobs_.size(); }

 private:
  std::deque<job*> jobs_;
};

}  // namespace troupe::testing
