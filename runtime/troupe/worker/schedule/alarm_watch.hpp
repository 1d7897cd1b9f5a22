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

/// Gives the worker up as soon as its GPU is known to have broken its work: the driver tells the process of some faults
/// only after most of a second, but everybody within milliseconds that there is one.
///
/// If the alarm names this process, the worker is given up at once; if it names another, it does not concern this one.
/// If it names none, and this worker has work under way, the driver is asked, and a probe is sent: a write behind
/// nothing, in a stream of its own. A worker whose work makes progress, or whose probe arrives, is innocent. After a
/// fault the GPU stands still for everybody, the longer, the more programs use it. So the other workers of the device
/// are asked as well. Those without work, such as standbys, count the probes that arrive as *signs* that all see: a
/// worker whose own probe is under way and still missing then is the one. Of some faults the driver tells the process
/// early; only that counts then.
///
/// The driver itself may be busy with the fault, so a thread of its own sends probes, and the thread that listens never
/// calls the driver.
class alarm_watch {
 public:
  using opener = std::function<result<std::unique_ptr<alarm_source>>()>;
  /// How long work and probe may stand still after an alarm that names no process, where no other worker gives signs.
  /// Beside two programs that computed without a pause, 1 of 8,000 probes took 33 ms, the others 22 at most; beside
  /// six that did nothing, the GPU stood still for 70 ms.
  static constexpr std::chrono::milliseconds usual_patience{250};
  /// How many signs, and for how long, they may be behind: so often has the GPU turned to another program since.
  static constexpr std::uint64_t most_behind = 10;
  static constexpr std::int64_t longest_behind_ns = 10'000'000;

  /// `page` is pinned, `all` is shared with the other workers of the device. `open` is called on the thread that
  /// listens.
  alarm_watch(device_progress& device, platform& gpu, protocol::progress_page& page, protocol::workers_page& all,
              opener open, std::chrono::milliseconds patience = usual_patience);
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
  void answer_questions() noexcept;
  void give_signs() noexcept;
  bool is_over() const noexcept { return device_.is_lost() || ending_.load(); }

  device_progress& device_;
  platform& gpu_;
  protocol::progress_page& page_;
  protocol::workers_page& all_;
  const opener open_;
  const std::int64_t patience_ns_;
  void* stream_ = nullptr;
  std::atomic<std::uint32_t> sent_;  // the newest question whose probe is under way, or that came before this worker
  std::uint64_t written_ = 0;        // to page_.repeated
  std::atomic<std::uint32_t> xid_{0};
  std::atomic<std::int64_t> heard_ns_{0};
  std::atomic<bool> named_{false}, ending_{false};
  std::thread prober_, listener_;
};

}  // namespace troupe
