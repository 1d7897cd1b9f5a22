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
/// An alarm names the GPU, not the process. If this worker has work under way, a probe is sent: a write behind nothing,
/// in a stream of its own. A worker whose work makes progress, or whose probe arrives, is innocent. The driver itself
/// may be busy with the fault, so a thread of its own sends the probe, and the thread that listens never calls the
/// driver.
class alarm_watch {
 public:
  using opener = std::function<result<std::unique_ptr<alarm_source>>()>;
  /// How long neither work nor probe may stand still after an alarm. Programs that share a GPU take turns of a few
  /// milliseconds.
  static constexpr std::chrono::milliseconds usual_patience{10};

  /// `arrived` is pinned memory that nothing else uses, and 0. `open` is called on the thread that listens.
  alarm_watch(device_progress& device, platform& gpu, std::atomic<std::uint64_t>& arrived, opener open,
              std::chrono::milliseconds patience = usual_patience);
  alarm_watch(const alarm_watch&) = delete;
  /// May take as long as the source waits for an alarm, which is `turn` at most.
  ~alarm_watch();
  static constexpr std::chrono::milliseconds turn{1000};

  /// Returns what the GPU has reported in the last two seconds, whichever program it was about; 0: nothing.
  std::uint32_t last_heard() const noexcept;

 private:
  void listen() noexcept;
  void judge(const gpu_alarm& alarm) noexcept;
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
  std::atomic<bool> ending_{false};
  std::thread prober_, listener_;
};

}  // namespace troupe
