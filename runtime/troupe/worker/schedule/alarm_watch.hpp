// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <troupe/worker/plugins/gpu_alarms.hpp>
#include <troupe/worker/schedule/device_progress.hpp>

namespace troupe {

/// Gives the worker up as soon as its GPU is known to have broken its work: the driver tells the process of some faults
/// only after most of a second, but everybody within milliseconds that there is one.
///
/// If the alarm names this process, the worker is given up at once; if it names another, it does not concern this one.
/// If it names none, and this worker has work under way, the driver is asked. If it tells of such an error only much
/// later, a probe is sent as well: a write behind nothing, in a stream of its own. A worker whose work makes progress,
/// or whose probe arrives, is innocent. The driver itself may be busy with the fault, so a thread of its own sends the
/// probe, and the thread that listens never calls the driver.
class alarm_watch {
 public:
  using opener = std::function<result<std::unique_ptr<alarm_source>>()>;
  /// How long neither work nor probe may stand still after an alarm that names no process. Programs that share a GPU
  /// take turns: beside two that computed without a pause, 1 of 8,000 probes took 33 ms, the others 22 at most.
  static constexpr std::chrono::milliseconds usual_patience{50};

  /// `arrived` is pinned memory that nothing else uses, and 0. `open` is called on the thread that listens.
  alarm_watch(device_progress& device, platform& gpu, std::atomic<std::uint64_t>& arrived, opener open,
              std::chrono::milliseconds patience = usual_patience);
  alarm_watch(const alarm_watch&) = delete;
  /// May take as long as the source waits for an alarm, which is `turn` at most.
  ~alarm_watch();
  static constexpr std::chrono::milliseconds turn{1000};

  /// Returns what the GPU has reported in the last two seconds, unless it was about another process; 0: nothing.
  std::uint32_t last_heard() const noexcept;
  /// Returns true if the GPU has reported an error of this process that ends its work.
  bool is_named() const noexcept { return named_.load(); }

 private:
  void listen() noexcept;
  void judge(const gpu_alarm& alarm) noexcept;
  void judge_by_probe(const gpu_alarm& alarm) noexcept;
  void send_probes() noexcept;

  device_progress& device_;
  platform& gpu_;
  std::atomic<std::uint64_t>& arrived_;
  const opener open_;
  const std::int64_t patience_ns_;
  void* stream_ = nullptr;
  std::atomic<std::uint32_t> probes_{0};  // asked for; the thread that sends them sleeps on it
  std::atomic<std::uint32_t> xid_{0};
  std::atomic<std::int64_t> heard_ns_{0};
  std::atomic<bool> named_{false}, ending_{false};
  std::thread prober_, listener_;
};

}  // namespace troupe
