// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <troupe/async/executor.hpp>

namespace troupe::testing {

/// Runs jobs when the test says so, on the test's thread.
class manual_executor final : public executor {
 public:
  manual_executor() = default;
  ~manual_executor() { run(); }  // what is posted is run
  void post(job& work) noexcept override { jobs_.push_back(&work); }
  bool run_one() {
    if (jobs_.empty()) return false;
    job* const next = jobs_.front();
    jobs_.pop_front();
    next->run(next);
    return true;
  }
  /// Until nothing is left; how many jobs that were.
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
