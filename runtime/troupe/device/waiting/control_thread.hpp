// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/base/file_descriptor.hpp>
#include <troupe/device/waiting/control_loop.hpp>
#include <vector>

namespace troupe {

/// One quiet thread, which sleeps in epoll. Shared by the devices of a runtime, which ends it; devices that outlive the
/// runtime have it finish on the threads that call them.
class control_thread final : public control_loop {
 public:
  static result<std::shared_ptr<control_thread>> make();
  ~control_thread();
  control_thread(const control_thread&) = delete;

  /// Runs what was posted and ends the thread; waits for that, except on the loop itself. Nothing may be watched any
  /// more. What is posted later runs on the thread that posts it, and no time comes any more.
  void end() noexcept;

  void post(job& work) noexcept override;
  result<void> watch(int fd, handler& h) override;
  void unwatch(int fd) override;
  void at(std::int64_t deadline_ns, std::weak_ptr<handler> h, std::uint64_t tag) override;
  std::int64_t now() const noexcept override { return now_ns(); }
  bool on_loop_thread() const noexcept { return std::this_thread::get_id() == thread_.get_id(); }

 private:
  control_thread() = default;
  struct timer {
    std::int64_t deadline_ns;
    std::weak_ptr<handler> target;
    std::uint64_t tag;
    bool operator<(const timer& o) const noexcept { return deadline_ns > o.deadline_ns; }
  };
  void run();
  void wake() noexcept;
  void arm(std::int64_t deadline_ns) noexcept;

  file_descriptor epoll_, event_, clock_;
  std::mutex lock_;
  job* first_ = nullptr;
  job* last_ = nullptr;
  std::vector<timer> timers_;  // a heap
  std::vector<std::pair<int, handler*>> watched_;
  bool ending_ = false, ended_ = false;
  bool* gone_ = nullptr;  // run()'s: set when the loop was destroyed by what it called
  std::thread thread_;
};

}  // namespace troupe
