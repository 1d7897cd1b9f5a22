// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <bench/measure.hpp>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/troupe.hpp>
#include <vector>

/// Code that the measures of recovery share.
namespace troupe::bench {

inline constexpr std::uint32_t no_budget = UINT32_MAX;

/// Clients that continuously send requests with known results, and send them again if a fault has prevented the answer.
class load {
 public:
  load(const device& gpu, int clients);
  ~load();
  load(const load&) = delete;
  void stop();
  std::uint64_t right() const noexcept { return right_.load(); }
  /// Returns true after a wrong answer, or an error that no fault explains.
  bool objectionable() const noexcept { return bad_.load() != 0; }

 private:
  void run(const device& gpu, float first);

  std::atomic<bool> over_{false};
  std::atomic<std::uint64_t> right_{0}, bad_{0};
  std::vector<std::thread> threads_;
};

/// Sends requests until the next worker has returned a correct answer. Throws `bad_result` if the device stops.
void await_right_answer(const device& gpu, std::uint64_t generation_before);
/// Waits until `count` standbys are ready. Throws `bad_result` if the device stops.
void await_standbys(const device& gpu, std::size_t count);

/// Returns the milliseconds from `fault(gpu)` until recovery. Waits for `standbys` before.
template <class F>
double recovery(const device& gpu, std::size_t standbys, F&& fault) {
  await_standbys(gpu, standbys);
  const std::uint64_t before = gpu.statistics().generation;
  const std::int64_t start = now_ns();
  fault(gpu);
  await_right_answer(gpu, before);
  return static_cast<double>(now_ns() - start) / 1e6;
}

/// Returns the same for `count` faults, one after the other.
template <class F>
std::vector<double> recoveries(const device& gpu, std::size_t standbys, int count, F&& fault) {
  std::vector<double> all;
  await_right_answer(gpu, 0);
  for (int i = 0; i < count; ++i) all.push_back(recovery(gpu, standbys, fault));
  return all;
}

/// Returns the median as figures. `p99_goal` is a second goal in milliseconds; 0: there is none.
figures figures_of(const std::vector<double>& all, const load& clients, double p99_goal);

}  // namespace troupe::bench
