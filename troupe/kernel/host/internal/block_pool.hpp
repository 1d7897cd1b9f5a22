// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <troupe/kernel/host/internal/block_runner.hpp>
#include <vector>

namespace troupe::kernel {

// Runs grids. Whoever asks runs blocks of its own grid; when that takes long enough to be worth it, helpers join in.
// Helpers are started when they are first needed, sleep while there is nothing to do, and serve all grids that run at
// the same time in turn.
class block_pool {
 public:
  explicit block_pool(int threads) noexcept : threads_(threads) {}
  ~block_pool();
  block_pool(const block_pool&) = delete;
  block_pool& operator=(const block_pool&) = delete;

  int threads() const noexcept { return threads_; }
  grid_fault run(const grid_run& g);

 private:
  // A grid whose blocks are handed out to several.
  struct job {
    const grid_run& grid;
    std::uint64_t blocks;
    std::uint64_t chunk;
    std::atomic<std::uint64_t> next;
    std::atomic<bool> stop{false};
    int helpers = 0;   // inside; under the mutex, like all below
    grid_fault fault;  // the first
    std::condition_variable done;
  };

  // Lends a runner to a caller. One stays at hand without a lock.
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
  void start_helpers() noexcept;
  void take_part(job& j, block_runner& runner);
  void help();
  job* unfinished() noexcept;

  const int threads_;
  std::atomic<block_runner*> at_hand_{nullptr};
  std::mutex mutex_;
  std::condition_variable work_;
  std::vector<std::unique_ptr<block_runner>> runners_;  // not in use
  std::vector<job*> jobs_;
  std::size_t turn_ = 0;  // which job the next helper looks at first
  bool closing_ = false;
  std::vector<std::thread> helpers_;
};

}  // namespace troupe::kernel
