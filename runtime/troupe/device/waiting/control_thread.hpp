// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/base/linux/process_home.hpp>
#include <troupe/device/waiting/control_loop.hpp>
#include <vector>

namespace troupe {

/// A thread that sleeps in epoll. The devices of a runtime share it, and the runtime ends it. If devices outlive the
/// runtime, posted jobs run on the posting thread.
class control_thread final : public control_loop {
 public:
  static result<std::shared_ptr<control_thread>> make();
  ~control_thread();
  control_thread(const control_thread&) = delete;

  /// Runs the posted jobs and ends the thread; waits for its end unless called on the loop itself. Jobs posted later
  /// run on the posting thread, and timers no longer fire. Precondition: no file is watched any more.
  void end() noexcept;

  void post(job& work) noexcept override;
  result<void> watch(int fd, handler& h) override;
  void unwatch(int fd) override;
  void at(std::int64_t deadline_ns, std::weak_ptr<handler> h, std::uint64_t tag) override;
  std::int64_t now() const noexcept override { return now_ns(); }
  /// Returns true if the program has closed the loop's files: then the loop has ended by itself, and a new one is
  /// needed.
  bool lost() const noexcept { return lost_.load(); }
  bool on_loop_thread() const noexcept { return std::this_thread::get_id() == thread_.get_id(); }

 private:
  const process_home home_;
  control_thread() = default;
  struct timer {
    std::int64_t deadline_ns;
    std::weak_ptr<handler> target;
    std::uint64_t tag;
    bool operator<(const timer& o) const noexcept { return deadline_ns > o.deadline_ns; }
  };
  void run();
  void lose_descriptors();
  void wake() noexcept;
  void arm(std::int64_t deadline_ns) noexcept;

  file_descriptor epoll_, event_, clock_;
  std::mutex lock_;
  job* first_ = nullptr;
  job* last_ = nullptr;
  std::vector<timer> timers_;  // a heap, ordered by time
  std::int64_t armed_ns_ = 0;  // when the clock will wake the thread; 0 if it has, or never will
  std::vector<std::pair<int, handler*>> watched_;
  bool ending_ = false, ended_ = false;
  std::atomic<bool> lost_{false};
  bool* gone_ = nullptr;  // a local variable of run(): set if a job or handler destroyed the loop
  std::thread thread_;
};

}  // namespace troupe
