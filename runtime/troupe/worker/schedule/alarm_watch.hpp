// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <troupe/protocol/shared_memory.hpp>
#include <troupe/worker/plugins/gpu_alarms.hpp>
#include <troupe/worker/schedule/device_progress.hpp>

namespace troupe {

/// Stops the worker as soon as the GPU reports an error of its work. The driver returns some errors to the process only
/// after most of a second, but notifies all listeners of them within milliseconds.
///
/// If the report names this process, the worker stops at once; if it names another, it is ignored. If it names none,
/// and this worker has work in flight, the driver is queried and a probe decides: a write in a stream of its own, with
/// no work before it. A worker whose work makes progress, or whose probe completes, continues. After an error the GPU
/// stops for all programs, and the more programs use it, the longer it stops. So the other workers of the device send
/// probes as well. Workers without work, such as standbys, count completed probes as *signs* that all workers can read:
/// a worker whose own probe was sent but does not complete while others do is at fault. The driver returns some errors
/// early; for these, the worker stops only if the driver returns the error, not because a probe is late.
///
/// A separate thread sends the probes, because the driver itself may be busy with the error; the listening thread never
/// calls the driver.
class alarm_watch {
 public:
  using opener = std::function<result<std::unique_ptr<alarm_source>>()>;
  /// The maximum time without progress or a completed probe after an alarm that names no process, if no other worker
  /// counts signs. With two other programs that computed without a pause, 1 of 8,000 probes took 33 ms, the others at
  /// most 22 ms; with six idle ones, the GPU stopped for 70 ms.
  static constexpr std::chrono::milliseconds usual_probe_timeout{250};
  /// The maximum number of signs that others count while this worker makes no progress, and the minimum time since the
  /// first of them. So often, the GPU has switched to another program.
  static constexpr std::uint64_t max_missed_signs = 10;
  static constexpr std::int64_t max_lag_ns = 10'000'000;

  /// `page` is pinned; `all` is shared with the other workers of the device. `open` is called on the listening thread.
  alarm_watch(device_progress& device, platform& gpu, protocol::progress_page& page, protocol::workers_page& all,
              opener open, std::chrono::milliseconds probe_timeout = usual_probe_timeout);
  alarm_watch(const alarm_watch&) = delete;
  /// May block for `longest_wait`, while the source waits for an alarm.
  ~alarm_watch();
  static constexpr std::chrono::milliseconds longest_wait{1000};

  /// Returns the Xid that the GPU reported in the last two seconds, unless it named another process; 0 if there is
  /// none.
  std::uint32_t last_detected() const noexcept;
  /// Returns true if the GPU has reported an error that names this process and ends its work.
  bool is_named() const noexcept { return named_.load(); }

 private:
  void listen() noexcept;
  void classify_alarm(const gpu_alarm& alarm) noexcept;
  void classify_by_probe(const gpu_alarm& alarm) noexcept;
  void send_probes() noexcept;
  void count_signs() noexcept;
  bool is_over() const noexcept { return device_.is_lost() || ending_.load(); }

  device_progress& device_;
  platform& gpu_;
  protocol::progress_page& page_;
  protocol::workers_page& all_;
  const opener open_;
  const std::int64_t probe_timeout_ns_;
  void* stream_ = nullptr;
  std::atomic<std::uint32_t> sent_;  // the newest question that was probed, or that is older than this worker
  std::uint64_t written_ = 0;        // counts the writes to page_.repeated
  std::atomic<std::uint32_t> xid_{0};
  std::atomic<std::int64_t> detected_ns_{0};
  std::atomic<bool> named_{false}, ending_{false};
  std::thread prober_, listener_;
};

}  // namespace troupe
