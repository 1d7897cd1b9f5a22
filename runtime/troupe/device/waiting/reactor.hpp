// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <troupe/async/answers/pending_core.hpp>
#include <troupe/base/linux/process_home.hpp>
#include <troupe/base/result.hpp>
#include <troupe/channel/vain_wakes.hpp>
#include <troupe/channel/wait_policy.hpp>
#include <troupe/device/waiting/reactor_link.hpp>

namespace troupe {

class completion;
class download_tracker;
struct device_board;

/// Waits for answers. Blocked threads wait here and drive the device meanwhile. The device's reactor thread waits for
/// the answers for which no thread blocks, and posts the continuations of all answers.
class reactor final : public waiter, public process_home {
 public:
  /// Makes a reactor. If `own_thread` is false, other threads must drive the device, and each posts the continuations
  /// of the answers that it completes.
  reactor(device_board& board, completion& completion, bool own_thread) noexcept;

  void wait(pending_core& core, std::int64_t deadline_ns) noexcept override;
  void interest_added(pending_core& core) noexcept override;
  void interest_met(pending_core& core) noexcept override;
  void answered(pending_core& core) noexcept override;

  /// Starts the thread, which keeps `device` alive until it ends. If a former thread has not ended yet, it continues
  /// instead.
  result<void> start(std::shared_ptr<const void> device);
  /// Ends the thread after it has posted all continuations.
  void end() noexcept;
  /// Waits for the thread to end. If it is the calling thread, does not wait and, with `gives_up` (the device is being
  /// destroyed), detaches it.
  void join(bool gives_up = false) noexcept;

 private:
  void post_continuations() noexcept;
  bool is_needed() const noexcept;
  bool ends() const noexcept { return ends_.load(std::memory_order_seq_cst); }
  void run() noexcept;
  void attend() noexcept;
  void sleep_until_idle() noexcept;

  shared_channel& channel_;
  reactor_link& link_;
  continuation_queue& continuations_;
  completion& completion_;
  const download_tracker& downloads_;
  const bool own_thread_;
  spin_experience spin_for_answers_, spin_by_itself_;
  std::atomic<std::int64_t> interest_{0};  // wanted answers for which no thread blocks
  vain_wakes idle_wakes_;                  // only for the thread
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

}  // namespace troupe
