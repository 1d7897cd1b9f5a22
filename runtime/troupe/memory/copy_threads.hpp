// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace troupe {

/// Threads that share a copy in several parts, because one processor core moves less than a GPU can take. They start
/// with the first shared copy, and sleep between copies.
class copy_threads {
 public:
  /// `helpers` threads help the caller; 0: each caller copies alone.
  explicit copy_threads(std::size_t helpers) noexcept : helpers_(helpers) {}
  ~copy_threads();
  copy_threads(const copy_threads&) = delete;

  /// Returns how many threads are worthwhile with that number of usable cores.
  static std::size_t helpers_for(std::size_t cores) noexcept { return std::min<std::size_t>(cores / 3, 5); }
  /// Returns the most parts at once that are worthwhile.
  std::size_t most_parts() const noexcept { return helpers_ == 0 ? 1 : 2 * (helpers_ + 1); }

  /// Calls `part(i)` for all i below `count`, some of them on other threads, and returns when all are done. If the
  /// threads are busy with another copy, the caller does all parts.
  template <class Part>
  void run(std::size_t count, Part&& part) noexcept {
    const auto call = [](void* p, std::size_t i) noexcept { (*static_cast<std::remove_reference_t<Part>*>(p))(i); };
    if (count < 2 || helpers_ == 0 || !share(count, call, &part))
      for (std::size_t i = 0; i < count; ++i) part(i);
  }

 private:
  using part_fn = void (*)(void*, std::size_t) noexcept;
  bool share(std::size_t count, part_fn part, void* with) noexcept;
  bool do_one(std::uint32_t job) noexcept;
  void help() noexcept;

  const std::size_t helpers_;
  std::mutex busy_;
  std::vector<std::thread> threads_;  // for the caller whose job runs
  // The current job. A thread that has taken a part of it keeps the call from returning.
  part_fn part_ = nullptr;
  void* with_ = nullptr;
  alignas(64) std::atomic<std::uint64_t> next_{
      0};  ///< number of the job, of its parts, of the next part: 32, 16, 16 bits
  alignas(64) std::atomic<std::size_t> left_{0};
  alignas(64) std::atomic<std::uint32_t> job_{0};  ///< changes with each job; helpers sleep on it
  std::atomic<std::uint32_t> asleep_{0};
  std::atomic<bool> ending_{false};
};

}  // namespace troupe
