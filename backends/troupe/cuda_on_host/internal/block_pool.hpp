// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <troupe/base/threads/thread_team.hpp>
#include <troupe/cuda_on_host/internal/block_runner.hpp>
#include <vector>

namespace troupe::cuda_on_host {

// Runs grids. The caller runs blocks of its own grid; if that takes long enough, helpers join.
class block_pool {
 public:
  explicit block_pool(int threads)
      : helper_runners_(static_cast<std::size_t>(threads)), team_(helper_runners_.size()) {}
  ~block_pool();
  block_pool(const block_pool&) = delete;
  block_pool& operator=(const block_pool&) = delete;

  int threads() const noexcept { return static_cast<int>(team_.threads()); }
  grid_fault run(const grid_run& g);

 private:
  struct shared_grid;

  // A runner that is lent to a caller. One of the runners is lent without a lock.
  class borrowed {
   public:
    [[nodiscard]] explicit borrowed(block_pool& pool);
    ~borrowed();
    borrowed(const borrowed&) = delete;
    borrowed& operator=(const borrowed&) = delete;
    block_runner* operator->() const noexcept { return runner_.get(); }
    block_runner& operator*() const noexcept { return *runner_; }

   private:
    block_pool& pool_;
    std::unique_ptr<block_runner> runner_;
  };

  grid_fault run_together(const grid_run& g, block_runner& runner, std::uint64_t done, std::int64_t block_ns);

  std::atomic<block_runner*> cached_runner_{nullptr};
  std::mutex mutex_;
  std::vector<std::unique_ptr<block_runner>> runners_;  // idle runners
  // the runner of each helper, made when the helper first runs
  std::vector<std::unique_ptr<block_runner>> helper_runners_;
  thread_team team_;
};

}  // namespace troupe::cuda_on_host
